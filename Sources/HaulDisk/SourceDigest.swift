import CCrypto
import HaulCore

/// The SHA-256 of what makes a URL that URL: names a source in journals and attributes without telling it.
package struct SourceDigest: Hashable, Sendable, CustomStringConvertible {
    /// 32 bytes.
    package let bytes: [UInt8]

    /// - Returns: `nil` unless there are 32 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        self.bytes = Array(bytes)
    }

    /// 64 hexadecimal digits.
    package init?(hex: some StringProtocol) {
        guard let bytes = ChecksumValue.bytes(hex: hex) else { return nil }
        self.init(bytes: bytes)
    }

    private init(hashing text: String) {
        var digest = [UInt8](repeating: 0, count: 32)
        let bytes = Array(text.utf8)
        EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
        self.bytes = digest
    }

    /// The digest of an identity string (`URLReference.identity`).
    package static func of(_ identity: String) -> SourceDigest { SourceDigest(hashing: identity) }

    package var hex: String { ChecksumValue(.sha256, bytes: bytes)?.hex ?? "" }
    package var description: String { hex }
}
