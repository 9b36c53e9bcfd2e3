/// A set of byte offsets, kept as sorted ranges that neither touch nor overlap.
package struct RangeSet: Hashable, Sendable, CustomStringConvertible {
    package private(set) var ranges: [ByteRange] = []

    package init() {}

    package init(_ ranges: some Sequence<ByteRange>) {
        for range in ranges { insert(range) }
    }

    package var isEmpty: Bool { ranges.isEmpty }
    package var count: Int64 { ranges.reduce(0) { $0 + $1.count } }
    package var description: String { "[" + ranges.map(\.description).joined(separator: ", ") + "]" }

    /// The end of the run of bytes that starts at offset 0; 0 when byte 0 is missing.
    package var contiguousEnd: Int64 {
        guard let first = ranges.first, first.lower == 0 else { return 0 }
        return first.upper
    }

    package mutating func insert(_ range: ByteRange) {
        guard !range.isEmpty else { return }
        // The common case by far: bytes that continue the last or an existing range.
        let start = firstIndex { $0.upper >= range.lower }
        var low = range.lower
        var high = range.upper
        var end = start
        while end < ranges.count, ranges[end].lower <= range.upper {
            low = min(low, ranges[end].lower)
            high = max(high, ranges[end].upper)
            end += 1
        }
        ranges.replaceSubrange(start..<end, with: CollectionOfOne(ByteRange(low, high)))
    }

    package mutating func remove(_ range: ByteRange) {
        guard !range.isEmpty else { return }
        let start = firstIndex { $0.upper > range.lower }
        var rest: [ByteRange] = []
        var end = start
        while end < ranges.count, ranges[end].lower < range.upper {
            let old = ranges[end]
            if old.lower < range.lower { rest.append(ByteRange(old.lower, range.lower)) }
            if old.upper > range.upper { rest.append(ByteRange(range.upper, old.upper)) }
            end += 1
        }
        ranges.replaceSubrange(start..<end, with: rest)
    }

    package mutating func formUnion(_ other: RangeSet) {
        for range in other.ranges { insert(range) }
    }

    package func contains(_ range: ByteRange) -> Bool {
        guard !range.isEmpty else { return true }
        let index = firstIndex { $0.upper > range.lower }
        return index < ranges.count && ranges[index].contains(range)
    }

    /// What of `whole` is not in the set, in order.
    package func gaps(in whole: ByteRange) -> [ByteRange] {
        var gaps: [ByteRange] = []
        var at = whole.lower
        for index in firstIndex(where: { $0.upper > whole.lower })..<ranges.count {
            let range = ranges[index]
            guard range.lower < whole.upper else { break }
            if range.lower > at { gaps.append(ByteRange(at, range.lower)) }
            at = max(at, range.upper)
        }
        if at < whole.upper { gaps.append(ByteRange(at, whole.upper)) }
        return gaps
    }

    /// The set without the bytes at and beyond `end`.
    package func prefix(below end: Int64) -> RangeSet {
        var copy = self
        if let last = ranges.last, last.upper > end { copy.remove(ByteRange(end, last.upper)) }
        return copy
    }

    /// The first index whose range satisfies a predicate that is monotonic over the sorted ranges.
    private func firstIndex(where predicate: (ByteRange) -> Bool) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if predicate(ranges[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
