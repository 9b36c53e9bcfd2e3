import HaulCore
import HaulPlatform
import Synchronization

/// Space, and what survives a power cut.
extension PartialFile {
    /// Makes sure that there is room for a file of that length, and holds it where that is cheap.
    /// - Throws: `.noSpace` or `.tooLarge`, before a byte is written.
    package func reserve(_ length: Int64) throws(PartialFailure) {
        let (volume, status) = try asPartialFailure { () throws(SystemFailure) in
            (try system.volume(file), try system.status(file))
        }
        guard length <= volume.largestFile else { throw .tooLarge(limit: volume.largestFile) }
        let needed = max(0, length - status.allocated)
        guard needed <= volume.free else { throw .noSpace(needed: needed, free: volume.free) }
        guard volume.reservesCheaply, needed > 0 else { return }
        do {
            try system.reserve(file, upTo: length)
            state.withLock { $0.isReserved = true }
        } catch {
            if error.isNoSpace { throw .noSpace(needed: needed, free: volume.free) }
            if error.isTooLarge { throw .tooLarge(limit: volume.largestFile) }
            // Anything else is about reserving only: writing will show.
        }
    }

    /// Brings everything that was committed to the disk, then says so in the journal, and brings that to the disk.
    ///
    /// A failed sync is final: the system may have dropped the bytes, and a second sync would not tell. What is
    /// claimed then shrinks to what was durable before.
    ///
    /// - Throws: `.removedUnderUs` when the partial file has lost its name.
    package func makeDurable() throws(PartialFailure) {
        try syncing.withLock { (failed) throws(PartialFailure) in
            if let failed { throw .system(failed) }
            try makeDurable(&failed)
        }
    }

    /// For whoever holds `syncing`.
    func makeDurable(_ failed: inout SystemFailure?) throws(PartialFailure) {
        try checkWholeStillThere()
        let (snapshot, isDone) = state.withLock {
            ($0.written, $0.namesAreDurable && $0.written == $0.durable)
        }
        if isDone { return }
        try syncData(&failed)
        try asPartialFailure { () throws(SystemFailure) in
            let journal = try state.withLock { (state) throws(SystemFailure) in
                try state.append([.durable(snapshot)], system: system)
                return state.journal
            }
            try system.syncData(journal.descriptor)
            try makeNamesDurable()
            state.withLock { $0.durable = snapshot }
            let wasRemoved = try system.status(journal.descriptor).links == 0
            if wasRemoved || journal.end > JournalFormat.compactionSize { try compact() }
        }
    }

    /// `fdatasync` of the bytes.
    private func syncData(_ failed: inout SystemFailure?) throws(PartialFailure) {
        do {
            try system.syncData(file)
        } catch {
            failed = error
            dropUnsynced()
            throw .system(error)
        }
    }

    /// After a failed sync only what was durable before is still believed, by this run and by later ones.
    func dropUnsynced() {
        state.withLock { $0.written = $0.durable }
        try? compact()
    }

    private func makeNamesDurable() throws(SystemFailure) {
        if state.withLock({ $0.namesAreDurable }) { return }
        try directory.syncNames()
        state.withLock { $0.namesAreDurable = true }
    }

    /// Writes the journal anew with what is true now; commits go on meanwhile, and into both.
    func compact() throws(SystemFailure) {
        let (name, records) = state.withLock { state in
            state.following = []
            return (state.journal.name, directory.firstRecords(state.header) + state.claims)
        }
        defer { state.withLock { $0.following = nil } }
        let made = try JournalFile.replacement(
            for: name, records: records, in: directory.descriptor, system: system)
        do {
            try state.withLock { (state) throws(SystemFailure) in
                var journal = made
                try journal.append(state.following ?? [], system: system)
                try system.rename(
                    JournalFile.replacementName(name), to: name, in: directory.descriptor, replacing: true)
                state.journal = journal
            }
        } catch {
            try? system.unlink(JournalFile.replacementName(name), in: directory.descriptor)
            throw error
        }
        try directory.syncNames()
    }

    /// Starts the file over: another version, other facts.
    ///
    /// None of the old bytes can be believed afterwards, whenever
    /// the power goes: the journal without them is on disk before the file is touched.
    package func restart(header: JournalHeader) throws(PartialFailure) {
        try syncing.withLock { (failed) throws(PartialFailure) in
            try checkStillThere()
            try asPartialFailure { () throws(SystemFailure) in
                let name = state.withLock { state in
                    state.header = header
                    state.written = RangeSet()
                    state.durable = RangeSet()
                    return state.journal.name
                }
                try compact()
                reach.store(0, ordering: .releasing)
                try system.truncate(file, to: 0)
                state.withLock { $0.isReserved = false }
                directory.remember(journal: name, header)
            }
            failed = nil
        }
        digests.withLock { $0?.spoil() }
    }

    /// Throws unless the name still leads to the file that is held.
    func checkStillThere() throws(PartialFailure) {
        let there = try asPartialFailure { () throws(SystemFailure) in try directory.status(of: name) }
        guard there?.identity == identity else { throw .removedUnderUs(path: path) }
    }

    /// Throws unless the name still leads to the file that is held, and nobody cut it.
    func checkWholeStillThere() throws(PartialFailure) {
        // Before the look at the file: it only grows meanwhile.
        let expected = reach.load(ordering: .acquiring)
        let there = try asPartialFailure { () throws(SystemFailure) in try directory.status(of: name) }
        guard let there, there.identity == identity, there.size >= expected else {
            throw .removedUnderUs(path: path)
        }
    }
}

extension PartialFile.State {
    /// Records that claim exactly what is claimed now.
    var claims: [JournalRecord] {
        [.durable(durable)] + written.ranges.map { .written($0) }
    }
}
