/// Digests in header fields (RFC 9530), written as structured dictionaries: `sha-256=:BASE64:, sha-512=:…:`.
enum DigestFields {
    /// The digests of the active algorithms; members that are malformed or unknown are passed over.
    static func values(_ fields: [String]) -> [ChecksumValue] {
        fields.flatMap { $0.split(separator: ",") }.compactMap { member in
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let algorithm = algorithm(ASCII.lowered(ASCII.trimmed(parts[0]))) else {
                return nil
            }
            let item = ASCII.trimmed(parts[1].prefix { $0 != ";" })
            guard item.utf8.count > 2, item.hasPrefix(":"), item.hasSuffix(":"),
                let bytes = Base64.decoded(item.dropFirst().dropLast())
            else { return nil }
            return ChecksumValue(algorithm, bytes: bytes)
        }
    }

    /// MD5 and SHA-1 are deprecated by RFC 9530 §5: a checksum from the user may be one, a server's promise not.
    private static func algorithm(_ name: String) -> ChecksumAlgorithm? {
        switch name {
        case "sha-256": .sha256
        case "sha-512": .sha512
        default: nil
        }
    }
}

/// RFC 4648 §4, decoding only; padding may be missing.
enum Base64 {
    static func decoded(_ text: some StringProtocol) -> [UInt8]? {
        var bytes = Array(text.utf8)
        while bytes.last == ASCII.equals { bytes.removeLast() }
        guard bytes.count % 4 != 1 else { return nil }
        var result: [UInt8] = []
        var (bits, count): (UInt32, Int) = (0, 0)
        for byte in bytes {
            guard let value = value(byte) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return result
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x41...0x5A: byte - 0x41
        case 0x61...0x7A: byte - 0x61 + 26
        case 0x30...0x39: byte - 0x30 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
