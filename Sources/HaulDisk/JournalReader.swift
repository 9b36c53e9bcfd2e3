package import HaulCore

/// Why not a single record of a journal can be believed.
package enum JournalDamage: Hashable, Sendable, CustomStringConvertible {
    case empty
    /// It does not start like a journal: zeros, or something else's file.
    case foreign
    /// A later Haul wrote it.
    case newerVersion(UInt8)
    /// It starts like a journal, but no whole header record follows.
    case noHeader

    package var description: String {
        switch self {
        case .empty: "the journal is empty"
        case .foreign: "the journal is not one (zeroed or overwritten)"
        case .newerVersion(let version): "the journal has format \(version), which this version cannot read"
        case .noHeader: "the journal is torn before its first whole record"
        }
    }
}

/// What a journal holds, as far as it can be believed.
package struct JournalContents: Hashable, Sendable {
    /// The last header; `nil` exactly when there is `damage`.
    package internal(set) var header: JournalHeader?
    package internal(set) var damage: JournalDamage?
    /// The process that took the partial file last.
    package internal(set) var owner: Int32?
    /// The boot in which `written` was true; empty when unknown.
    package internal(set) var boot: [UInt8] = []
    /// Bytes given to the system in that boot, or on disk.
    package internal(set) var written = RangeSet()
    /// Bytes on disk.
    package internal(set) var durable = RangeSet()
    /// Bytes from the start that are whole records; what follows is torn and counts for nothing.
    package internal(set) var validLength: Int64 = 0
    package internal(set) var isTorn = false
    /// The checksum of the last whole record.
    var chain: UInt32 = 0

    init() {}

    /// Tells which bytes of the partial file may be used.
    ///
    /// - Parameters:
    ///   - boot: the boot id of now; unless it is the journal's own, only what is durable counts.
    ///   - size: the size of the partial file: claims beyond it are void.
    /// - Returns: the bytes that are there and good.
    package func usable(boot: [UInt8], size: Int64) -> RangeSet {
        let isSameBoot = !boot.isEmpty && boot == self.boot
        return (isSameBoot ? written : durable).prefix(below: size)
    }
}

/// Reads journals; any bytes at all are welcome, and only whole records before the first flaw are believed.
package enum JournalReader {
    package static func read(_ bytes: [UInt8]) -> JournalContents {
        var contents = JournalContents()
        guard !bytes.isEmpty else { return damaged(.empty) }
        guard bytes.starts(with: JournalFormat.magic), bytes.count >= JournalFormat.preamble.count else {
            return damaged(.foreign)
        }
        let version = bytes[JournalFormat.magic.count]
        guard version == JournalFormat.version else {
            return damaged(version > JournalFormat.version ? .newerVersion(version) : .foreign)
        }
        var reader = ByteReader(bytes[JournalFormat.preamble.count...])
        while let (record, checksum) = next(&reader, after: contents.chain) {
            contents.chain = checksum
            contents.apply(record)
        }
        guard contents.header != nil else { return damaged(.noHeader) }
        contents.validLength = Int64(bytes.count - reader.rest.count)
        contents.isTorn = !reader.rest.isEmpty
        return contents
    }

    private static func damaged(_ damage: JournalDamage) -> JournalContents {
        var contents = JournalContents()
        contents.damage = damage
        return contents
    }

    /// The next whole record; leaves the reader where it is when there is none.
    private static func next(_ reader: inout ByteReader, after chain: UInt32) -> (JournalRecord, UInt32)? {
        var ahead = reader
        guard let length = ahead.take(UInt32.self), length <= JournalFormat.largestPayload,
            let checksum = ahead.take(UInt32.self), let kind = ahead.take(UInt8.self),
            let payload = ahead.take(Int(length)),
            checksum == JournalFormat.checksum(after: chain, kind: kind, payload: payload),
            let record = decode(kind, payload)
        else { return nil }
        reader = ahead
        return (record, checksum)
    }

    private static func decode(_ kind: UInt8, _ payload: ArraySlice<UInt8>) -> JournalRecord? {
        var reader = ByteReader(payload)
        switch kind {
        case JournalRecord.Kind.header:
            return HeaderCodec.decode(payload).map { .header($0) }
        case JournalRecord.Kind.owner:
            guard let process = reader.take(UInt32.self) else { return nil }
            return .owner(process: Int32(bitPattern: process), boot: Array(reader.rest))
        case JournalRecord.Kind.written:
            guard payload.count == 16, let range = reader.takeRange() else { return nil }
            return .written(range)
        case JournalRecord.Kind.durable:
            var set = RangeSet()
            while !reader.rest.isEmpty {
                guard let range = reader.takeRange() else { return nil }
                set.insert(range)
            }
            return .durable(set)
        default: return nil
        }
    }
}

extension JournalContents {
    fileprivate mutating func apply(_ record: JournalRecord) {
        switch record {
        case .header(let header): self.header = header
        case .owner(let process, let boot):
            // What was only given to an earlier boot's system is gone.
            if boot.isEmpty || boot != self.boot { written = durable }
            owner = process
            self.boot = boot
        case .written(let range): written.insert(range)
        case .durable(let set):
            durable = set
            written.formUnion(set)
        }
    }
}
