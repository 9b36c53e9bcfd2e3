/// `Content-Range` and `Range` (RFC 9110 §14): the one place where inclusive ranges become half-open and back.
package enum ContentRange: Hashable, Sendable {
    /// The bytes of a 206; `total` is `nil` for "*".
    case range(ByteRange, total: Int64?)
    /// `bytes */N` of a 416.
    case unsatisfied(total: Int64)

    /// - Returns: `nil` when malformed, empty, beyond its own total or beyond what 63 bits count.
    package init?(parsing value: String) {
        let text = ASCII.lowered(ASCII.trimmed(value))
        guard text.hasPrefix("bytes") else { return nil }
        // "bytes=0-4/9" is a known slip of small servers, and means only one thing.
        let rest = text.dropFirst(5)
        guard let gap = rest.utf8.first, ASCII.isBlank(gap) || gap == ASCII.equals else { return nil }
        let parts = rest.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map {
            ASCII.trimmed($0)
        }
        guard parts.count == 2 else { return nil }
        let total = ASCII.number(parts[1])
        if parts[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
        } else {
            guard total != nil || parts[1] == "*", let range = ContentRange.range(parts[0]) else {
                return nil
            }
            guard range.upper <= total ?? .max else { return nil }
            self = .range(range, total: total)
        }
    }

    private static func range(_ text: String) -> ByteRange? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { ASCII.trimmed($0) }
        guard ends.count == 2, let first = ASCII.number(ends[0]), let last = ASCII.number(ends[1]),
            first <= last, last < .max
        else { return nil }
        return ByteRange(first, last + 1)
    }

    /// The value of a `Range` field; an end of `.max` asks for everything from the start on.
    package static func requestValue(_ range: ByteRange) -> String {
        range.upper == .max || range.isEmpty
            ? "bytes=\(range.lower)-" : "bytes=\(range.lower)-\(range.upper - 1)"
    }
}
