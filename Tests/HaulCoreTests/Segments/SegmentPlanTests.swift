import HaulCore
import HaulTestSupport
import Testing

@Suite("SegmentPlan")
struct SegmentPlanTests {
    static let a = TransferID(1)
    static let b = TransferID(2)
    static let c = TransferID(3)

    struct Claim: Sendable {
        var length: Int64
        var done: [ByteRange] = []
        var share = 1
        var minimum: Int64 = 1
        var limit: Int64?
        var expected: ByteRange?
    }

    @Test(
        "a claim takes a fair part of the largest gap, or the first gap in order when limited",
        arguments: [
            Claim(length: 100, expected: ByteRange(0, 100)),
            Claim(length: 0, expected: nil),
            Claim(length: 100, done: [ByteRange(0, 100)], expected: nil),
            Claim(length: 100, share: 4, expected: ByteRange(0, 25)),
            Claim(length: 100, share: 3, expected: ByteRange(0, 34)),
            // A rest smaller than the minimum is not left over.
            Claim(length: 100, share: 2, minimum: 51, expected: ByteRange(0, 100)),
            Claim(length: 100, share: 4, minimum: 40, expected: ByteRange(0, 40)),
            Claim(length: 100, done: [ByteRange(10, 20)], expected: ByteRange(20, 100)),
            // The other gap serves the other claimant.
            Claim(length: 100, done: [ByteRange(10, 20)], share: 2, expected: ByteRange(20, 100)),
            Claim(length: 100, done: [ByteRange(10, 20)], limit: 30, expected: ByteRange(0, 10)),
            Claim(length: 100, limit: 30, expected: ByteRange(0, 30)),
            Claim(length: 100, share: 4, limit: 10, expected: ByteRange(0, 10)),
        ])
    func claims(row: Claim) {
        var plan = SegmentPlan(length: row.length, done: RangeSet(row.done))
        let claimed = plan.claim(Self.a, share: row.share, minimum: row.minimum, limit: row.limit)
        #expect(claimed == row.expected)
    }

    @Test("done bytes beyond the end of the file are not believed")
    func doneBeyondEnd() {
        let plan = SegmentPlan(
            length: 100, done: RangeSet([ByteRange(0, 10), ByteRange(90, 200), ByteRange(300, 400)]))
        #expect(plan.done == RangeSet([ByteRange(0, 10), ByteRange(90, 100)]))
        #expect(plan.missing == [ByteRange(10, 90)])
    }

    @Test("an exact claim needs all of its bytes missing")
    func exactClaims() {
        var plan = SegmentPlan(length: 100, done: RangeSet([ByteRange(50, 60)]))
        let claimsDone = plan.claim(Self.a, exactly: ByteRange(0, 100))
        #expect(!claimsDone)
        let claimsGap = plan.claim(Self.a, exactly: ByteRange(60, 100))
        #expect(claimsGap)
        let claimsTwice = plan.claim(Self.a, exactly: ByteRange(0, 10))
        #expect(!claimsTwice, "a transfer owns one segment")
        let claimsOwned = plan.claim(Self.b, exactly: ByteRange(90, 100))
        #expect(!claimsOwned)
        #expect(plan.missing == [ByteRange(0, 50)])
    }

