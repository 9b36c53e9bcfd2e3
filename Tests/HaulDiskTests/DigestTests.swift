import HaulCore
import HaulPlatform
import HaulTestSupport
import Testing

@testable import HaulDisk

@Suite("Digests")
struct DigestTests {
    private static func expected(_ bytes: [UInt8]) -> Set<ChecksumValue> {
        let context = DigestContext(Set(ChecksumAlgorithm.allCases))
        bytes.withUnsafeBytes { context.update($0) }
        return Set(context.finish())
    }

    @Test(
        "are those of the standards",
        arguments: [
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "sha1:a9993e364706816aba3e25717850c26c9cd0d89d", "md5:900150983cd24fb0d6963f7d28e17f72",
            "sha512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ])
    func knownAnswers(value: String) throws {
        let system = FakeSystem()
        system.put(Array("abc".utf8), at: "abc")
        let wanted = try #require(ChecksumValue(parsing: value))
        #expect(
            try FileDigest.compute(path: "/abc", algorithms: [wanted.algorithm], system: system) == [wanted])
    }

    @Test(
        "are right however the bytes come: in order, out of order, again, or over others", arguments: 0..<60)
    func anyOrder(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let body = Body(seed + 1, length: Int64.random(in: 1...30_000, using: &random))
        let other = Body(seed + 2, length: body.length)
        let target = try TargetDirectory.open("/", creating: false, system: FakeSystem())
        let file = try target.createPartial(name: "file.bin", exactName: true, header: body.header)
        if Bool.random(using: &random) { try file.fill(body, ByteRange(0, body.length / 2)) }
        file.startDigests(Set(ChecksumAlgorithm.allCases))
        while !file.usable.contains(ByteRange(0, body.length)) {
            let gap = try #require(
                file.usable.gaps(in: ByteRange(0, body.length)).randomElement(using: &random))
            let low =
                Bool.random(using: &random)
                ? gap.lower : Int64.random(in: gap.lower..<gap.upper, using: &random)
            let range = ByteRange(low, min(gap.upper, low + Int64.random(in: 1...5000, using: &random)))
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                // Bytes that were never committed and turn out to be wrong.
                try put(other.bytes(range), at: range.lower, in: file)
            case 1:
                // Bytes that were there already, and come again.
                let again = ByteRange(max(0, range.lower - 3000), range.upper)
                try file.fill(body, again)
            case 2: try file.catchUpDigests(limit: 700)
            default: try file.fill(body, range)
            }
        }
        #expect(try Set(file.finishDigests(length: body.length)) == Self.expected(body.bytes))
        #expect(try file.finishDigests(length: body.length) == [], "they are told once")
    }

    private func put(_ bytes: [UInt8], at offset: Int64, in file: PartialFile) throws {
        try bytes.withUnsafeBytes { try file.write($0, at: offset) }
    }

    @Test("of bytes that came in order need no reading")
    func noReading() throws {
        let system = FakeSystem()
        let body = Body()
        let target = try TargetDirectory.open("/", creating: false, system: system)
        let file = try target.createPartial(name: "file.bin", exactName: true, header: body.header)
        file.startDigests([.sha256])
        for low in stride(from: Int64(0), to: body.length, by: 8000) {
            try file.fill(body, ByteRange(low, low + 8000))
        }
        let value = try file.finishDigests(length: body.length)
        #expect(Set(value).isSubset(of: Self.expected(body.bytes)) && value.count == 1)
        #expect(!system.calls.contains("pread"))
    }

    @Test("start anew when the file does")
    func restart() throws {
        let body = Body(1, length: 3000)
        let other = Body(2, length: 2000)
        let target = try TargetDirectory.open("/", creating: false, system: FakeSystem())
        let file = try target.createPartial(name: "file.bin", exactName: true, header: body.header)
        file.startDigests([.md5])
        try file.fill(body, ByteRange(0, 3000))
        try file.restart(header: other.header)
        try file.complete(other)
        #expect(try Set(file.finishDigests(length: 2000)).isSubset(of: Self.expected(other.bytes)))
    }

    @Test("of a file that is shorter than it should be are not told")
    func tooShort() throws {
        let body = Body(1, length: 3000)
        let target = try TargetDirectory.open("/", creating: false, system: FakeSystem())
        let file = try target.createPartial(name: "file.bin", exactName: true, header: body.header)
        file.startDigests([.md5])
        try file.fill(body, ByteRange(0, 2000))
        #expect(try file.finishDigests(length: 3000) == [])
    }
}
