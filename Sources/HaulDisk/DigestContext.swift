import CCrypto
import HaulCore

/// Running digests of one stream of bytes.
///
/// Safe to send because it is reached only through the lock of its owner, or by the one who took it out of there.
final class DigestContext: @unchecked Sendable {
    private let contexts: [(ChecksumAlgorithm, OpaquePointer)]

    init(_ algorithms: Set<ChecksumAlgorithm>) {
        contexts = ChecksumAlgorithm.allCases.filter(algorithms.contains).compactMap { algorithm in
            EVP_MD_CTX_new().map { (algorithm, $0) }
        }
        reset()
    }

    deinit { contexts.forEach { EVP_MD_CTX_free($0.1) } }

    func reset() {
        for (algorithm, context) in contexts { EVP_DigestInit_ex(context, Self.function(algorithm), nil) }
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        for (_, context) in contexts { EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }
    }

    /// The digests of everything so far; the context can only be reset afterwards.
    func finish() -> [ChecksumValue] {
        contexts.compactMap { algorithm, context in
            var bytes = [UInt8](repeating: 0, count: algorithm.length)
            // A digest that could not be made is left out: what is missing never matches what is expected.
            guard EVP_DigestFinal_ex(context, &bytes, nil) == 1 else { return nil }
            return ChecksumValue(algorithm, bytes: bytes)
        }
    }

    private static func function(_ algorithm: ChecksumAlgorithm) -> OpaquePointer? {
        switch algorithm {
        case .sha512: EVP_sha512()
        case .sha256: EVP_sha256()
        case .sha1: EVP_sha1()
        case .md5: EVP_md5()
        }
    }
}
