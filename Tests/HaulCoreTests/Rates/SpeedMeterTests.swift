import HaulCore
import HaulTestSupport
import Testing

@Suite("SpeedMeter")
struct SpeedMeterTests {
    static let start = Instant(nanoseconds: 1_000_000_000)

    @Test("before anything came the rate and the remaining time are unknown")
    func unknown() {
        let meter = SpeedMeter(now: Self.start)
        #expect(meter.rate(at: Self.start) == nil)
        #expect(meter.rate(at: Self.start.advanced(by: 0.04)) == nil)
        #expect(meter.remaining(1000, at: Self.start) == nil)
        #expect(meter.remaining(0, at: Self.start) == 0)
    }

    @Test("a steady stream is measured as it is", arguments: [1.0, 1e3, 1e6, 1e9])
    func steady(rate: Double) {
        var meter = SpeedMeter(now: Self.start)
        for step in 1...100 {
            meter.record(Int64(rate), at: Self.start.advanced(by: Double(step)))
        }
        let now = Self.start.advanced(by: 100)
        #expect(meter.rate(at: now).map { abs($0 - rate) < rate * 0.01 } ?? false)
        #expect(meter.remaining(Int64(rate) * 10, at: now).map { abs($0 - 10) < 0.2 } ?? false)
    }

    @Test("after a change it is near the new rate within a few windows")
    func follows() {
        var meter = SpeedMeter(window: 1, now: Self.start)
        for step in 1...50 { meter.record(100_000, at: Self.start.advanced(by: Double(step) * 0.1)) }
        for step in 51...110 { meter.record(10_000, at: Self.start.advanced(by: Double(step) * 0.1)) }
        let rate = meter.rate(at: Self.start.advanced(by: 11)) ?? 0
        #expect(rate > 99_000 && rate < 110_000)
    }

    @Test("after a stall the rate is a third in one window, and next to nothing in ten seconds")
    func stall() throws {
        var meter = SpeedMeter(now: Self.start)
        for step in 1...200 { meter.record(100_000, at: Self.start.advanced(by: Double(step) * 0.1)) }
        let end = Self.start.advanced(by: 20)
        let rate = { meter.rate(at: end.advanced(by: $0)) ?? -1 }
        #expect(abs(rate(0) - 1e6) < 1)
        #expect(abs(rate(3) / 1e6 - 0.367_879) < 1e-3)
        #expect(abs(rate(6) / 1e6 - 0.135_335) < 1e-3)
        #expect(rate(10) < 4e4)
        #expect(rate(45) < 1)
        let left = { meter.remaining(10_000_000, at: end.advanced(by: $0)) }
        #expect(abs((left(0) ?? 0) - 10) < 0.01)
        #expect((left(10) ?? 0) > 200)
        #expect(left(45) == nil)
    }

    @Test("after a change of speed the old one weighs a twentieth three windows later")
    func change() {
        var meter = SpeedMeter(now: Self.start)
        for step in 1...100 { meter.record(1_000_000, at: Self.start.advanced(by: Double(step) * 0.1)) }
        for step in 101...190 { meter.record(100_000, at: Self.start.advanced(by: Double(step) * 0.1)) }
        let rate = meter.rate(at: Self.start.advanced(by: 19)) ?? 0
        #expect(rate > 1e6 && rate < 1.6e6)
    }

    @Test("the first seconds are a plain mean: a burst at the start does not last")
    func beginning() {
        var meter = SpeedMeter(now: Self.start)
        meter.record(1_000_000, at: Self.start.advanced(by: 0.1))
        for step in 2...10 { meter.record(10_000, at: Self.start.advanced(by: Double(step) * 0.1)) }
        let rate = meter.rate(at: Self.start.advanced(by: 1)) ?? 0
        #expect(rate > 0.8e6 && rate < 1.2e6)
    }

    @Test("a source that fell silent decays, and looking does not change it")
    func decays() {
        var meter = SpeedMeter(now: Self.start)
        for step in 1...20 { meter.record(100_000, at: Self.start.advanced(by: Double(step) * 0.1)) }
        let seconds = [2.0, 3, 5, 10, 60, 3600]
        let rates = seconds.compactMap { meter.rate(at: Self.start.advanced(by: $0)) }
        #expect(rates.count == seconds.count)
        #expect(rates == rates.sorted(by: >))
        #expect((rates.last ?? 1) < 1000)
        #expect(meter.rate(at: Self.start.advanced(by: 2)) == rates.first)
        #expect(
            meter.remaining(1 << 60, at: Self.start.advanced(by: 1e7)) == nil,
            "no time is better than a silly one")
    }

    @Test(
        "it is never negative, not a number or infinite, whatever the clock and the counts do",
        arguments: 0..<30)
    func sane(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var meter = SpeedMeter(window: Double.random(in: -1...5, using: &random), now: Self.start)
        var now = Self.start
        for _ in 0..<300 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: break
            case 1: now = now.advanced(by: -Double.random(in: 0...2, using: &random))
            case 2: now = now.advanced(by: Double.random(in: 0...1e6, using: &random))
            default: now = now.advanced(by: Double.random(in: 0...0.3, using: &random))
            }
            meter.record(Int64.random(in: -10...1 << 40, using: &random), at: now)
            if let rate = meter.rate(at: now) { #expect(rate >= 0 && rate.isFinite) }
            if let left = meter.remaining(Int64.random(in: -5...1 << 50, using: &random), at: now) {
                #expect(left >= 0 && left.isFinite)
            }
        }
    }

    @Test("while the clock stands still, what comes is kept for later")
    func standing() {
        var meter = SpeedMeter(now: Self.start)
        for _ in 0..<10 { meter.record(1000, at: Self.start) }
        #expect(meter.rate(at: Self.start) == nil)
        #expect(meter.rate(at: Self.start.advanced(by: 1)) == 10_000)
    }
}
