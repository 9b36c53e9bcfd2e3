package import HaulCore
package import HaulEngine

/// What the commands need of an engine.
package protocol DownloadEngine: Sendable {
    /// All events in order, those of one moment together; ends after `shutdown`.
    var events: AsyncStream<[EngineEvent]> { get }
    /// - Returns: the ids, in the order of the downloads.
    func add(_ specs: [DownloadSpec]) async -> [DownloadID]
    func samples() async -> [DownloadSample]
    func shutdown(because error: HaulError) async
}

extension Engine: DownloadEngine {}
