/// How a run stands.
package enum DownloadState: Hashable, Sendable {
    case queued
    case probing
    case downloading
    /// Waiting for the next try, `seconds` from when the event was sent.
    case retrying(seconds: Double, because: HaulError)
    case verifying
    case finished
    case failed
    case cancelled
}
