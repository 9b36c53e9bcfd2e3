import HaulCore

/// The token buckets of all and of each download.
///
/// Owned by the transfer thread.
struct RateLimiter {
    private var all: TokenBucket?
    private var groups: [DownloadID: TokenBucket] = [:]

    mutating func limitAll(_ rate: Int64?, now: Instant) {
        all = rate.map { TokenBucket(rate: Double(max(1, $0)), now: now) }
    }

    mutating func limit(_ group: DownloadID, _ rate: Int64?, now: Instant) {
        groups[group] = rate.map { TokenBucket(rate: Double(max(1, $0)), now: now) }
    }

    /// The tightest limit that holds for a download, bytes a second.
    func tightest(_ group: DownloadID) -> Double? {
        switch (all?.rate, groups[group]?.rate) {
        case (let one?, let other?): min(one, other)
        case (let one, let other): one ?? other
        }
    }

    /// Seconds until the download may receive something; 0: now.
    mutating func delay(_ group: DownloadID, now: Instant) -> Double {
        guard all != nil || !groups.isEmpty else { return 0 }
        return max(all?.delay(now: now) ?? 0, groups[group]?.delay(now: now) ?? 0)
    }

    mutating func take(_ bytes: Int, _ group: DownloadID, now: Instant) {
        guard all != nil || !groups.isEmpty else { return }
        all?.take(bytes, now: now)
        groups[group]?.take(bytes, now: now)
    }
}
