/// Protocol text is bytes; these are the few ASCII facts that reading it needs.
enum ASCII {
    static let space = UInt8(ascii: " ")
    static let tab = UInt8(ascii: "\t")
    static let quote = UInt8(ascii: "\"")
    static let percent = UInt8(ascii: "%")
    static let slash = UInt8(ascii: "/")
    static let backslash = UInt8(ascii: "\\")
    static let colon = UInt8(ascii: ":")
    static let semicolon = UInt8(ascii: ";")
    static let equals = UInt8(ascii: "=")

    static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A }
    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }
    static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }
    static func lowered(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

    /// Lower case in ASCII only: other letters and locales never matter to a protocol.
    static func lowered(_ text: some StringProtocol) -> String {
        guard text.utf8.contains(where: { $0 != lowered($0) }) else { return String(text) }
        return String(decoding: text.utf8.map { lowered($0) }, as: UTF8.self)
    }

    static func contains(_ text: String, _ byte: UInt8) -> Bool {
        var text = text
        return text.withUTF8 { $0.contains(byte) }
    }

    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    private static func isOuter(_ byte: UInt8) -> Bool { isBlank(byte) || byte == 0x0D || byte == 0x0A }

    /// Without the spaces and tabs (and stray line ends) around it.
    static func trimmed<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        guard let first = bytes.firstIndex(where: { !isOuter($0) }),
            let last = bytes.lastIndex(where: { !isOuter($0) })
        else { return bytes[bytes.startIndex..<bytes.startIndex] }
        return bytes[first...last]
    }

    static func trimmed(_ text: some StringProtocol) -> String {
        let isTrimmed = text.utf8.withContiguousStorageIfAvailable { bytes in
            guard let first = bytes.first, let last = bytes.last else { return true }
            return !isOuter(first) && !isOuter(last)
        }
        if isTrimmed ?? false { return String(text) }
        return String(decoding: trimmed(Array(text.utf8)[...]), as: UTF8.self)
    }

    /// The number that one or more digits and nothing else mean; `nil` also when it exceeds `Int64.max`.
    static func number(_ text: some StringProtocol) -> Int64? { number(text.utf8) }

    static func number(_ digits: some Collection<UInt8>) -> Int64? {
        guard !digits.isEmpty else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard isDigit(digit) else { return nil }
            let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = tens.addingReportingOverflow(Int64(digit - 0x30))
            guard !isTooLarge, !overflows else { return nil }
            number = sum
        }
        return number
    }

    /// Text of bytes that are well-formed UTF-8, else `nil`.
    static func text(_ bytes: some Collection<UInt8>) -> String? {
        String(validating: bytes, as: UTF8.self)
    }
}
