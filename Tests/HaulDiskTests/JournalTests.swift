import HaulCore
import HaulTestSupport
import Testing

@testable import HaulDisk

@Suite("Journal")
struct JournalTests {
    static let boot = [UInt8](repeating: 7, count: 16)
    static let header = JournalHeader(
        sources: [Body.source, Body.otherSource],
        file: RemoteFile(
            length: 1 << 40, hasRanges: true,
            validator: Validator(
                etag: EntityTag(opaque: "\"a\"", isWeak: true), lastModified: 1_700_000_000,
                lastModifiedIsStrong: true),
            mediaType: "application/zip", codings: ["gzip", "br"]),
        finalName: "Ünï 文.tar.gz")

    static func journal(_ records: [JournalRecord]) -> [UInt8] {
        var encoder = JournalEncoder()
        return JournalFormat.preamble + encoder.encode(records)
    }

    static let records: [JournalRecord] = [
        .header(header), .owner(process: 42, boot: boot), .written(ByteRange(0, 100)),
        .written(ByteRange(200, 300)), .durable(RangeSet([ByteRange(0, 100)])), .written(ByteRange(100, 150)),
    ]

    @Test("tells again everything that was written into it")
    func roundTrip() {
        let contents = JournalReader.read(Self.journal(Self.records))
        #expect(contents.header == Self.header)
        #expect(contents.owner == 42)
        #expect(contents.damage == nil && !contents.isTorn)
        #expect(contents.written == RangeSet([ByteRange(0, 150), ByteRange(200, 300)]))
        #expect(contents.durable == RangeSet([ByteRange(0, 100)]))
    }

    @Test(
        "claims what was written in this boot, what is durable after another, and nothing beyond the file's end"
    )
    func claims() {
        let contents = JournalReader.read(Self.journal(Self.records))
        #expect(contents.usable(boot: Self.boot, size: 1000) == contents.written)
        #expect(contents.usable(boot: [1], size: 1000) == contents.durable)
        #expect(contents.usable(boot: [], size: 1000) == contents.durable)
        #expect(
            contents.usable(boot: Self.boot, size: 220) == RangeSet([ByteRange(0, 150), ByteRange(200, 220)]))
        #expect(contents.usable(boot: Self.boot, size: 0).isEmpty)
    }

    @Test("forgets what was only written when the next owner lives in another boot")
    func nextBoot() {
        let later = [UInt8](repeating: 8, count: 16)
        let more: [JournalRecord] = [.owner(process: 43, boot: later), .written(ByteRange(500, 600))]
        let contents = JournalReader.read(Self.journal(Self.records + more))
        #expect(
            contents.usable(boot: later, size: 1000) == RangeSet([ByteRange(0, 100), ByteRange(500, 600)]))
        #expect(contents.usable(boot: Self.boot, size: 1000) == RangeSet([ByteRange(0, 100)]))
    }

    @Test(
        "is damaged, and claims nothing, without a preamble and a whole header",
        arguments: [
            ([], .empty),
            ([UInt8](repeating: 0, count: 4096), .foreign),
            (Array("{\"done\": 100}".utf8), .foreign),
            (JournalFormat.magic, .foreign),
            (JournalFormat.magic + [9], .newerVersion(9)),
            (JournalFormat.magic + [0], .foreign),
            (JournalFormat.preamble, .noHeader),
            (Array(journal(records).prefix(60)), .noHeader),
            (journal([.written(ByteRange(0, 10))]), .noHeader),
        ] as [([UInt8], JournalDamage)])
    func damage(bytes: [UInt8], expected: JournalDamage) {
        let contents = JournalReader.read(bytes)
        #expect(contents.damage == expected)
        #expect(contents.header == nil)
        #expect(contents.usable(boot: Self.boot, size: .max).isEmpty)
    }

    @Test("believes the whole records before a cut and nothing behind it")
    func truncation() {
        let bytes = Self.journal(Self.records)
        let claims = (0...Self.records.count).map { count -> RangeSet in
            JournalReader.read(Self.journal(Array(Self.records.prefix(count)))).written
        }
        for length in 0..<bytes.count {
            let contents = JournalReader.read(Array(bytes.prefix(length)))
            #expect(claims.contains(contents.written))
            #expect(contents.validLength <= Int64(length))
            #expect(contents.header == nil || contents.isTorn == (contents.validLength < Int64(length)))
        }
    }

    @Test("does not believe a record that stood behind another one")
    func movedRecord() {
        let bytes = Self.journal(Self.records)
        let last = bytes.suffix(JournalFormat.recordHead + 16)
        let moved = Self.journal(Array(Self.records.prefix(2))) + last
        #expect(JournalReader.read(moved).written.isEmpty)
        #expect(JournalReader.read(moved).isTorn)
    }

    @Test("never claims a byte that was not written, whatever happens to its bytes", arguments: 0..<40)
    func fuzz(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let whole = RangeSet([ByteRange(0, 150), ByteRange(200, 300)])
        let original = Self.journal(Self.records)
        for _ in 0..<250 {
            var bytes = original
            for _ in 0...Int.random(in: 0..<3, using: &random) { bytes.damage(&random) }
            let contents = JournalReader.read(bytes)
            for range in contents.written.ranges { #expect(whole.contains(range)) }
            for range in contents.durable.ranges { #expect(ByteRange(0, 100).contains(range)) }
            #expect(contents.header == nil || contents.header == Self.header)
        }
    }

    @Test("passes over fields of a header that a later version added")
    func unknownField() throws {
        let payload = HeaderCodec.encode(Self.header) + [200, 3, 0, 1, 2, 3]
        #expect(HeaderCodec.decode(payload[...]) == Self.header)
    }

    @Test(
        "refuses a header whose final name leads elsewhere",
        arguments: ["", ".", "..", "a/b", "/etc/x", "a\0b"])
    func evilName(name: String) {
        var header = Self.header
        header.finalName = name
        #expect(HeaderCodec.decode(HeaderCodec.encode(header)[...]) == nil)
    }

    @Test("has the bytes that docs/on-disk-format.md shows")
    func bytesOnDisk() {
        let header = JournalHeader(sources: [], file: RemoteFile(length: 5), finalName: "a")
        let bytes = Self.journal([.header(header), .owner(process: 258, boot: []), .written(ByteRange(1, 5))])
        let hex = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(hex == Self.example.replacing(" ", with: ""))
    }

    static let example = """
        89 48 41 55 4c 4a 0a 01 \
        0f 00 00 00 d2 3d d5 23 01 02 01 00 61 03 08 00 05 00 00 00 00 00 00 00 \
        04 00 00 00 3f 1d f5 61 02 02 01 00 00 \
        10 00 00 00 4d 24 d5 c6 03 01 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00
        """

    @Test("knows CRC-32C by its published check value")
    func checksum() {
        #expect(CRC32C.of(Array("123456789".utf8)) == 0xE306_9283)
    }
}

extension [UInt8] {
    /// Cuts, zeroes, flips, doubles or inserts somewhere.
    fileprivate mutating func damage(_ random: inout SeededGenerator) {
        guard !isEmpty else { return }
        let at = Int.random(in: 0..<count, using: &random)
        let end = Int.random(in: at...count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: removeSubrange(at...)
        case 1: replaceSubrange(at..<end, with: repeatElement(0, count: end - at))
        case 2: self[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 3: append(contentsOf: self[at..<end])
        case 4: removeSubrange(at..<end)
        default: insert(UInt8.random(in: 0...255, using: &random), at: at)
        }
    }
}
