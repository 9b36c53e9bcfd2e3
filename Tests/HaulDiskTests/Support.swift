import Foundation
import HaulCore
import HaulPlatform
import Testing

@testable import HaulDisk

/// A directory of its own for a test, gone with it.
final class Scratch {
    let path: String
    let system = LiveSystem()

    init() throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("haul-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: base, withIntermediateDirectories: true)
        path = base.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func target() throws -> TargetDirectory {
        try TargetDirectory.open(path, creating: false, system: system)
    }
    func path(_ name: String) -> String { path + "/" + name }
    func put(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
    }
    func bytes(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path(name)).map(Array.init)
    }
    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }
    func cut(_ name: String, to length: Int64) { #expect(truncate(path(name), Int(length)) == 0) }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}

/// Bytes of one version of a resource: never zero, so that holes show, and different in every version.
struct Body {
    var version: UInt64
    var length: Int64

    init(_ version: UInt64 = 1, length: Int64 = 40_000) {
        self.version = version
        self.length = length
    }

    var bytes: [UInt8] { bytes(ByteRange(0, length)) }

    func bytes(_ range: ByteRange) -> [UInt8] {
        let known = Body.known.withLock { $0[version] ?? [] }
        if known.count >= range.upper { return Array(known[Int(range.lower)..<Int(range.upper)]) }
        let made = make(max(range.upper, 40_000))
        Body.known.withLock { $0[version] = made }
        return Array(made[Int(range.lower)..<Int(range.upper)])
    }

    /// The starts of all versions asked for so far; making them takes time.
    private static let known = Guarded<[UInt64: [UInt8]]>([:])

    private func make(_ length: Int64) -> [UInt8] {
        (0..<length).map { offset in
            var x = (UInt64(offset) &+ 1) &* 0x9E37_79B9_7F4A_7C15 ^ version &* 0xBF58_476D_1CE4_E5B9
            x = (x ^ x >> 29) &* 0x94D0_49BB_1331_11EB
            return UInt8(truncatingIfNeeded: x >> 56) | 1
        }
    }

    var header: JournalHeader {
        JournalHeader(
            sources: [Body.source],
            file: RemoteFile(
                length: length, hasRanges: true,
                validator: Validator(etag: EntityTag(opaque: "\"v\(version)\"", isWeak: false))),
            finalName: "file.bin")
    }

    /// The version that a journal's facts speak of.
    init?(_ facts: RemoteFile?) {
        guard let tag = facts?.validator.etag?.opaque.dropFirst(2).dropLast(), let version = UInt64(tag),
            let length = facts?.length
        else { return nil }
        self.init(version, length: length)
    }

    static let source = SourceDigest.of("http://server.example/file.bin")
    static let otherSource = SourceDigest.of("http://server.example/other.bin")
}

extension PartialFile {
    /// Writes and commits a range of a body, as a transfer does.
    func fill(_ body: Body, _ range: ByteRange) throws(SystemFailure) {
        let bytes = body.bytes(range)
        let outcome = bytes.withUnsafeBytes { buffer in
            Result { () throws(SystemFailure) in try write(buffer, at: range.lower) }
        }
        try outcome.get()
        try commit(range)
    }

    /// Fills whatever is missing of a body.
    func complete(_ body: Body) throws {
        for gap in usable.gaps(in: ByteRange(0, body.length)) { try fill(body, gap) }
    }

    func publish(_ policy: PublishPolicy = .replace, length: Int64, origin: FileOrigin? = nil) throws
        -> String
    {
        try publish(policy: policy, length: length, origin: origin, modified: nil, sync: true)
    }
}

/// Expects that every byte a partial file claims is really a byte of that body.
func expectTrue(_ usable: RangeSet, of bytes: [UInt8], _ body: Body, _ comment: Comment) {
    for range in usable.ranges {
        #expect(range.upper <= Int64(bytes.count), comment)
        let there = bytes.dropFirst(Int(range.lower)).prefix(Int(range.count))
        #expect(Array(there) == body.bytes(range), comment)
    }
}
