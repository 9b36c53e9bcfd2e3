import HaulCore
import Testing

@Suite("Errors, checksums and instants")
struct ModelTests {
    @Test("every error code is there once, in lower case with hyphens")
    func codes() {
        let codes = HaulError.Code.all.map(\.rawValue)
        #expect(Set(codes).count == codes.count)
        for code in codes {
            #expect(code.utf8.allSatisfy { $0 == UInt8(ascii: "-") || (0x61...0x7A).contains($0) }, "\(code)")
        }
    }

    @Test("numbers that are counted up spread over a table, and the same ones meet")
    func numberHashes() {
        let buckets = Set((0..<1024 as Range<UInt64>).map { DownloadID($0)._rawHashValue(seed: 7) & 1023 })
        // 1 - 1/e of them are hit where chance decides.
        #expect(buckets.count > 600)
        #expect(DownloadID(5)._rawHashValue(seed: 7) == DownloadID(5)._rawHashValue(seed: 7))
        #expect(TransferID(5)._rawHashValue(seed: 7) != TransferID(5)._rawHashValue(seed: 8))
    }

    @Test("an error reads as what failed, then what to do")
    func description() {
        #expect(
            HaulError(.notFound, "x is not there (404)", advice: "check the URL").description
                == "x is not there (404); check the URL")
        #expect(HaulError(.notFound, "x is not there").description == "x is not there")
    }

    @Test(
        "a checksum is read whatever the case, with or without the hyphen",
        arguments: [
            ("md5:d41d8cd98f00b204e9800998ecf8427e", "md5:d41d8cd98f00b204e9800998ecf8427e"),
            ("MD5:D41D8CD98F00B204E9800998ECF8427E", "md5:d41d8cd98f00b204e9800998ecf8427e"),
            (
                "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709",
                "sha-1:da39a3ee5e6b4b0d3255bfef95601890afd80709"
            ),
            (
                "SHA-256:E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855",
                "sha-256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
            ),
        ])
    func checksum(text: String, expected: String) {
        let value = ChecksumValue(parsing: text)
        #expect(value?.description == expected)
        #expect(value.flatMap { ChecksumValue($0.algorithm, bytes: $0.bytes) } == value)
        #expect(value?.bytes.count == value?.algorithm.length)
    }

    @Test(
        "what is no checksum is refused",
        arguments: [
            "", "md5", "md5:", ":d41d8cd98f00b204e9800998ecf8427e", "md5:d41d8cd98f00b204e9800998ecf8427",
            "md5:d41d8cd98f00b204e9800998ecf8427ef0", "md5:g41d8cd98f00b204e9800998ecf8427e",
            "md5: d41d8cd98f00b204e9800998ecf8427e", "sha3-256:00", "sha256:d41d8cd98f00b204e9800998ecf8427e",
            "d41d8cd98f00b204e9800998ecf8427e", "md5:ｄ41d8cd98f00b204e9800998ecf8427e",
        ])
    func noChecksum(text: String) {
        #expect(ChecksumValue(parsing: text) == nil)
    }

    @Test("adding seconds to an instant saturates")
    func instants() {
        let start = Instant(nanoseconds: 5_000_000_000)
        #expect(start.advanced(by: 1.5) == Instant(nanoseconds: 6_500_000_000))
        #expect(start.advanced(by: 1.5).seconds(since: start) == 1.5)
        #expect(start.advanced(by: 1e30) == .distantFuture)
        #expect(start.advanced(by: .infinity) == .distantFuture)
        #expect(start.advanced(by: -1e30) < start)
    }
}
