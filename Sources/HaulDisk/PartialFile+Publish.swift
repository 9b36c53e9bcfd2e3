import HaulCore
import HaulPlatform
import Synchronization

/// What publishing does when the name is taken.
package enum PublishPolicy: Hashable, Sendable {
    /// The file or symbolic link there is replaced; its permissions are kept. Never a directory.
    case replace
    /// The next free number is taken.
    case rename
    /// `.nameTaken`.
    case fail
    /// `.nameTaken` too, and also where a download that goes on has the name in mind.
    case yield
}

/// The three ways to end.
extension PartialFile {
    /// Gives the whole file its final name.
    ///
    /// With `sync`, it survives a power cut once this returns: `fsync` of the file, rename, `fsync` of the directory
    /// (one for all who publish in it at the same time). When it fails, bytes and journal stay for a later run.
    ///
    /// - Parameters:
    ///   - policy: what happens when the name is taken.
    ///   - length: bytes of the file; all of them must be committed.
    ///   - origin: kept as extended attributes, where the file system has them.
    ///   - modified: the modification time it gets, seconds since 1970.
    ///   - sync: waits for the disk.
    /// - Returns: the final path.
    /// - Throws: `.removedUnderUs` when somebody took the partial file away; `.incomplete` when bytes are missing.
    package func publish(
        policy: PublishPolicy, length: Int64, origin: FileOrigin?, modified: Int64?, sync: Bool
    ) throws(PartialFailure) -> String {
        let name = try syncing.withLock { (failed) throws(PartialFailure) in
            if let failed { throw .system(failed) }
            try checkWholeStillThere()
            try checkWhole(length)
            let state = state.withLock { $0 }
            let publisher = Publisher(directory: directory)
            try asPartialFailure { () throws(SystemFailure) in
                let size = try system.status(file).size
                reach.store(min(length, reach.load(ordering: .relaxed)), ordering: .releasing)
                if size != length || state.isReserved { try system.truncate(file, to: length) }
            }
            try publisher.finish(
                file, replacing: policy == .replace ? state.header.finalName : nil, origin, modified)
            if sync { try syncWhole(&failed) }
            // Syncing may have taken its time.
            try checkWholeStillThere()
            let name = try publisher.rename(self.name, to: state.header.finalName, policy)
            if sync { try asPartialFailure { () throws(SystemFailure) in try directory.syncNames() } }
            return name
        }
        // The journal goes last: until the new name is on disk it is what makes the old one worth something.
        removeJournal()
        directory.sweepJournals(of: header.finalName)
        close()
        return directory.path(of: name)
    }

    private func checkWhole(_ length: Int64) throws(PartialFailure) {
        let written = usable
        guard written.contains(ByteRange(0, length)) else {
            throw .incomplete(have: written.prefix(below: length).count, length: length)
        }
        let size = try asPartialFailure { () throws(SystemFailure) in try system.status(file).size }
        // Somebody cut it before this run: the bytes that were committed are not there.
        guard size >= length else { throw .removedUnderUs(path: path) }
    }

    private func syncWhole(_ failed: inout SystemFailure?) throws(PartialFailure) {
        do {
            try system.sync(file)
        } catch {
            failed = error
            dropUnsynced()
            throw .system(error)
        }
    }

    /// Lets go of the file and leaves everything for a later run; what is worth nothing is removed.
    /// - Parameter sync: brings it to the disk first, which may take its time; else it is good until the system stops.
    package func keep(sync: Bool = true) {
        do {
            try checkStillThere()
        } catch {
            // The journal must not vouch for a file that somebody put in the place of ours.
            if case .removedUnderUs = error { removeJournal() }
            return close()
        }
        if usable.isEmpty { return discard() }
        if sync { try? makeDurable() }
        close()
    }

    /// Removes the partial file and the journal, unless somebody put other files there.
    package func discard() {
        _ = try? directory.unlink(name, ifStill: identity)
        removeJournal()
        close()
    }

    private func removeJournal() {
        let journal = state.withLock { $0.journal }
        _ = try? directory.unlink(journal.name, ifStill: journal.identity)
        directory.forget(journal: journal.name)
    }

    private func close() {
        file.close()
        state.withLock { $0.journal.descriptor.close() }
    }
}
