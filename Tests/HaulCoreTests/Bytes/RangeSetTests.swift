import HaulCore
import HaulTestSupport
import Testing

@Suite("RangeSet")
struct RangeSetTests {
    @Test("agrees with a set of single offsets over random insertions and removals", arguments: 0..<20)
    func randomWalk(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var set = RangeSet()
        var model = Set<Int64>()
        for _ in 0..<300 {
            let low = Int64.random(in: 0..<200, using: &random)
            let range = ByteRange(low, low + Int64.random(in: 0..<30, using: &random))
            if Bool.random(using: &random) {
                set.insert(range)
                model.formUnion(range.lower..<range.upper)
            } else {
                set.remove(range)
                model.subtract(range.lower..<range.upper)
            }
            #expect(Set(set.ranges.flatMap { $0.lower..<$0.upper }) == model)
            for (left, right) in zip(set.ranges, set.ranges.dropFirst()) {
                #expect(left.upper < right.lower, "ranges neither touch nor overlap")
            }
            let whole = ByteRange(0, 230)
            #expect(
                Set(set.gaps(in: whole).flatMap { $0.lower..<$0.upper }) == Set(0..<230).subtracting(model))
        }
    }
}
