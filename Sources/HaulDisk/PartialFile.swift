package import HaulCore
package import HaulPlatform
import Synchronization

/// `NAME.part` and its journal, held by this process until it is published, kept or discarded.
///
/// `write` and `commit` are for the transfer thread, everything else for threads that may block. When the last
/// reference goes, both files are closed as they are: what was committed stays usable.
package final class PartialFile: ByteSink {
    package let directory: TargetDirectory
    /// The name of the partial file in the directory.
    package let name: String
    let system: any SystemCalls
    let file: Descriptor
    let identity: FileIdentity
    let state: Guarded<State>
    /// Held by whoever syncs, restarts or ends: one at a time.
    ///
    /// Guards the reason why syncing makes no sense any more.
    let syncing = Guarded<SystemFailure?>(nil)
    let digests = Guarded<OrderedDigests?>(nil)
    private let hasDigests = Atomic(false)
    /// The file is at least so long, unless somebody else cut it.
    let reach: Atomic<Int64>

    struct State {
        var journal: JournalFile
        var header: JournalHeader
        /// Bytes that were committed.
        var written: RangeSet
        /// Bytes that are on disk, and that the journal says are.
        var durable: RangeSet
        /// The directory's entries for both files are on disk.
        var namesAreDurable = false
        /// Records that must also go into the journal that is being made to replace this one.
        var following: [JournalRecord]?
        /// Reserved blocks may lie behind the end of the file.
        var isReserved = false
    }

    init(
        directory: TargetDirectory, name: String, file: Descriptor, identity: FileIdentity,
        journal: JournalFile,
        header: JournalHeader, written: RangeSet = RangeSet(), durable: RangeSet = RangeSet()
    ) {
        self.directory = directory
        self.name = name
        self.file = file
        self.identity = identity
        system = directory.system
        state = Guarded(State(journal: journal, header: header, written: written, durable: durable))
        reach = Atomic(max(written.ranges.last?.upper ?? 0, durable.ranges.last?.upper ?? 0))
    }

    /// The path of the partial file.
    package var path: String { directory.path(of: name) }
    /// What the journal says about the remote file, sources and final name.
    package var header: JournalHeader { state.withLock { $0.header } }
    /// The bytes that are there and good: those of earlier runs, and what was committed since.
    package var usable: RangeSet { state.withLock { $0.written } }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemFailure) {
        // Nothing written is nothing claimed, however far behind the end it would stand.
        guard !bytes.isEmpty else { return }
        // A write beyond the end of a file that was cut would hide the cut, and leave a hole of zeros.
        try checkLength()
        if hasDigests.load(ordering: .acquiring) {
            if try changesDigested(bytes, at: offset) { digests.withLock { $0?.spoil() } }
            try system.writeAll(bytes, to: file, at: offset)
            digests.withLock { $0?.wrote(bytes, at: offset) }
        } else {
            try system.writeAll(bytes, to: file, at: offset)
        }
        let end = offset + Int64(bytes.count)
        if end > reach.load(ordering: .relaxed) { reach.store(end, ordering: .releasing) }
    }

    /// Throws when the file is shorter than what was written to it: somebody cut it.
    ///
    /// What was cut off is never believed again: the journal's claims count only as far as the file reaches.
    func checkLength() throws(SystemFailure) {
        let expected = reach.load(ordering: .acquiring)
        guard try system.size(file) < expected else { return }
        throw SystemFailure.lost(path)
    }

    package func commit(_ range: ByteRange) throws(SystemFailure) {
        try state.withLock { (state) throws(SystemFailure) in
            state.written.insert(range)
            try state.append([.written(range)], system: system)
        }
    }

    /// The bytes of a range; fewer when the file ends before.
    package func read(_ range: ByteRange) throws(SystemFailure) -> [UInt8] {
        try system.read(Int(range.count), from: file, at: range.lower)
    }

    /// Whether the file of that name beside it holds its first `length` bytes and no others.
    package func isCopied(in name: String, length: Int64) -> Bool {
        (try? directory.holds(name, length: length) { (range) throws(SystemFailure) in try read(range)[...] })
            ?? false
    }

    /// Asks the system to start writing these bytes to the disk and waits for nothing; for any thread.
    package func startWriteback(_ range: ByteRange) {
        system.startWriteback(file, from: range.lower, count: range.count)
    }

    /// Notes what was learnt about the remote file, or a new source; all bytes stay good.
    package func updateHeader(_ header: JournalHeader) throws(SystemFailure) {
        let journal = try state.withLock { (state) throws(SystemFailure) in
            state.header = header
            try state.append([.header(header)], system: system)
            return state.journal.name
        }
        directory.remember(journal: journal, header)
    }
}

extension PartialFile.State {
    mutating func append(_ records: [JournalRecord], system: any SystemCalls) throws(SystemFailure) {
        following?.append(contentsOf: records)
        try journal.append(records, system: system)
    }
}

/// Digests made while the bytes are hot.
extension PartialFile {
    /// From now on, bytes that come in order are hashed as they are written.
    package func startDigests(_ algorithms: Set<ChecksumAlgorithm>) {
        digests.withLock { $0 = algorithms.isEmpty ? nil : OrderedDigests(algorithms) }
        hasDigests.store(!algorithms.isEmpty, ordering: .releasing)
    }

    /// Hashes committed bytes that came out of order, as far as they join what is hashed; reads at most `limit`.
    package func catchUpDigests(limit: Int64 = .max) throws(SystemFailure) {
        let end = state.withLock { $0.written.contiguousEnd }
        try hash(below: end, limit: limit)
    }

    /// Hashes what is still missing, and tells the digests of the first `length` bytes.
    ///
    /// Nobody may write meanwhile.
    ///
    /// - Returns: nothing when no digests were started.
    package func finishDigests(length: Int64) throws(SystemFailure) -> [ChecksumValue] {
        try hash(below: length, limit: .max)
        let (context, isWhole) = digests.withLock { digests in
            (digests?.takeOut(toReadBelow: length), digests?.position == length)
        }
        startDigests([])
        guard let context, isWhole else { return [] }
        return context.finish()
    }

    private func hash(below end: Int64, limit: Int64) throws(SystemFailure) {
        let taken = digests.withLock { digests -> (DigestContext, ByteRange)? in
            guard let position = digests?.position, position < end else { return nil }
            let range = ByteRange(at: position, count: min(limit, end - position))
            return digests?.takeOut(toReadBelow: range.upper).map { ($0, range) }
        }
        guard let (context, range) = taken else { return }
        var covered = range.lower
        defer { digests.withLock { $0?.putBack(context, covered: covered) } }
        covered += try FileDigest.feed(context, from: file, range, system: system)
    }

    /// Whether a write would give other values to bytes that are in the digests already.
    private func changesDigested(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemFailure)
        -> Bool
    {
        let position = digests.withLock { $0?.reach ?? 0 }
        guard offset < position else { return false }
        let overlap = bytes.prefix(Int(min(Int64(bytes.count), position - offset)))
        return try system.read(overlap.count, from: file, at: offset) != Array(overlap)
    }
}
