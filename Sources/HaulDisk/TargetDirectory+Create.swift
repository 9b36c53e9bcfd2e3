import HaulCore
import HaulPlatform

extension TargetDirectory {
    /// Makes a partial file and its journal, and holds both for this process.
    ///
    /// What stands at the name of a partial file without a journal beside it is somebody's own file, and is left
    /// alone: the next number is taken. One whose journal is damaged is Haul's, and is started over.
    ///
    /// - Parameters:
    ///   - name: the final name; unless it is exact, the first number is taken with which it is free.
    ///   - exactName: the final name may exist (publishing decides) and stays as it is.
    ///   - header: goes into the journal, with the final name that was found free.
    /// - Returns: the file, held.
    /// - Throws: `.busy` or `.nameTaken` when an exact name has a good partial file of the same source already.
    package func createPartial(name: String, exactName: Bool, header: JournalHeader) throws(PartialFailure)
        -> PartialFile
    {
        do {
            return try createAsNamed(name, exactName, header)
        } catch {
            // FAT and its kin refuse some characters.
            guard !exactName, case .system(let failure) = error, failure.isInvalid,
                DiskName.portable(name) != name
            else { throw error }
            return try createAsNamed(DiskName.portable(name), exactName, header)
        }
    }

    private func createAsNamed(_ name: String, _ exactName: Bool, _ header: JournalHeader)
        throws(PartialFailure) -> PartialFile
    {
        guard DiskName.isPlain(name) else { throw .badName(name) }
        let file = try withFreeNumber(name) { (number) throws(PartialFailure) -> PartialFile? in
            var header = header
            header.finalName = exactName ? name : DiskName.numbered(name, number)
            if !exactName, try isTaken(header.finalName) { return nil }
            let partial = DiskName.partial(for: DiskName.numbered(name, number))
            guard let file = try take(partial, exactName: exactName, header: header) else { return nil }
            // Somebody may have published that name since it was looked for.
            guard !exactName, try isTaken(header.finalName) else { return file }
            file.discard()
            return nil
        }
        guard let file else { throw .nameTaken(path: path(of: name)) }
        return file
    }

    func isTaken(_ name: String) throws(PartialFailure) -> Bool {
        try asPartialFailure { () throws(SystemFailure) in try status(of: name) != nil }
    }

    /// - Returns: `nil` when another number is to be tried.
    private func take(_ partial: String, exactName: Bool, header: JournalHeader) throws(PartialFailure)
        -> PartialFile?
    {
        guard try mayHaveJournal(partial) else { return nil }
        do {
            let file = try system.open(partial, in: descriptor, .create)
            // Else another download took it in the very moment between the two calls, since it was empty.
            if try system.lock(file) { return try start(file, partial, header) }
        } catch {
            guard error.isNameTaken else { throw .system(error) }
        }
        return try adopt(partial, exactName: exactName, header: header)
    }

    /// Whether the place of the journal is free, or can be had.
    private func mayHaveJournal(_ partial: String) throws(PartialFailure) -> Bool {
        let there = try asPartialFailure { () throws(SystemFailure) in
            try status(of: DiskName.journal(besidePartial: partial))
        }
        return there?.kind != .directory
    }

    /// Takes a partial file that exists, if it is Haul's, damaged, and nobody's at the moment.
    private func adopt(_ partial: String, exactName: Bool, header: JournalHeader) throws(PartialFailure)
        -> PartialFile?
    {
        switch try settledTaken(partial) {
        case .foreign:
            return nil
        case .held(let contents):
            // Without a header it is being made at this moment; its name tells what for.
            let final = contents?.header?.finalName ?? String(partial.dropLast(DiskName.partialSuffix.count))
            let isSame = !Set(contents?.header?.sources ?? []).isDisjoint(with: header.sources)
            guard isSame || exactName && final == header.finalName else { return nil }
            // Made after this process looked into the directory: whoever waits for it must find it.
            if let held = contents?.header {
                remember(journal: DiskName.journal(besidePartial: partial), held)
            }
            throw .busy(pid: contents?.owner)
        case .good(let contents):
            guard exactName, let other = contents.header, other.finalName == header.finalName,
                !Set(other.sources).isDisjoint(with: header.sources)
            else { return nil }
            throw .nameTaken(path: path(of: partial))
        case .damaged(let file):
            return try asPartialFailure { () throws(SystemFailure) in
                try system.truncate(file, to: 0)
                return try start(file, partial, header)
            }
        }
    }

