import HaulCore
import HaulTestSupport
import Testing

@Suite("Governor")
struct GovernorTests {
    static let start = Instant(nanoseconds: 1_000_000_000)

    static func full(_ governor: inout Governor, now: Instant = start) -> Int {
        var count = 0
        while governor.acquire(now: now) == .granted { count += 1 }
        return count
    }

    @Test(
        "no more connections than the cap are granted, and an end makes room for one",
        arguments: [-1, 1, 2, 16])
    func cap(cap: Int) {
        var governor = Governor(cap: cap)
        #expect(Self.full(&governor) == max(1, cap))
        #expect(governor.admission(now: Self.start) == .full)
        governor.release()
        #expect(Self.full(&governor) == 1)
    }

    @Test("releasing more than was granted gives nothing away")
    func releases() {
        var governor = Governor(cap: 2)
        governor.release()
        governor.release()
        #expect(governor.active == 0)
        #expect(Self.full(&governor) == 2)
    }

    @Test("a refusal while others deliver teaches how many the host allows, and blocks nobody")
    func learns() {
        var governor = Governor(cap: 16)
        _ = Self.full(&governor)
        governor.throttled(retryAfter: nil, delivering: 4, wait: 1, now: Self.start)
        #expect(governor.learntCap == 4)
        #expect(governor.admission(now: Self.start) == .full)
        for _ in 0..<13 { governor.release() }
        #expect(governor.admission(now: Self.start) == .granted)
        governor.throttled(retryAfter: nil, delivering: 9, wait: 1, now: Self.start)
        #expect(governor.learntCap == 4, "what was learnt is not unlearnt")
        governor.connectionRefused(delivering: 3)
        #expect(governor.cap == 3)
        governor.connectionRefused(delivering: 0)
        #expect(governor.cap == 3)
    }

    @Test("a higher configured cap does not undo what was learnt")
    func configured() {
        var governor = Governor(cap: 16)
        governor.throttled(retryAfter: nil, delivering: 2, wait: 1, now: Self.start)
        governor.configuredCap = 400
        #expect(governor.cap == 2)
    }

    @Test("a named time holds back the whole host, also while others deliver", arguments: [0, 3])
    func retryAfter(delivering: Int) {
        var governor = Governor(cap: 4)
        governor.throttled(retryAfter: 30, delivering: delivering, wait: 1, now: Self.start)
        let until = Self.start.advanced(by: 30)
        #expect(governor.admission(now: Self.start.advanced(by: 29.9)) == .notBefore(until))
        #expect(governor.admission(now: until) == .granted)
        governor.throttled(retryAfter: 5, delivering: delivering, wait: 1, now: Self.start)
        #expect(
            governor.admission(now: Self.start.advanced(by: 10)) == .notBefore(until), "the longer time holds"
        )
    }

    @Test(
        "a host that refuses everyone is left alone for longer each time, at most a minute, until it delivers"
    )
    func growing() {
        var governor = Governor(cap: 4)
        var now = Self.start
        var pauses: [Double] = []
        for _ in 0..<8 {
            governor.throttled(retryAfter: nil, delivering: 0, wait: 1, now: now)
            guard case .notBefore(let until) = governor.admission(now: now) else { break }
            pauses.append(until.seconds(since: now))
            now = until
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60])
        governor.delivered()
        governor.throttled(retryAfter: nil, delivering: 0, wait: 1, now: now)
        #expect(governor.admission(now: now) == .notBefore(now.advanced(by: 1)))
    }

    @Test("connections that are refused together count as one refusal")
    func together() {
        var governor = Governor(cap: 8)
        _ = Self.full(&governor)
        for _ in 0..<8 { governor.throttled(retryAfter: nil, delivering: 0, wait: 1, now: Self.start) }
        #expect(governor.admission(now: Self.start) == .notBefore(Self.start.advanced(by: 1)))
    }

    @Test(
        "once it has learnt, a host that allows so many refuses at most three times a minute",
        arguments: 1...5)
    func polite(allowed: Int) {
        var random = SeededGenerator(seed: UInt64(allowed))
        var governor = Governor(cap: 16)
        var ends: [Instant] = []
        var refusals: [Instant] = []
        var now = Self.start
        // Twenty hungry downloads for ten minutes, a request lasts a few seconds.
        while now < Self.start.advanced(by: 600) {
            now = now.advanced(by: 0.05)
            for _ in ends where ends.contains(where: { $0 <= now }) {
                ends.removeAll { $0 <= now }
            }
            while governor.active > ends.count { governor.release() }
            while governor.acquire(now: now) == .granted {
                if ends.count < allowed {
                    ends.append(now.advanced(by: Double.random(in: 1...5, using: &random)))
                    governor.delivered()
                } else {
                    refusals.append(now)
                    governor.throttled(retryAfter: nil, delivering: ends.count, wait: 1, now: now)
                    governor.release()
                }
            }
        }
        #expect(refusals.count >= 1)
        let later = refusals.filter { $0 > Self.start.advanced(by: 5) }
        #expect(later.count <= 30, "at most three a minute over ten minutes")
    }
}
