/// A point on the monotonic clock, in nanoseconds; only differences mean anything.
///
/// Machines take it as an argument and never read a clock (`HaulPlatform.MonotonicClock` does).
package struct Instant: Hashable, Comparable, Sendable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The instant so many seconds later; saturates instead of overflowing.
    package func advanced(by seconds: Double) -> Instant {
        let target = Double(nanoseconds) + seconds * 1e9
        return Instant(nanoseconds: target >= 9.2e18 ? .max : Int64(max(target, -9.2e18)))
    }

    /// Seconds from `earlier` to this instant; negative when this one is earlier.
    package func seconds(since earlier: Instant) -> Double {
        Double(nanoseconds - earlier.nanoseconds) / 1e9
    }

    package static let distantFuture = Instant(nanoseconds: .max)
}
