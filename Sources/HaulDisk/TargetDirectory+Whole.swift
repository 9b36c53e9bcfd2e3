import HaulCore
import HaulPlatform

/// A small file whose bytes are all in memory.
package struct WholeFile: Hashable, Sendable {
    package var bytes: [UInt8]
    /// The final name.
    package var name: String
    package var policy: PublishPolicy
    package var origin: FileOrigin?
    /// The modification time it gets, seconds since 1970.
    package var modified: Int64?

    package init(
        bytes: [UInt8], name: String, policy: PublishPolicy, origin: FileOrigin? = nil, modified: Int64? = nil
    ) {
        self.bytes = bytes
        self.name = name
        self.policy = policy
        self.origin = origin
        self.modified = modified
    }
}

extension TargetDirectory {
    /// Writes and publishes one whole file.
    ///
    /// Until it has its name it has none at all (`O_TMPFILE`), so that nothing is left when the process is killed; where
    /// that is not supported it goes through a partial file with a journal.
    ///
    /// - Returns: the final path.
    package func publishWhole(
        _ bytes: [UInt8], as name: String, policy: PublishPolicy, origin: FileOrigin?, modified: Int64?,
        sync: Bool
    ) throws(PartialFailure) -> String {
        let file = WholeFile(bytes: bytes, name: name, policy: policy, origin: origin, modified: modified)
        return try publishChunk([file], sync)[0].get()
    }

    /// Writes and publishes many files with as few waits for the disk as possible; several threads may do so at once.
    ///
    /// All are written, then synced, then named; then one `fsync` of the directory serves them all, and also what
    /// other threads publish at that time.
    ///
    /// - Returns: the final path or the failure of each, in the order given.
    package func publishWhole(batch: [WholeFile], sync: Bool = true) -> [Result<String, PartialFailure>] {
        var results: [Result<String, PartialFailure>] = []
        // Each holds a descriptor until it has its name.
        for start in stride(from: 0, to: batch.count, by: 64) {
            results += publishChunk(Array(batch[start..<min(start + 64, batch.count)]), sync)
        }
        return results
    }

    private func publishChunk(_ files: [WholeFile], _ sync: Bool) -> [Result<String, PartialFailure>] {
        var written = files.map { file in Result { () throws(PartialFailure) in try write(file, sync) } }
        if sync { written = synced(written) }
        let named = zip(files, written).map { file, written in
            Result { () throws(PartialFailure) in try name(file, written.get()) }
        }
        guard sync, named.contains(where: { (try? $0.get()) != nil }) else { return named }
        do {
            try syncNames()
            return named
        } catch {
            return named.map { $0.flatMap { _ in .failure(.system(error)) } }
        }
    }

    /// Brings all the bytes to the disk before the first file gets its name.
    ///
    /// With all the writing under way one commit of the file system serves many files; a name given in between would
    /// change its neighbours in the list of unnamed files and cost a commit each (ext4).
    private func synced(_ written: [Result<Written, PartialFailure>]) -> [Result<Written, PartialFailure>] {
        for case .success(.unnamed(let file)) in written {
            system.startWriteback(file, from: 0, count: 0)
        }
        return written.map { written in
            Result { () throws(PartialFailure) in
                let written = try written.get()
                guard case .unnamed(let file) = written else { return written }
                try asPartialFailure { () throws(SystemFailure) in try system.sync(file) }
                return written
            }
        }
    }

    private enum Written {
        case unnamed(Descriptor)
        /// It went through a partial file and has its name: the path.
        case published(String)
    }

    private func write(_ file: WholeFile, _ sync: Bool) throws(PartialFailure) -> Written {
        guard DiskName.isPlain(file.name) else { throw .badName(file.name) }
        let unnamed: Descriptor
        do {
            unnamed = try system.open(file.name, in: descriptor, .unnamed)
        } catch {
            guard error.isUnsupported || error.isNoSuchName || error.isDirectory else { throw .system(error) }
            return .published(try publishThroughPartial(file, sync: sync))
        }
        try asPartialFailure { () throws(SystemFailure) in try system.writeAll(file.bytes, to: unnamed, at: 0)
        }
        try Publisher(directory: self).finish(
            unnamed, replacing: file.policy == .replace ? file.name : nil, file.origin, file.modified)
        return .unnamed(unnamed)
    }

    private func name(_ file: WholeFile, _ written: Written) throws(PartialFailure) -> String {
        switch written {
        case .published(let path):
            return path
        case .unnamed(let unnamed):
            let name = try Publisher(directory: self).claim(file.name, file.policy) {
                (name) throws(SystemFailure) in
                try link(unnamed, as: name, file.policy)
            }
            return path(of: name)
        }
    }

    private func link(_ file: Descriptor, as name: String, _ policy: PublishPolicy) throws(SystemFailure) {
        let partial = DiskName.partial(for: name)
        if policy == .rename || policy == .yield,
            try status(of: DiskName.journal(besidePartial: partial)) != nil,
            try status(of: partial) != nil
        {
            // A download that goes on has this name in mind.
            throw SystemFailure.nameTaken(path(of: name))
        }
        do {
            try system.link(file, as: name, in: descriptor)
        } catch {
            guard policy == .replace, error.isNameTaken else { throw error }
            try linkReplacing(file, as: name)
        }
    }

    /// A link cannot replace: the file gets a name beside, and is renamed over the old one.
    private func linkReplacing(_ file: Descriptor, as name: String) throws(SystemFailure) {
        let beside = try withFreeNumber(name) { (number) throws(SystemFailure) -> String? in
            let beside = DiskName.partial(for: DiskName.numbered(name, number))
            do throws(SystemFailure) {
                try system.link(file, as: beside, in: descriptor)
                return beside
            } catch {
                guard error.isNameTaken else { throw error }
                return nil
            }
        }
        guard let beside else { throw SystemFailure.nameTaken(path(of: name)) }
        do {
            try system.rename(beside, to: name, in: descriptor, replacing: true)
        } catch {
            try? system.unlink(beside, in: descriptor)
            throw error
        }
    }

    private func publishThroughPartial(_ file: WholeFile, sync: Bool) throws(PartialFailure) -> String {
        let length = Int64(file.bytes.count)
        let header = JournalHeader(
            sources: file.origin?.sources ?? [],
            file: RemoteFile(length: length, validator: file.origin?.validator ?? Validator()),
            finalName: file.name)
        let isExact = file.policy == .replace || file.policy == .fail
        let partial = try createPartial(name: file.name, exactName: isExact, header: header)
        do {
            try asPartialFailure { () throws(SystemFailure) in
                try system.writeAll(file.bytes, to: partial.file, at: 0)
                try partial.commit(ByteRange(0, length))
            }
            return try partial.publish(
                policy: file.policy, length: length, origin: file.origin, modified: file.modified, sync: sync)
        } catch {
            partial.discard()
            throw error
        }
    }
}
