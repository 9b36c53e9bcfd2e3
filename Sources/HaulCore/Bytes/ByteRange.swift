/// A half-open range of byte offsets, `lower ..< upper`.
///
/// Inclusive ranges exist only on the wire; `ContentRange` is the one place that converts.
package struct ByteRange: Hashable, Sendable, CustomStringConvertible {
    package let lower: Int64
    package let upper: Int64

    /// - Precondition: `0 <= lower <= upper`.
    package init(_ lower: Int64, _ upper: Int64) {
        precondition(lower >= 0 && lower <= upper, "not a byte range: \(lower) ..< \(upper)")
        self.lower = lower
        self.upper = upper
    }

    package init(at lower: Int64, count: Int64) {
        self.init(lower, lower + count)
    }

    package var count: Int64 { upper - lower }
    package var isEmpty: Bool { lower == upper }
    package var description: String { "\(lower)..<\(upper)" }

    package func contains(_ other: ByteRange) -> Bool {
        lower <= other.lower && other.upper <= upper
    }

    /// The common part, or `nil` when there is none.
    package func intersection(_ other: ByteRange) -> ByteRange? {
        let low = max(lower, other.lower)
        let high = min(upper, other.upper)
        return low < high ? ByteRange(low, high) : nil
    }
}