    /// What stands where a partial file was to be made.
    private enum Taken {
        /// Not Haul's.
        case foreign
        /// Another download's, going on.
        case held(JournalContents?)
        /// Haul's, with a journal that can be read or that a later Haul could read.
        case good(JournalContents)
        /// Haul's, of no use; now locked.
        case damaged(Descriptor)
    }

    /// As `inspectTaken`, once whoever is making the file has said what for: a matter of a moment.
    private func settledTaken(_ partial: String) throws(PartialFailure) -> Taken {
        var taken = try asPartialFailure { () throws(SystemFailure) in try inspectTaken(partial) }
        for _ in 0..<Self.mostPauses {
            guard case .held(let contents) = taken, contents?.header == nil else { break }
            Thread.pauseBriefly()
            taken = try asPartialFailure { () throws(SystemFailure) in try inspectTaken(partial) }
        }
        return taken
    }

    /// A tenth of a second; a disk that takes longer to make a journal is one on which names may get a number more.
    private static var mostPauses: Int { 100 }

    private func inspectTaken(_ partial: String) throws(SystemFailure) -> Taken {
        // What cannot be opened for writing, or is no file, is not ours.
        guard let file = try? system.open(partial, in: descriptor, .update),
            try system.status(file).kind == .file
        else { return .foreign }
        let isLocked = try system.lock(file)
        let journal = DiskName.journal(besidePartial: partial)
        let contents = try JournalFile.load(journal, in: descriptor, system: system)
        guard isLocked else { return .held(contents) }
        let status = try system.status(file)
        guard try self.status(of: partial)?.identity == status.identity else { return .foreign }
        guard let contents else {
            // Empty it is worth nothing to anybody: most likely of a run that was killed before it made the journal.
            return status.size == 0 ? .damaged(file) : .foreign
        }
        switch contents.damage {
        // Started over and killed before it said for what: no later run could ever find it.
        case nil where contents.header?.sources.isEmpty ?? true: return .damaged(file)
        case nil, .newerVersion: return .good(contents)
        case .empty, .foreign, .noHeader: return .damaged(file)
        }
    }

    /// Puts a fresh journal beside an empty partial file that this process holds.
    private func start(_ file: Descriptor, _ partial: String, _ header: JournalHeader) throws(SystemFailure)
        -> PartialFile
    {
        let identity = try system.status(file).identity
        do {
            let journal = try freshJournal(beside: partial, records: firstRecords(header))
            remember(journal: journal.name, header)
            return PartialFile(
                directory: self, name: partial, file: file, identity: identity, journal: journal,
                header: header)
        } catch {
            _ = try? unlink(partial, ifStill: identity)
            throw error
        }
    }

    private func freshJournal(beside partial: String, records: [JournalRecord]) throws(SystemFailure)
        -> JournalFile
    {
        let name = DiskName.journal(besidePartial: partial)
        if try status(of: name) != nil { return try replaceJournal(name, records: records) }
        do {
            return try JournalFile(
                creating: name, named: name, records: records, in: descriptor, system: system)
        } catch {
            // A journal without a header would say that a damaged partial file is here.
            if !error.isNameTaken { try? system.unlink(name, in: descriptor) }
            throw error
        }
    }
}

/// What every way of taking a partial file needs.
extension TargetDirectory {
    func firstRecords(_ header: JournalHeader) -> [JournalRecord] {
        [.header(header), .owner(process: system.processID, boot: system.bootID)]
    }

    /// Puts a new journal in the place of the one with that name, durably: none of the old one's claims stay.
    func replaceJournal(_ name: String, records: [JournalRecord]) throws(SystemFailure) -> JournalFile {
        let made = try JournalFile.replacement(for: name, records: records, in: descriptor, system: system)
        do {
            try system.rename(JournalFile.replacementName(name), to: name, in: descriptor, replacing: true)
        } catch {
            try? system.unlink(JournalFile.replacementName(name), in: descriptor)
            throw error
        }
        try syncNames()
        return made
    }

    /// The process that holds a partial file, by its journal.
    func owner(_ journal: String) -> Int32? {
        (try? JournalFile.load(journal, in: descriptor, system: system))?.owner
    }
}
