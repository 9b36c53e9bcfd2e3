/// The file name in `Content-Disposition` (RFC 6266), read as tolerantly as browsers do.
package enum ContentDisposition {
    /// The name as meant, decoded, but not yet safe to use (`FileName.sanitized`); `nil` when there is none.
    ///
    /// In order: `filename*` (RFC 8187), its numbered parts (RFC 2231), `filename`. Of several, the first counts.
    package static func fileName(_ field: HeaderField) -> String? {
        let parameters = DispositionParser.parameters(field.bytes)
        let first = { (name: String) in parameters.first { $0.name == name }?.value }
        if let value = first("filename*"), let name = extended(value), !name.isEmpty { return name }
        if let name = continued(parameters), !name.isEmpty { return name }
        if let value = first("filename"), !value.isEmpty { return plain(value) }
        return nil
    }

    /// `UTF-8'en'na%C3%AFve`; `nil` when malformed, so that `filename` gets its turn.
    private static func extended(_ value: [UInt8]) -> String? {
        let parts = value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let bytes = PercentCoding.decoded(parts[2])
        return Charset.decoded(bytes, as: String(decoding: parts[0], as: UTF8.self))
    }

    /// `filename*0*=UTF-8''a%20; filename*1="b.txt"`.
    private static func continued(_ parameters: [DispositionParser.Parameter]) -> String? {
        var bytes: [UInt8] = []
        var charset = "utf-8"
        for number in 0..<100 {
            if let part = parameters.first(where: { $0.name == "filename*\(number)*" })?.value {
                var coded = part[...]
                let ends = part.indices.filter { part[$0] == UInt8(ascii: "'") }
                if number == 0, ends.count >= 2 {
                    charset = String(decoding: part[..<ends[0]], as: UTF8.self)
                    coded = part[(ends[1] + 1)...]
                }
                bytes += PercentCoding.decoded(coded)
            } else if let part = parameters.first(where: { $0.name == "filename*\(number)" })?.value {
                bytes += part
            } else {
                break
            }
        }
        return Charset.decoded(bytes, as: charset)
    }

    private static func plain(_ value: [UInt8]) -> String {
        guard value.allSatisfy({ $0 < 0x80 }) else { return Charset.guessed(value) }
        let text = String(decoding: value, as: UTF8.self)
        if let decoded = EncodedWords.decoded(text) { return decoded }
        // Browsers undo percent-coding here, though no RFC asks for it; separators must not come out of it.
        let bytes = PercentCoding.decoded(value)
        let isFit = !bytes.contains { $0 == ASCII.slash || $0 == ASCII.backslash || ASCII.isControl($0) }
        return isFit ? ASCII.text(bytes) ?? text : text
    }
}

/// Cuts `type; name=value; name="value"` into its parameters.
enum DispositionParser {
    struct Parameter {
        /// Lower case.
        let name: String
        let value: [UInt8]
    }

    static func parameters(_ bytes: [UInt8]) -> [Parameter] {
        var rest = bytes[...]
        var parameters: [Parameter] = []
        // The type needs no special case: it is a parameter without "=", or missing, as some servers have it.
        while !rest.isEmpty, parameters.count < 200 {
            let name = rest.prefix { $0 != ASCII.equals && $0 != ASCII.semicolon }
            rest = rest[name.endIndex...]
            guard rest.popFirst() == ASCII.equals else { continue }
            rest = rest.drop { ASCII.isBlank($0) }
            let value = rest.first == ASCII.quote ? quoted(&rest) : token(&rest)
            let text = ASCII.lowered(ASCII.trimmed(String(decoding: name, as: UTF8.self)))
            parameters.append(Parameter(name: text, value: value))
        }
        return parameters
    }

    private static func token(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        let value = rest.prefix { $0 != ASCII.semicolon }
        rest = rest[value.endIndex...].dropFirst()
        return Array(ASCII.trimmed(value))
    }

    /// A backslash escapes only a quote or another one: before anything else it is a Windows path's.
    private static func quoted(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        var value: [UInt8] = []
        _ = rest.popFirst()
        while let byte = rest.popFirst(), byte != ASCII.quote {
            if byte == ASCII.backslash, let next = rest.first, next == ASCII.quote || next == ASCII.backslash
            {
                value.append(next)
                rest = rest.dropFirst()
            } else {
                value.append(byte)
            }
        }
        rest = rest.drop { $0 != ASCII.semicolon }.dropFirst()
        return value
    }
}
