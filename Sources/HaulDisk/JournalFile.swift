import HaulCore
import HaulPlatform

/// An open journal to append to.
///
/// A record that could not be written whole is written over by the next one.
struct JournalFile {
    let name: String
    private(set) var descriptor: Descriptor
    private(set) var identity: FileIdentity
    /// Where the next record goes.
    private(set) var end: Int64
    private var chain: UInt32

    /// Goes on with a journal whose whole records end where `contents` says.
    init(name: String, descriptor: Descriptor, status: FileStatus, contents: JournalContents) {
        self.name = name
        self.descriptor = descriptor
        identity = status.identity
        end = contents.validLength
        chain = contents.chain
    }

    /// Makes a new journal of these records under a name that must be free.
    init(
        creating fileName: String, named name: String, records: [JournalRecord], in directory: Descriptor,
        system: any SystemCalls
    ) throws(SystemFailure) {
        self.name = name
        descriptor = try system.open(fileName, in: directory, .createPrivate)
        identity = try system.status(descriptor).identity
        var encoder = JournalEncoder()
        let bytes = JournalFormat.preamble + encoder.encode(records)
        try system.writeAll(bytes, to: descriptor, at: 0)
        end = Int64(bytes.count)
        chain = encoder.chain
    }

    mutating func append(_ records: [JournalRecord], system: any SystemCalls) throws(SystemFailure) {
        var encoder = JournalEncoder(chain: chain)
        let bytes = encoder.encode(records)
        try system.writeAll(bytes, to: descriptor, at: end)
        end += Int64(bytes.count)
        chain = encoder.chain
    }

    /// The name that a journal has while it is made to replace another.
    static func replacementName(_ name: String) -> String { name + ".new" }

    /// Makes the journal that shall replace the one of that name, under a name of its own; the caller holds the
    /// lock on the partial file, so that an older one by that name is nobody's.
    static func replacement(
        for name: String, records: [JournalRecord], in directory: Descriptor, system: any SystemCalls
    ) throws(SystemFailure) -> JournalFile {
        let temporary = replacementName(name)
        if try system.statusIfThere(of: temporary, in: directory) != nil {
            try system.unlink(temporary, in: directory)
        }
        do {
            let made = try JournalFile(
                creating: temporary, named: name, records: records, in: directory, system: system)
            try system.syncData(made.descriptor)
            return made
        } catch {
            try? system.unlink(temporary, in: directory)
            throw error
        }
    }

    /// Reads a whole journal.
    /// - Returns: `nil` when it is too long to be one.
    static func bytes(of file: Descriptor, system: any SystemCalls) throws(SystemFailure) -> [UInt8]? {
        let status = try system.status(file)
        guard status.kind == .file, status.size <= JournalFormat.largestSize else { return nil }
        // It may grow between the two calls; what came later than `size` is not needed.
        return try system.read(Int(status.size), from: file, at: 0)
    }

    /// What the journal of that name holds; `nil` when there is no such file, or what has the name is no file.
    static func load(_ name: String, in directory: Descriptor, system: any SystemCalls) throws(SystemFailure)
        -> JournalContents?
    {
        do {
            let file = try system.open(name, in: directory, .read)
            guard try system.status(file).kind == .file else { return nil }
            return JournalReader.read(try bytes(of: file, system: system) ?? [0])
        } catch {
            guard error.isNoSuchName else { throw error }
            return nil
        }
    }
}
