/// The limits of one host, shared by all downloads of the process (P8).
///
/// It counts connections. A 429 or 503 slows the host down, not one segment; a cap that the host taught is kept.
package struct Governor: Hashable, Sendable {
    package enum Admission: Hashable, Sendable {
        case granted
        /// Ask again at that time.
        case notBefore(Instant)
        /// Ask again when a connection of this host ends.
        case full
    }

    /// Connections open or being opened.
    package private(set) var active = 0
    /// Connections at once, as configured.
    package var configuredCap: Int
    /// Connections at once, as the host's refusals taught; `nil`: nothing learnt.
    package private(set) var learntCap: Int?
    private var blockedUntil: Instant?
    /// Refusals in a row with nothing delivered in between; those during one pause count as one.
    private var refusals = 0

    package init(cap: Int) {
        configuredCap = max(1, cap)
    }

    package var cap: Int { max(1, min(configuredCap, learntCap ?? .max)) }

    package func admission(now: Instant) -> Admission {
        if let blockedUntil, now < blockedUntil { return .notBefore(blockedUntil) }
        return active < cap ? .granted : .full
    }

    /// Counts one connection if the host may have it now.
    package mutating func acquire(now: Instant) -> Admission {
        let admission = admission(now: now)
        if admission == .granted { active += 1 }
        return admission
    }

    package mutating func release() {
        active = max(0, active - 1)
    }

    /// A connection delivered bytes.
    package mutating func delivered() {
        refusals = 0
    }

    /// The host said 'too many' or 'not now' to one connection, which is still counted.
    ///
    /// - Parameters:
    ///   - retryAfter: seconds that the host asked for, if it did.
    ///   - delivering: other connections of the host that are receiving a body: proof of how many it does allow.
    ///   - wait: seconds to wait when the host named none; doubled with each refusal in a row.
    ///   - now: the time of the refusal.
    package mutating func throttled(retryAfter: Double?, delivering: Int, wait: Double, now: Instant) {
        if blockedUntil.map({ now >= $0 }) ?? true { refusals += 1 }
        if delivering > 0 {
            learntCap = min(learntCap ?? .max, delivering)
        } else if active > 1 {
            learntCap = max(1, min(learntCap ?? .max, active / 2))
        }
        // Others deliver, so the host is not overloaded: only a named time holds it back as a whole.
        guard retryAfter != nil || delivering == 0 else { return }
        let growing = min(Governor.longestPause, wait * Double(1 << min(max(refusals, 1) - 1, 16)))
        let until = now.advanced(by: max(retryAfter ?? 0, growing))
        blockedUntil = max(blockedUntil ?? until, until)
    }

    /// A connection attempt was refused or reset while others deliver: as many as deliver are enough.
    package mutating func connectionRefused(delivering: Int) {
        guard delivering > 0 else { return }
        learntCap = min(learntCap ?? .max, delivering)
    }

    /// Seconds that a host which keeps refusing is left alone, when it names no time.
    private static let longestPause = 60.0
}
