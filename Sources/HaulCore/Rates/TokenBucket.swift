/// A limit in bytes a second that lets through at most a tenth of a second's worth at once.
///
/// May go into debt: a read that was larger than what was there is paid back by waiting (RFC 2697 calls it borrowing).
package struct TokenBucket: Hashable, Sendable {
    /// Bytes a second; changing it while running takes effect at once.
    package var rate: Double {
        didSet { tokens = min(tokens, burst) }
    }
    private var tokens: Double
    private var filled: Instant

    /// - Precondition: `rate > 0`.
    package init(rate: Double, now: Instant) {
        precondition(rate > 0)
        self.rate = rate
        tokens = 0
        filled = now
        tokens = burst
    }

    /// The most that may pass at once, bytes.
    package var burst: Double { max(rate * 0.1, 1) }

    /// Seconds until something may pass; 0: now.
    package mutating func delay(now: Instant) -> Double {
        fill(now)
        return tokens > 0 ? 0 : -tokens / rate + 1e-6
    }

    /// Accounts for bytes that passed.
    package mutating func take(_ bytes: Int, now: Instant) {
        fill(now)
        tokens -= Double(bytes)
    }

    private mutating func fill(_ now: Instant) {
        guard now > filled else { return }
        tokens = min(burst, tokens + now.seconds(since: filled) * rate)
        filled = now
    }
}
