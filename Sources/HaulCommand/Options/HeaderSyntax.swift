package import HaulCore

/// Header fields that a person gives (RFC 9110 §5).
package enum HeaderSyntax {
    /// Fields on which the truth of a download hangs; Haul sets them itself.
    private static let reserved = [
        "range": "use --range", "if-range": "Haul sends it itself to resume safely",
        "content-length": "Haul sends it itself", "transfer-encoding": "Haul sends it itself",
        "connection": "Haul sends it itself",
    ]

    /// `NAME: VALUE`.
    ///
    /// Errors never repeat the value, which may be a secret.
    package static func parse(_ text: String, label: String) throws(HaulError) -> HeaderField {
        let parts = text.utf8.split(separator: 0x3A, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            throw HaulError(
                .usage, "\(label): a header field is NAME: VALUE", advice: "\(label) 'Accept: */*'")
        }
        let name = String(decoding: parts[0], as: UTF8.self)
        guard isToken(name) else {
            throw HaulError(.usage, "\(label): the name of a header field is letters, digits and hyphens")
        }
        if let why = reserved[name.lowercased()] {
            throw HaulError(.usage, "\(label): \(name) cannot be set: \(why)")
        }
        var value = Array(parts[1])
        while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
        value = Array(value.drop { $0 == 0x20 || $0 == 0x09 })
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw HaulError(.usage, "\(label): the value of \(name) holds a line break or control character")
        }
        return HeaderField(name: name, bytes: value)
    }

    /// One field a line; empty lines are skipped.
    static func parse(lines bytes: [UInt8], label: String) throws(HaulError) -> [HeaderField] {
        var fields: [HeaderField] = []
        for line in bytes.split(separator: 0x0A) {
            let line = line.last == 0x0D ? line.dropLast() : line
            if line.isEmpty { continue }
            fields.append(try parse(String(decoding: line, as: UTF8.self), label: label))
        }
        return fields
    }

    /// A token (RFC 9110 §5.6.2).
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// A value that goes into one header line.
    static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}
