/// Which bytes of one file are done, in flight or missing, and who fetches what.
///
/// Invariants: segments are disjoint from each other and from what is done ahead of them; done, in flight and
/// missing together are the whole file; every segment has exactly one owner.
package struct SegmentPlan: Hashable, Sendable {
    /// One range being fetched by one transfer.
    ///
    /// `position` is the first byte not yet committed.
    package struct Segment: Hashable, Sendable {
        package let owner: TransferID
        package private(set) var range: ByteRange
        package private(set) var position: Int64

        package var remaining: Int64 { range.upper - position }

        fileprivate init(owner: TransferID, range: ByteRange) {
            self.owner = owner
            self.range = range
            position = range.lower
        }

        fileprivate mutating func advance(to end: Int64) { position = end }
        fileprivate mutating func end(at end: Int64) { range = ByteRange(range.lower, end) }
    }

    /// How an idle transfer can help a busy one.
    package enum Help: Hashable, Sendable {
        /// Shrink the victim's segment to end at `at`, then claim the rest.
        case steal(from: TransferID, at: Int64)
        /// The victim crawls and has too little left to cut: end it, and fetch the rest anew.
        case takeOver(TransferID)
    }

    package let length: Int64
    package private(set) var done: RangeSet
    package private(set) var segments: [Segment] = []

    package init(length: Int64, done: RangeSet = RangeSet()) {
        precondition(length >= 0)
        self.length = length
        self.done = done.prefix(below: length)
    }

    package var whole: ByteRange { ByteRange(0, length) }
    package var isComplete: Bool { done.contains(whole) }

    /// Neither done nor in flight, in order.
    package var missing: [ByteRange] {
        guard !segments.isEmpty else { return done.gaps(in: whole) }
        var taken = done
        for segment in segments { taken.insert(segment.range) }
        return taken.gaps(in: whole)
    }

    package func segment(of owner: TransferID) -> Segment? {
        segments.first { $0.owner == owner }
    }

    /// Takes a missing range for a transfer.
    ///
    /// - Parameters:
    ///   - owner: the transfer; it owns nothing yet.
    ///   - share: how many transfers are about to claim, this one included; a gap large enough is cut into as many parts.
    ///   - minimum: the smallest part worth a request of its own, bytes.
    ///   - limit: takes no more than that; with it, gaps are taken in order.
    /// - Returns: `nil` when nothing is missing.
    package mutating func claim(
        _ owner: TransferID, share: Int = 1, minimum: Int64 = 1, limit: Int64? = nil
    ) -> ByteRange? {
        precondition(segment(of: owner) == nil, "a transfer owns one segment")
        let gaps = missing
        guard let gap = limit == nil ? gaps.max(by: { $0.count < $1.count }) : gaps.first else { return nil }
        // Other claimants are served by the other gaps first.
        let parts = Int64(max(1, share - (gaps.count - 1)))
        let size = min(limit ?? .max, max(minimum, (gap.count + parts - 1) / parts))
        let range =
            limit == nil && gap.count - size < minimum || gap.count <= size
            ? gap : ByteRange(at: gap.lower, count: size)
        segments.append(Segment(owner: owner, range: range))
        return range
    }

    /// Takes a given range; the probe, whose range the server chose.
    ///
    /// - Returns: whether all of it was missing.
    package mutating func claim(_ owner: TransferID, exactly range: ByteRange) -> Bool {
        guard segment(of: owner) == nil, missing.contains(where: { $0.contains(range) }) else { return false }
        segments.append(Segment(owner: owner, range: range))
        return true
    }

    /// Bytes of the owner's segment are in the file.
    ///
    /// - Returns: false, and nothing changes, when the range does not continue the owner's segment.
    @discardableResult
    package mutating func commit(_ range: ByteRange, by owner: TransferID) -> Bool {
        guard let index = segments.firstIndex(where: { $0.owner == owner }),
            segments[index].position == range.lower, range.upper <= segments[index].range.upper
        else { return false }
        segments[index].advance(to: range.upper)
        done.insert(range)
        return true
    }

    /// The owner stopped; what it did not commit is missing again.
    package mutating func release(_ owner: TransferID) {
        segments.removeAll { $0.owner == owner }
    }

    /// The transfer thread accepted a nearer end; the rest is missing.
    package mutating func shrink(_ owner: TransferID, to end: Int64) {
        guard let index = segments.firstIndex(where: { $0.owner == owner }) else { return }
        let segment = segments[index]
        segments[index].end(at: min(segment.range.upper, max(end, segment.position)))
    }

    /// The transfer thread accepted a farther end, within the gap that follows the segment.
    package mutating func extend(_ owner: TransferID, to end: Int64) {
        guard let index = segments.firstIndex(where: { $0.owner == owner }) else { return }
        let upper = segments[index].range.upper
        guard end > upper, missing.contains(where: { $0.lower == upper && $0.upper >= end }) else { return }
        segments[index].end(at: end)
    }

    /// How far a segment could be extended: the end of the gap that follows it.
    package func reach(of owner: TransferID) -> Int64? {
        guard let upper = segment(of: owner)?.range.upper else { return nil }
        return missing.first { $0.lower == upper }?.upper
    }

    /// Finds the segment that an idle transfer should help: the one with the longest remaining time.
    ///
    /// - Parameters:
    ///   - rates: bytes a second of each busy transfer; one that is absent is not touched (too young to be measured).
    ///   - thief: the speed expected of the idle transfer, bytes a second; `nil`: as fast as the victim.
    ///   - minimum: the smallest part worth a request, bytes.
    ///   - setUp: seconds until a new request delivers.
    /// - Returns: `nil` when no help would end earlier than the busy transfers alone.
    package func help(
        rates: [TransferID: Double], thief: Double?, minimum: Int64, setUp: Double
    ) -> Help? {
        var victim: (segment: Segment, rate: Double, time: Double)?
        for segment in segments where segment.remaining > 0 {
            guard let measured = rates[segment.owner] else { continue }
            let rate = max(measured, 1)
            let time = Double(segment.remaining) / rate
            if time > victim?.time ?? 0 { victim = (segment, rate, time) }
        }
        guard let victim else { return nil }
        let thiefRate = max(thief ?? victim.rate, 1)
        let remaining = victim.segment.remaining
        // What the victim receives until the new request delivers; it is never cut there (it is in its buffers already).
        let safe = max(SegmentPlan.smallestSafeZone, Int64(victim.rate * (setUp + SegmentPlan.reactionTime)))
        let stealable = remaining - safe
        if stealable >= minimum {
            let part = Int64(Double(stealable) * thiefRate / (thiefRate + victim.rate))
            let size = min(stealable, max(part, minimum))
            // Worth it only if the end comes nearer by more than the request costs.
            guard victim.time > setUp * 2 + Double(size) / thiefRate * 0.5 else { return nil }
            return .steal(from: victim.segment.owner, at: victim.segment.range.upper - size)
        }
        let anew = setUp + Double(remaining) / thiefRate
        return victim.time > SegmentPlan.crawlTime && victim.time > 3 * anew
            ? .takeOver(victim.segment.owner) : nil
    }

    /// Bytes ahead of a reader that are never given away, at least: what one read may bring.
    package static let smallestSafeZone: Int64 = 64 << 10
    /// Seconds between a decision and its effect on the transfer thread.
    private static let reactionTime = 0.05
    /// Seconds that a small rest may need before it is fetched anew elsewhere.
    private static let crawlTime = 2.0
}
