/// `Content-Range` and `Range` (RFC 9110 §14): the one place where inclusive ranges become half-open and back.
package enum ContentRange: Hashable, Sendable {
    /// The bytes of a 206; `total` is `nil` for "*".
    case range(ByteRange, total: Int64?)
    /// `bytes */N` of a 416.
    case unsatisfied(total: Int64)

    /// - Returns: `nil` when malformed, empty, beyond its own total or beyond what 63 bits count.
    package init?(parsing value: String) {
        let text = ASCII.trimmed(Array(value.utf8)[...])
        guard text.count > 5, text.prefix(5).elementsEqual("bytes".utf8, by: { ASCII.lowered($0) == $1 })
        else { return nil }
        // "bytes=0-4/9" is a known slip of small servers, and means only one thing.
        let gap = text[text.startIndex + 5]
        guard ASCII.isBlank(gap) || gap == ASCII.equals,
            let (first, second) = ContentRange.halves(text.dropFirst(6), at: ASCII.slash)
        else { return nil }
        let isAny = { (text: ArraySlice<UInt8>) in text.elementsEqual("*".utf8) }
        let total = ASCII.number(second)
        if isAny(first) {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
        } else {
            guard total != nil || isAny(second), let range = ContentRange.range(first),
                range.upper <= total ?? .max
            else { return nil }
            self = .range(range, total: total)
        }
    }

    private static func range(_ text: ArraySlice<UInt8>) -> ByteRange? {
        guard let (first, last) = halves(text, at: UInt8(ascii: "-")), let first = ASCII.number(first),
            let last = ASCII.number(last), first <= last, last < .max
        else { return nil }
        return ByteRange(first, last + 1)
    }

    /// What stands before and behind the only separator, trimmed.
    private static func halves(
        _ text: ArraySlice<UInt8>, at separator: UInt8
    ) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
        guard let middle = text.firstIndex(of: separator) else { return nil }
        let second = text[(middle + 1)...]
        guard !second.contains(separator) else { return nil }
        return (ASCII.trimmed(text[..<middle]), ASCII.trimmed(second))
    }

    /// The value of a `Range` field; an end of `.max` asks for everything from the start on.
    package static func requestValue(_ range: ByteRange) -> String {
        range.upper == .max || range.isEmpty
            ? "bytes=\(range.lower)-" : "bytes=\(range.lower)-\(range.upper - 1)"
    }
}
