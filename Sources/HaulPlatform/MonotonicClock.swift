import Glibc
package import HaulCore

/// The one place that reads clocks.
package enum MonotonicClock {
    /// Time since boot without sleep; steps of the wall clock do not touch it (clock_gettime(2)).
    package static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Seconds since 1970, for comparing with dates that servers send.
    package static var unixSeconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec)
    }
}
