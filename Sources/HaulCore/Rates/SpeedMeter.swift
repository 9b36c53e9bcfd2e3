/// A smoothed rate, for people and for decisions: an exponentially weighted mean over a few seconds.
///
/// What was measured counts for e^(-age / window): one window later for a third, three windows later for a
/// twentieth, whether bytes come or not. Never NaN, never negative; `nil` until there is something to measure.
package struct SpeedMeter: Hashable, Sendable {
    private let window: Double
    private var start: Instant
    private var last: Instant
    private var pending: Int64 = 0
    private var mean: Double?
    /// How much of a full window the mean rests on, 0...1: without it the first instants would weigh for ever.
    private var evidence = 0.0

    /// `window`: seconds after which an old rate counts for about a third.
    package init(window: Double = 3, now: Instant) {
        self.window = max(window, 0.001)
        start = now
        last = now
    }

    package mutating func record(_ bytes: Int64, at now: Instant) {
        pending += max(0, bytes)
        fold(now, atLeast: 0.1)
    }

    /// Bytes a second at that time; a source that fell silent decays towards 0.
    package func rate(at now: Instant) -> Double? {
        var copy = self
        copy.fold(now, atLeast: 0.1)
        if let mean = copy.mean { return mean }
        let elapsed = now.seconds(since: start)
        return elapsed >= 0.05 && pending > 0 ? Double(pending) / elapsed : nil
    }

    /// Seconds to go for so many bytes; `nil`: unknown.
    package func remaining(_ bytes: Int64, at now: Instant) -> Double? {
        guard bytes > 0 else { return 0 }
        guard let rate = rate(at: now), rate >= 1 else { return nil }
        let seconds = Double(bytes) / rate
        return seconds < 100 * 365 * 86_400 ? seconds : nil
    }

    private mutating func fold(_ now: Instant, atLeast step: Double) {
        let elapsed = now.seconds(since: last)
        guard elapsed >= step else { return }
        let current = Double(pending) / elapsed
        let weight = 1 - SpeedMeter.decay(elapsed / window)
        guard weight > 0 else { return }
        evidence += (1 - evidence) * weight
        mean = (mean ?? 0) + (current - (mean ?? 0)) * (weight / evidence)
        pending = 0
        last = now
    }

    /// e^(-x) for x of 0 and more, in plain arithmetic: (e^(-x/2ⁿ))^(2ⁿ), the inner one by a Padé approximant.
    static func decay(_ x: Double) -> Double {
        guard x < 40 else { return 0 }
        var small = x
        var squarings = 0
        while small > 0.25 {
            small /= 2
            squarings += 1
        }
        let even = 1 + small * small / 12
        var value = (even - small / 2) / (even + small / 2)
        for _ in 0..<squarings { value *= value }
        return value
    }
}
