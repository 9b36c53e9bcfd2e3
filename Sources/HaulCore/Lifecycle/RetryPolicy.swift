/// When a failed request is tried again.
///
/// The one place that decides it.
package struct RetryPolicy: Hashable, Sendable {
    /// Retries in a row without progress; `nil`: without end.
    package var limit: Int?
    /// Somebody asked for the limit: it holds also where nobody ever answered.
    package var isLimitGiven = false
    /// The shortest wait, seconds.
    package var wait: Double
    /// When the whole download must have ended; `nil`: no limit.
    package var deadline: Instant?

    package init(limit: Int? = 5, wait: Double = 1, deadline: Instant? = nil) {
        self.limit = limit
        self.wait = max(0, wait)
        self.deadline = deadline
    }

    package enum Decision: Hashable, Sendable {
        /// Again, so many seconds from now.
        case retry(after: Double)
        case giveUp(HaulError)
    }

    /// What to do after a failure.
    ///
    /// `attempt` counts failures in a row without progress, this one included, from 1; `hasBytes`: something of the
    /// download came, now or earlier; `jitter` is 0 ..< 1, uniform.
    package func decide(
        after failure: Failure, attempt: Int, hasBytes: Bool = true, now: Instant, jitter: Double
    ) -> Decision {
        switch failure.kind {
        case .permanent, .disk, .changed, .ranges, .refusedLink, .checksum:
            return .giveUp(failure.error)
        case .connection, .server, .throttled:
            break
        }
        if let limit = limit(after: failure, hasBytes: hasBytes), attempt > limit {
            var error = failure.error
            if attempt > 1 {
                error.message += "; \(attempt - 1) \(attempt == 2 ? "retry" : "retries") did not help"
            }
            return .giveUp(error)
        }
        let asked = failure.error.retryAfter
        guard asked == nil || acceptable(asked, now: now) != nil else {
            return .giveUp(outOfTime(failure.error, delay: 0))
        }
        let delay = max(backOff(attempt: attempt, jitter: jitter), asked ?? 0)
        if let deadline, now.advanced(by: delay) >= deadline {
            return .giveUp(outOfTime(failure.error, delay: delay))
        }
        return .retry(after: delay)
    }

    /// How many retries in a row there may be after such a failure; `nil`: without end.
    ///
    /// A host that is not found or refuses before a byte ever came is most likely a wrong name or port.
    package func limit(after failure: Failure, hasBytes: Bool) -> Int? {
        guard let limit, !isLimitGiven, !hasBytes else { return limit }
        switch failure.error.code {
        case .resolveFailed: return min(limit, 1)
        case .connectFailed: return min(limit, 2)
        case .proxyFailed where failure.error.status == nil: return min(limit, 2)
        default: return limit
        }
    }

    /// The wait that a server asks for, seconds, if it is one to wait for: within the time limit, else within an hour.
    package func acceptable(_ asked: Double?, now: Instant) -> Double? {
        guard let asked else { return nil }
        if let deadline { return now.advanced(by: asked) < deadline ? asked : nil }
        return asked <= RetryPolicy.longestAsked ? asked : nil
    }

    /// Seconds that a server may ask to wait where no time limit was set.
    package static let longestAsked = 3600.0

    /// `wait + uniform(0, min(60 s, wait · 2ⁿ))`, seconds.
    package func backOff(attempt: Int, jitter: Double) -> Double {
        let spread = wait * Double(1 << min(max(attempt, 0), 20))
        return wait + min(max(jitter, 0), 1) * min(60, spread)
    }

    private func outOfTime(_ error: HaulError, delay: Double) -> HaulError {
        guard let asked = error.retryAfter, asked >= delay else {
            return HaulError(.timeLimit, "\(error.message), and the time limit leaves no room to try again")
        }
        return HaulError(
            error.code, "\(error.message), and the server asks to wait \(RetryPolicy.spoken(asked))",
            advice: deadline == nil
                ? "try again later: what came is kept; or allow longer waits with --max-time"
                : "try again later or raise --max-time", status: error.status, retryAfter: asked)
    }

    /// A number of seconds as a person says it: "90 s", "24 h".
    package static func spoken(_ seconds: Double) -> String {
        switch seconds {
        case ..<120: "\(Int(seconds.rounded(.up))) s"
        case ..<7200: "\(Int((seconds / 60).rounded())) min"
        case ..<172_800: "\(Int((seconds / 3600).rounded())) h"
        default: "\(Int(min(seconds / 86_400, 1e9).rounded())) days"
        }
    }
}