    @Test(
        "a commit that does not continue the owner's segment changes nothing",
        arguments: [
            (ByteRange(10, 20), true), (ByteRange(10, 50), true), (ByteRange(11, 20), false),
            (ByteRange(0, 20), false), (ByteRange(10, 51), false), (ByteRange(50, 60), false),
        ])
    func commits(range: ByteRange, isGood: Bool) {
        var plan = SegmentPlan(length: 100, done: RangeSet([ByteRange(0, 10)]))
        let claimed = plan.claim(Self.a, exactly: ByteRange(10, 50))
        #expect(claimed)
        let before = plan
        let committed = plan.commit(range, by: Self.a)
        #expect(committed == isGood)
        if isGood { #expect(plan.done.contains(range)) } else { #expect(plan == before) }
        let byStranger = plan.commit(range, by: Self.b)
        #expect(!byStranger)
    }

    @Test("what was committed stays when the owner stops, the rest is missing again")
    func release() {
        var plan = SegmentPlan(length: 100)
        _ = plan.claim(Self.a)
        plan.commit(ByteRange(0, 30), by: Self.a)
        plan.release(Self.a)
        #expect(plan.missing == [ByteRange(30, 100)])
        #expect(plan.segments.isEmpty)
    }

    @Test("a segment shrinks no further than what is committed, and never grows by it")
    func shrink() {
        var plan = SegmentPlan(length: 100)
        _ = plan.claim(Self.a, exactly: ByteRange(0, 80))
        plan.commit(ByteRange(0, 30), by: Self.a)
        plan.shrink(Self.a, to: 90)
        #expect(plan.segment(of: Self.a)?.range == ByteRange(0, 80))
        plan.shrink(Self.a, to: 50)
        #expect(plan.missing == [ByteRange(50, 100)])
        plan.shrink(Self.a, to: 10)
        #expect(plan.segment(of: Self.a)?.range == ByteRange(0, 30))
        #expect(plan.segment(of: Self.a)?.remaining == 0)
    }

    @Test("a segment is extended only over the gap that follows it")
    func extend() {
        var plan = SegmentPlan(length: 100)
        _ = plan.claim(Self.a, exactly: ByteRange(0, 20))
        _ = plan.claim(Self.b, exactly: ByteRange(60, 80))
        #expect(plan.reach(of: Self.a) == 60)
        #expect(plan.reach(of: Self.b) == 100)
        #expect(plan.reach(of: Self.c) == nil)
        plan.extend(Self.a, to: 61)
        #expect(plan.segment(of: Self.a)?.range == ByteRange(0, 20))
        plan.extend(Self.a, to: 60)
        #expect(plan.segment(of: Self.a)?.range == ByteRange(0, 60))
        #expect(plan.reach(of: Self.a) == nil)
    }

    private static let mebibyte: Int64 = 1 << 20

    @Test("help goes to the segment with the longest remaining time, in proportion to the speeds")
    func steal() {
        var plan = SegmentPlan(length: 40 * Self.mebibyte)
        _ = plan.claim(Self.a, exactly: ByteRange(0, 20 * Self.mebibyte))
        _ = plan.claim(Self.b, exactly: ByteRange(20 * Self.mebibyte, 40 * Self.mebibyte))
        let rates = [Self.a: 1e6, Self.b: 4e6]
        guard
            case .steal(let victim, let at) = plan.help(
                rates: rates, thief: 3e6, minimum: Self.mebibyte, setUp: 0.1)
        else {
            Issue.record("nothing was stolen")
            return
        }
        #expect(victim == Self.a)
        // Three quarters of what can be stolen.
        #expect(abs(at - 5 * Self.mebibyte) < Self.mebibyte / 4)
    }

    @Test("bytes just ahead of the reader are never stolen")
    func safeZone() {
        var plan = SegmentPlan(length: 4 * Self.mebibyte)
        _ = plan.claim(Self.a)
        guard
            case .steal(_, let at) = plan.help(rates: [Self.a: 1e6], thief: 1e12, minimum: 1, setUp: 0.5)
        else {
            Issue.record("nothing was stolen")
            return
        }
        #expect(at >= 550_000)
    }

    @Test(
        "no help is given to the young, the nearly done and the fast",
        arguments: [
            ([:], nil, 0.1), ([TransferID(1): 1e9], 1e9, 0.1), ([TransferID(1): 5e6], 5e6, 3.0),
        ] as [([TransferID: Double], Double?, Double)])
    func noHelp(rates: [TransferID: Double], thief: Double?, setUp: Double) {
        var plan = SegmentPlan(length: 4 * Self.mebibyte)
        _ = plan.claim(Self.a)
        #expect(plan.help(rates: rates, thief: thief, minimum: Self.mebibyte, setUp: setUp) == nil)
    }

    @Test("a small rest that crawls is fetched anew by a faster one")
    func takeOver() {
        var plan = SegmentPlan(length: 100_000)
        _ = plan.claim(Self.a)
        #expect(
            plan.help(rates: [Self.a: 0], thief: 1e6, minimum: Self.mebibyte, setUp: 0.1) == .takeOver(Self.a)
        )
        #expect(plan.help(rates: [Self.a: 9e5], thief: 1e6, minimum: Self.mebibyte, setUp: 0.1) == nil)
    }
}
