/// How a run stands.
package enum DownloadState: Hashable, Sendable {
    case queued
    case probing
    case downloading
    /// Waiting for the next try, `seconds` from when the event was sent.
    ///
    /// `attempt`: Which of the tries in a row without progress comes next, from 1; `of`: how many there may be,
    /// `nil`: without end.
    case retrying(seconds: Double, because: HaulError, attempt: Int = 1, of: Int? = nil)
    case verifying
    case finished
    case failed
    case cancelled
}
