/// Percent-coding (RFC 3986 §2.1), over bytes: what is coded need not be UTF-8.
package enum PercentCoding {
    /// Every `%xx` replaced by its byte, once; a `%` without two hexadecimal digits stays.
    package static func decoded(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index != bytes.endIndex {
            let byte = bytes[index]
            let next = bytes.index(after: index)
            if byte == ASCII.percent, let (value, end) = pair(bytes, at: next) {
                result.append(value)
                index = end
            } else {
                result.append(byte)
                index = next
            }
        }
        return result
    }

    /// Spaces, controls and bytes beyond ASCII as `%XX`; everything else, existing codes included, as it is.
    package static func encodedUnsafe(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in bytes {
            if byte > ASCII.space && byte < 0x7F {
                result.append(byte)
            } else {
                result += [ASCII.percent, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func pair<Bytes: Collection<UInt8>>(
        _ bytes: Bytes, at index: Bytes.Index
    ) -> (UInt8, Bytes.Index)? {
        guard index != bytes.endIndex, let high = ASCII.hexValue(bytes[index]) else { return nil }
        let second = bytes.index(after: index)
        guard second != bytes.endIndex, let low = ASCII.hexValue(bytes[second]) else { return nil }
        return (high << 4 | low, bytes.index(after: second))
    }
}
