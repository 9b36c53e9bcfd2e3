/// `Retry-After` (RFC 9110 §10.2.3).
package enum RetryAfter {
    /// A year: longer waits mean "never" all the same, and sums of time stay far from overflow.
    private static let longest = 31_536_000.0

    /// Seconds to wait, 0 or more, counted from when the answer came.
    ///
    /// A date is measured against the answer's own `Date`, because the server's clock may be hours off.
    /// - Parameters:
    ///   - value: the field's value.
    ///   - date: the value of the same answer's `Date` field.
    ///   - now: seconds since 1970, used when there is no usable `Date`.
    /// - Returns: `nil` for nonsense and negative numbers; 0 for a date in the past.
    package static func seconds(_ value: String, date: String?, now: Int64?) -> Double? {
        let text = ASCII.trimmed(value)
        if let first = text.utf8.first, ASCII.isDigit(first), let delay = delay(text) {
            return min(delay, longest)
        }
        guard let target = HTTPDate.seconds(text), let start = date.flatMap(HTTPDate.seconds) ?? now else {
            return nil
        }
        return min(Double(max(target - start, 0)), longest)
    }

    /// Digits, with a fraction as some services send it; exponents and other spellings of `Double` are refused.
    private static func delay(_ text: String) -> Double? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(ASCII.isDigit) }) else { return nil }
        return Double(text)
    }
}
