/// RFC 2047 encoded words, which mail-minded servers put into file names: `=?UTF-8?B?…?=`.
enum EncodedWords {
    /// The text with every encoded word replaced; `nil` when there is none that can be decoded.
    static func decoded(_ text: String) -> String? {
        guard text.contains("=?") else { return nil }
        var result = ""
        var rest = text[...]
        var hasDecoded = false
        while let start = rest.firstRange(of: "=?") {
            let before = rest[..<start.lowerBound]
            guard let (word, end) = word(rest[start.upperBound...]) else {
                result += rest[..<start.upperBound]
                rest = rest[start.upperBound...]
                continue
            }
            // Blanks between two encoded words only separate them (RFC 2047 §6.2).
            if !(hasDecoded && before.allSatisfy({ $0 == " " || $0 == "\t" })) { result += before }
            result += word
            hasDecoded = true
            rest = rest[end...]
        }
        return hasDecoded ? result + rest : nil
    }

    /// Reads what follows "=?": charset, encoding and text, up to and including "?=".
    private static func word(_ text: Substring) -> (String, Substring.Index)? {
        guard let first = text.firstIndex(of: "?") else { return nil }
        let afterCharset = text[text.index(after: first)...]
        guard let second = afterCharset.firstIndex(of: "?") else { return nil }
        let encoding = afterCharset[..<second]
        let afterEncoding = afterCharset[afterCharset.index(after: second)...]
        guard let end = afterEncoding.firstRange(of: "?=") else { return nil }
        let payload = afterEncoding[..<end.lowerBound]
        let bytes: [UInt8]? =
            switch encoding {
            case "B", "b": Base64.decoded(payload)
            case "Q", "q": quotedPrintable(payload)
            default: nil
            }
        // RFC 2231 allows a language after the charset.
        let charset = String(text[..<first].prefix { $0 != "*" })
        guard let bytes, let decoded = Charset.decoded(bytes, as: charset) else { return nil }
        return (decoded, end.upperBound)
    }

    private static func quotedPrintable(_ text: Substring) -> [UInt8] {
        var result: [UInt8] = []
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.popFirst() {
            if byte == ASCII.equals, bytes.count >= 2, let high = ASCII.hexValue(bytes[bytes.startIndex]),
                let low = ASCII.hexValue(bytes[bytes.startIndex + 1])
            {
                result.append(high << 4 | low)
                bytes = bytes.dropFirst(2)
            } else {
                result.append(byte == UInt8(ascii: "_") ? ASCII.space : byte)
            }
        }
        return result
    }
}
