import HaulCore
import HaulTestSupport
import Testing

@Suite("TokenBucket")
struct TokenBucketTests {
    static let start = Instant(nanoseconds: 7_000_000_000)

    /// Reads of a size as often as the bucket lets them through; bytes that passed by the end.
    static func passed(_ bucket: inout TokenBucket, from start: Instant, seconds: Double, read: Int) -> Int {
        var now = start
        var total = 0
        while now < start.advanced(by: seconds) {
            let delay = bucket.delay(now: now)
            if delay > 0 {
                now = now.advanced(by: delay)
            } else {
                bucket.take(read, now: now)
                total += read
            }
        }
        return total
    }

    @Test(
        "over ten seconds the rate holds within five per cent",
        arguments: [1e3, 1e5, 1e6, 123_456, 5e8], [1, 1000, 16_384])
    func rate(rate: Double, read: Int) {
        guard Double(read) < rate, rate / Double(read) < 2e5 else { return }
        var bucket = TokenBucket(rate: rate, now: Self.start)
        let total = Double(Self.passed(&bucket, from: Self.start, seconds: 10, read: read))
        #expect(abs(total - rate * 10) <= rate * 0.5 + Double(read))
    }

    @Test(
        "after any silence no more than a tenth of a second's worth passes at once",
        arguments: [0.0, 1, 3600])
    func burst(silence: Double) {
        var bucket = TokenBucket(rate: 1e6, now: Self.start)
        let now = Self.start.advanced(by: silence)
        var total = 0
        while bucket.delay(now: now) == 0 {
            bucket.take(1000, now: now)
            total += 1000
        }
        #expect(total <= 101_000)
    }

    @Test("a read that was larger than what was there is paid back by waiting")
    func debt() {
        var bucket = TokenBucket(rate: 1e6, now: Self.start)
        bucket.take(2_100_000, now: Self.start)
        let delay = bucket.delay(now: Self.start)
        #expect(abs(delay - 2) < 0.01)
        let later = bucket.delay(now: Self.start.advanced(by: delay))
        #expect(later == 0)
    }

    @Test("a new rate takes effect at once, in both directions")
    func change() {
        var bucket = TokenBucket(rate: 1e5, now: Self.start)
        _ = Self.passed(&bucket, from: Self.start, seconds: 5, read: 1000)
        bucket.rate = 1e6
        let faster = Self.passed(&bucket, from: Self.start.advanced(by: 5), seconds: 5, read: 1000)
        #expect(abs(Double(faster) - 5e6) < 2.5e5)
        bucket.rate = 1e4
        let slower = Self.passed(&bucket, from: Self.start.advanced(by: 10), seconds: 5, read: 100)
        #expect(abs(Double(slower) - 5e4) < 2.5e3)
    }

    @Test("a clock that stands still or goes back gives nothing away")
    func clock() {
        var bucket = TokenBucket(rate: 1e6, now: Self.start)
        bucket.take(200_000, now: Self.start)
        let first = bucket.delay(now: Self.start)
        let second = bucket.delay(now: Self.start)
        let back = bucket.delay(now: Instant(nanoseconds: 0))
        #expect(first == second && first == back && first > 0)
    }

    @Test("random reads and pauses never beat the rate by more than a burst and a read", arguments: 0..<20)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let rate = Double.random(in: 1e4...1e7, using: &random)
        var bucket = TokenBucket(rate: rate, now: Self.start)
        var now = Self.start
        var total = 0
        for _ in 0..<500 {
            if Int.random(in: 0..<10, using: &random) == 0 {
                now = now.advanced(by: Double.random(in: 0...3, using: &random))
            }
            let delay = bucket.delay(now: now)
            #expect(delay >= 0 && delay.isFinite)
            now = now.advanced(by: delay)
            let read = Int.random(in: 1...16_384, using: &random)
            bucket.take(read, now: now)
            total += read
            let allowed = now.seconds(since: Self.start) * rate + rate * 0.1 + 16_384 + 2
            #expect(Double(total) <= allowed * 1.001)
        }
    }
}
