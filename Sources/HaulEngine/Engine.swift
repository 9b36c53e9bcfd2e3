package import HaulCore

/// What holds for all downloads of one engine.
package struct EngineOptions: Sendable {
    package var jobs = AutoCount.auto
    /// Bytes a second, all downloads together.
    package var maximumRate: Int64?
    /// Seeds the jitter of retries; `nil`: from the system.
    package var seed: UInt64?

    package init() {}
}

/// Runs downloads: owns the machines, and carries out what they decide.
package actor Engine {
    /// All events in order; ends after `shutdown()`.
    package nonisolated let events: AsyncStream<EngineEvent>
    private let continuation: AsyncStream<EngineEvent>.Continuation

    package init(options: EngineOptions) throws {
        (events, continuation) = AsyncStream.makeStream()
    }

    /// Takes one download on; it starts when the queue's turn comes to it.
    @discardableResult
    package func add(_ spec: DownloadSpec) -> DownloadID { DownloadID(0) }

    /// How everything that runs stands now.
    package func samples() -> [DownloadSample] { [] }

    /// Stops every transfer, makes what is on disk resumable, and closes: every download that has not ended ends in
    /// `.failed` with `.interrupted` (or `.cancelled`). At most 2 s.
    package func shutdown(because error: HaulError) async {}
}
