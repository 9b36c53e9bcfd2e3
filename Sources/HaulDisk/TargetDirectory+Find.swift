package import HaulCore
package import HaulPlatform

/// A partial file that an earlier run left, as its journal tells; `TargetDirectory.reopen` takes it.
package struct FoundPartial: Hashable, Sendable {
    package var partialName: String
    package var finalName: String
    /// What was known of the remote file; `nil` when the journal is damaged.
    package var facts: RemoteFile?
    package var sources: [SourceDigest]
    /// The bytes that are really there.
    package var usable: RangeSet
    /// Why nothing of the journal can be believed; the file is Haul's all the same, and may be started over.
    package var damage: JournalDamage?
    /// Whether it comes from one of the sources that were asked for.
    package var matchesURL: Bool

    package var isDamaged: Bool { damage != nil }
    package var isComplete: Bool {
        guard let length = facts?.length else { return false }
        return usable.contains(ByteRange(0, length))
    }
}

extension TargetDirectory {
    /// The partial file of a download from one of these sources: the one with the most usable bytes.
    ///
    /// Journals that other processes make later than the first call are not seen.
    package func findPartial(_ digests: [SourceDigest]) throws(SystemFailure) -> FoundPartial? {
        let names = try withIndex { $0.journals(of: digests) }
        return try best(names, digests: digests) { $0.matchesURL }
    }

    /// The partial file that is to become that name, whatever its sources, damaged or not.
    package func partial(forExplicitName name: String, digests: [SourceDigest] = []) throws(SystemFailure)
        -> FoundPartial?
    {
        let usual = DiskName.journal(besidePartial: DiskName.partial(for: name))
        let names = try withIndex { $0.journals(finalName: name) }
        return try best([usual] + names.filter { $0 != usual }, digests: digests) {
            $0.finalName == name || $0.isDamaged
        }
    }

    private func best(_ journals: [String], digests: [SourceDigest], where fits: (FoundPartial) -> Bool)
        throws(SystemFailure) -> FoundPartial?
    {
        var best: FoundPartial?
        for name in journals {
            guard let found = try load(journal: name, digests: digests), fits(found) else { continue }
            if best.map({ isBetter(found, than: $0) }) ?? true { best = found }
        }
        return best
    }

    /// Of the right source first, then the one with the most usable bytes.
    private func isBetter(_ one: FoundPartial, than other: FoundPartial) -> Bool {
        one.matchesURL == other.matchesURL
            ? one.usable.count > other.usable.count : one.matchesURL
    }

    private func load(journal: String, digests: [SourceDigest]) throws(SystemFailure) -> FoundPartial? {
        guard let contents = try JournalFile.load(journal, in: descriptor, system: system) else {
            forget(journal: journal)
            return nil
        }
        let partial = String(journal.dropLast(DiskName.journalSuffix.count - DiskName.partialSuffix.count))
        let status = try status(of: partial)
        let finalName = contents.header?.finalName ?? String(partial.dropLast(DiskName.partialSuffix.count))
        if status == nil, try self.status(of: finalName) != nil {
            // Published, and stopped before the journal could go. It holds nothing: there is no partial file.
            try? system.unlink(journal, in: descriptor)
            forget(journal: journal)
            return nil
        }
        // A symbolic link or a directory of that name is not a partial file.
        if let status, status.kind != .file { return nil }
        return FoundPartial(
            partialName: partial, finalName: finalName, facts: contents.header?.file,
            sources: contents.header?.sources ?? [],
            usable: contents.usable(boot: system.bootID, size: status?.size ?? 0), damage: contents.damage,
            matchesURL: !Set(contents.header?.sources ?? []).isDisjoint(with: digests))
    }

    /// Removes journals for that final name whose partial file is gone: a kill between the two removals leaves one.
    func sweepJournals(of finalName: String) {
        let names = (try? withIndex { $0.journals(finalName: finalName) }) ?? []
        for name in names {
            let partial = String(name.dropLast(DiskName.journalSuffix.count)) + ".part"
            guard (try? status(of: partial)) == .some(.none) else { continue }
            try? system.unlink(name, in: descriptor)
            forget(journal: name)
        }
    }

    /// Works with the index, which is made at the first use.
    private func withIndex<Value: Sendable>(_ body: (JournalIndex) -> Value) throws(SystemFailure) -> Value {
        try index.withLock { (index) throws(SystemFailure) in
            if let index { return body(index) }
            let made = try readIndex()
            index = made
            return body(made)
        }
    }

    private func readIndex() throws(SystemFailure) -> JournalIndex {
        var index = JournalIndex()
        for name in try system.list(descriptor) where name.hasSuffix(DiskName.journalSuffix) {
            // A journal that cannot be opened or read cannot be taken either.
            guard let contents = try? JournalFile.load(name, in: descriptor, system: system),
                let header = contents.header
            else { continue }
            index[name] = JournalIndex.Entry(sources: header.sources, finalName: header.finalName)
        }
        return index
    }

    func remember(journal: String, _ header: JournalHeader) {
        index.withLock {
            $0?[journal] = JournalIndex.Entry(sources: header.sources, finalName: header.finalName)
        }
    }

    func forget(journal: String) { index.withLock { $0?[journal] = nil } }
}
