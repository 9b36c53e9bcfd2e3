import HaulCore
import HaulPlatform

extension TargetDirectory {
    /// Takes a partial file that was found, and reads its journal again now that nobody else may change it.
    ///
    /// A deleted partial file is made anew, empty; one whose journal is damaged is emptied. What the journal claims
    /// beyond the file's end is struck out of it, so that bytes written later cannot make it look true again.
    ///
    /// - Throws: `.busy` when another download holds it; `.removedUnderUs` when it is not there any more.
    package func reopen(_ found: FoundPartial) throws(PartialFailure) -> PartialFile {
        // Each turn somebody else removed or made the file between two calls.
        for _ in 0..<10 {
            let outcome = try asPartialFailure { () throws(SystemFailure) in
                try openAndLock(found.partialName)
            }
            guard let taken = outcome else { continue }
            guard taken.isLocked else {
                throw .busy(pid: owner(DiskName.journal(besidePartial: found.partialName)))
            }
            let file = Result { () throws(SystemFailure) in try resume(taken, found) }
            if case .success(let file?) = file { return file }
            // Nothing without a journal is left behind.
            if taken.wasMade { _ = try? unlink(found.partialName, ifStill: taken.status.identity) }
            if case .failure(let failure) = file { throw .system(failure) }
            break
        }
        throw .removedUnderUs(path: path(of: found.partialName))
    }

    private struct TakenFile {
        var file: Descriptor
        var status: FileStatus
        var wasMade: Bool
        var isLocked: Bool
    }

    /// - Returns: `nil` when the name changed meanwhile.
    private func openAndLock(_ partial: String) throws(SystemFailure) -> TakenFile? {
        let wasThere = try status(of: partial) != nil
        let file: Descriptor
        do {
            file = try system.open(partial, in: descriptor, wasThere ? .update : .create)
        } catch {
            guard error.isNoSuchName || error.isNameTaken else { throw error }
            return nil
        }
        let isLocked = try system.lock(file)
        let status = try system.status(file)
        guard status.kind == .file, try self.status(of: partial)?.identity == status.identity else {
            return nil
        }
        return TakenFile(file: file, status: status, wasMade: !wasThere, isLocked: isLocked)
    }

    /// - Returns: `nil` when the journal is gone: the download ended elsewhere.
    private func resume(_ taken: TakenFile, _ found: FoundPartial) throws(SystemFailure) -> PartialFile? {
        let name = DiskName.journal(besidePartial: found.partialName)
        guard let journal = try openJournal(name) else { return nil }
        let bytes = try JournalFile.bytes(of: journal, system: system)
        let contents = JournalReader.read(bytes ?? [0])
        // An unfinished replacement of an earlier run.
        let leftover = JournalFile.replacementName(name)
        if try status(of: leftover) != nil { try system.unlink(leftover, in: descriptor) }
        guard let header = contents.header else { return try startOver(taken, found, name) }
        return try goOn(taken, found, header, JournalState(file: journal, name: name, contents: contents))
    }

    private func openJournal(_ name: String) throws(SystemFailure) -> Descriptor? {
        do {
            return try system.open(name, in: descriptor, .update)
        } catch {
            guard error.isNoSuchName else { throw error }
            return nil
        }
    }

    private struct JournalState {
        var file: Descriptor
        var name: String
        var contents: JournalContents
    }

    private func goOn(
        _ taken: TakenFile, _ found: FoundPartial, _ header: JournalHeader, _ journal: JournalState
    )
        throws(SystemFailure) -> PartialFile
    {
        let contents = journal.contents
        let usable = contents.usable(boot: system.bootID, size: taken.status.size)
        let durable = contents.durable.prefix(below: taken.status.size)
        let claimsHold =
            usable == contents.usable(boot: system.bootID, size: .max) && durable == contents.durable
        let file: JournalFile
        if claimsHold, contents.validLength < JournalFormat.compactionSize {
            var whole = JournalFile(
                name: journal.name, descriptor: journal.file, status: try system.status(journal.file),
                contents: contents)
            try whole.append([.owner(process: system.processID, boot: system.bootID)], system: system)
            file = whole
        } else {
            file = try replaceJournal(
                journal.name,
                records: firstRecords(header) + [.durable(durable)] + usable.ranges.map { .written($0) })
        }
        remember(journal: journal.name, header)
        return PartialFile(
            directory: self, name: found.partialName, file: taken.file, identity: taken.status.identity,
            journal: file, header: header, written: usable, durable: durable)
    }

    private func startOver(_ taken: TakenFile, _ found: FoundPartial, _ journal: String) throws(SystemFailure)
        -> PartialFile
    {
        let header = JournalHeader(sources: [], file: RemoteFile(), finalName: found.finalName)
        try system.truncate(taken.file, to: 0)
        let file = try replaceJournal(journal, records: firstRecords(header))
        remember(journal: journal, header)
        return PartialFile(
            directory: self, name: found.partialName, file: taken.file, identity: taken.status.identity,
            journal: file, header: header)
    }
}
