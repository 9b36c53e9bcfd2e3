package import HaulCore

/// What a journal says about the file as a whole.
package struct JournalHeader: Hashable, Sendable {
    /// The sources the bytes may come from, the naming one first.
    package var sources: [SourceDigest]
    /// What is known of the remote file; `dispositionName` and `digests` are not kept.
    package var file: RemoteFile
    /// The name that the finished file is meant to have.
    package var finalName: String

    package init(sources: [SourceDigest], file: RemoteFile, finalName: String) {
        self.sources = sources
        self.file = file
        self.finalName = finalName
    }
}

/// One entry of a journal; `docs/on-disk-format.md` has it byte for byte.
package enum JournalRecord: Hashable, Sendable {
    /// Replaces what was known before; claims on ranges stay.
    case header(JournalHeader)
    /// A process took the partial file, in the boot with that id (16 bytes, or none when unknown).
    case owner(process: Int32, boot: [UInt8])
    /// These bytes were given to the system: true until the system stops.
    case written(ByteRange)
    /// These bytes, all that are so, are on disk.
    case durable(RangeSet)

    enum Kind {
        static let header: UInt8 = 1
        static let owner: UInt8 = 2
        static let written: UInt8 = 3
        static let durable: UInt8 = 4
    }
}

/// The bytes around the records.
enum JournalFormat {
    /// A byte that no text starts with, the name, a line end that text conversions would break, the version.
    static let magic: [UInt8] = [0x89, 0x48, 0x41, 0x55, 0x4C, 0x4A, 0x0A]
    static let version: UInt8 = 1
    static let preamble = magic + [version]
    /// Length, checksum, kind.
    static let recordHead = 9
    /// Longer payloads are not believed.
    static let largestPayload = 16 << 20
    /// A journal that grew beyond this is written anew.
    static let compactionSize: Int64 = 1 << 20
    /// A longer file is not a journal.
    static let largestSize: Int64 = 64 << 20

    /// The checksum of a record: of the checksum before it, so that old blocks of another journal never fit.
    static func checksum(after previous: UInt32, kind: UInt8, payload: some Collection<UInt8>) -> UInt32 {
        var covered = ByteWriter()
        covered.put(previous)
        covered.put(UInt32(payload.count))
        covered.put(kind)
        covered.bytes += payload
        return CRC32C.of(covered.bytes)
    }
}

/// Encodes records, each with its checksum chained to the one before.
struct JournalEncoder {
    private(set) var chain: UInt32

    /// Goes on after a record with that checksum; 0 at the start of a journal.
    init(chain: UInt32 = 0) { self.chain = chain }

    mutating func encode(_ records: [JournalRecord]) -> [UInt8] {
        var out = ByteWriter()
        for record in records {
            let (kind, payload) = Self.payload(record)
            chain = JournalFormat.checksum(after: chain, kind: kind, payload: payload)
            out.put(UInt32(payload.count))
            out.put(chain)
            out.put(kind)
            out.bytes += payload
        }
        return out.bytes
    }

    private static func payload(_ record: JournalRecord) -> (UInt8, [UInt8]) {
        var out = ByteWriter()
        switch record {
        case .header(let header):
            return (JournalRecord.Kind.header, HeaderCodec.encode(header))
        case .owner(let process, let boot):
            out.put(UInt32(bitPattern: process))
            out.bytes += boot
            return (JournalRecord.Kind.owner, out.bytes)
        case .written(let range):
            out.put(range)
            return (JournalRecord.Kind.written, out.bytes)
        case .durable(let set):
            set.ranges.forEach { out.put($0) }
            return (JournalRecord.Kind.durable, out.bytes)
        }
    }
}

/// Little-endian numbers, one after the other.
struct ByteWriter {
    var bytes: [UInt8] = []

    mutating func put(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    }

    mutating func put(_ range: ByteRange) {
        put(range.lower)
        put(range.upper)
    }
}

/// Reads what `ByteWriter` wrote; `nil` once the bytes run out.
struct ByteReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func take<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        let size = Number.bitWidth / 8
        guard let bytes = take(size) else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func takeRange() -> ByteRange? {
        guard let lower = take(Int64.self), let upper = take(Int64.self), lower >= 0, lower <= upper else {
            return nil
        }
        return ByteRange(lower, upper)
    }
}
