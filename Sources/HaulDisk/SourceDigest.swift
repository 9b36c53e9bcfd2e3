import CCrypto
import HaulCore

/// The SHA-256 of what makes a URL that URL: names a source in journals and attributes without telling it.
package struct SourceDigest: Hashable, Sendable, CustomStringConvertible {
    private let words: SIMD4<UInt64>

    /// 32 bytes.
    package var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

    /// - Returns: `nil` unless there are 32 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        var words = SIMD4<UInt64>()
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
        self.words = words
    }

    /// 64 hexadecimal digits.
    package init?(hex: some StringProtocol) {
        guard let bytes = ChecksumValue.bytes(hex: hex) else { return nil }
        self.init(bytes: bytes)
    }

    private init(hashing text: String) {
        var words = SIMD4<UInt64>()
        var text = text
        text.withUTF8 { bytes in
            withUnsafeMutableBytes(of: &words) { digest in
                _ = EVP_Digest(bytes.baseAddress, bytes.count, digest.baseAddress, nil, Self.sha256, nil)
            }
        }
        self.words = words
    }

    /// Fetched once: with `EVP_sha256()` libcrypto looks for it anew each time (crypto(7), "Performance").
    private nonisolated(unsafe) static let sha256 = EVP_MD_fetch(nil, "SHA256", nil)

    /// The digest of an identity string (`URLReference.identity`).
    package static func of(_ identity: String) -> SourceDigest { SourceDigest(hashing: identity) }

    package var hex: String { ChecksumValue(.sha256, bytes: bytes)?.hex ?? "" }
    package var description: String { hex }
}
