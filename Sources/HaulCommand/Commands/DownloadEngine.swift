package import HaulCore
package import HaulEngine

/// What the commands need of an engine.
package protocol DownloadEngine: Sendable {
    /// All events in order; ends after `shutdown`.
    var events: AsyncStream<EngineEvent> { get }
    @discardableResult func add(_ spec: DownloadSpec) async -> DownloadID
    func samples() async -> [DownloadSample]
    func shutdown(because error: HaulError) async
}

extension Engine: DownloadEngine {}
