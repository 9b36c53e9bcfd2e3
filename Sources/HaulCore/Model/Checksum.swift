/// The digests Haul can check.
package enum ChecksumAlgorithm: String, Hashable, Sendable, CaseIterable {
    case sha512 = "sha-512"
    case sha256 = "sha-256"
    case sha1 = "sha-1"
    case md5 = "md5"

    /// Bytes of a digest.
    package var length: Int {
        switch self {
        case .sha512: 64
        case .sha256: 32
        case .sha1: 20
        case .md5: 16
        }
    }
}

/// An expected or computed digest.
package struct ChecksumValue: Hashable, Sendable, CustomStringConvertible {
    package let algorithm: ChecksumAlgorithm
    package let bytes: [UInt8]

    /// - Returns: `nil` when the number of bytes is not the algorithm's.
    package init?(_ algorithm: ChecksumAlgorithm, bytes: [UInt8]) {
        guard bytes.count == algorithm.length else { return nil }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// `ALGO:HEX`, as on the command line; `sha256` and `sha-256` are the same, case does not matter.
    package init?(parsing text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let name = parts[0].lowercased().replacing("-", with: "")
        guard
            let algorithm = ChecksumAlgorithm.allCases.first(where: {
                $0.rawValue.replacing("-", with: "") == name
            }),
            let bytes = ChecksumValue.bytes(hex: parts[1])
        else { return nil }
        self.init(algorithm, bytes: bytes)
    }

    package var hex: String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { text in
            for (index, byte) in bytes.enumerated() {
                text[index * 2] = ChecksumValue.digit(byte >> 4)
                text[index * 2 + 1] = ChecksumValue.digit(byte & 15)
            }
            return bytes.count * 2
        }
    }

    package var description: String { "\(algorithm.rawValue):\(hex)" }

    /// The bytes that an even number of hexadecimal digits means.
    package static func bytes(hex: some StringProtocol) -> [UInt8]? {
        let digits = hex.utf8.map(nibble)
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { (digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0) }
    }

    private static func digit(_ nibble: UInt8) -> UInt8 { nibble + (nibble < 10 ? 0x30 : 0x61 - 10) }

    private static func nibble(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
