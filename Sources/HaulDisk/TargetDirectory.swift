package import HaulCore
package import HaulPlatform

/// A directory that downloads go into: finds partial files, makes them, publishes small files.
///
/// Everything goes through one descriptor, so that the directory may be renamed meanwhile. Any thread may call it;
/// every call may block on the disk.
package final class TargetDirectory: Sendable {
    package let path: String
    let descriptor: Descriptor
    let system: any SystemCalls
    let commits = GroupCommit()
    /// The journals in it: read once, then kept true for what this process does.
    let index = Guarded<JournalIndex?>(nil)
    /// For names with many namesakes: the number to go on with, so that the thousandth asks not for all before it.
    private let nextNumbers = Guarded<[String: Int]>([:])

    private init(path: String, descriptor: Descriptor, system: any SystemCalls) {
        self.path = path
        self.descriptor = descriptor
        self.system = system
    }

    /// Opens a directory; when `creating`, makes what is missing of its path, and makes that durable.
    package static func open(_ path: String, creating: Bool, system: any SystemCalls) throws(SystemFailure)
        -> TargetDirectory
    {
        let path = path.isEmpty ? "." : path
        return TargetDirectory(
            path: path, descriptor: try openPath(path, creating: creating, system: system), system: system)
    }

    private static func openPath(_ path: String, creating: Bool, system: any SystemCalls)
        throws(SystemFailure)
        -> Descriptor
    {
        do {
            return try system.open(path, in: nil, .directory)
        } catch {
            guard creating, error.isNoSuchName else { throw error }
        }
        let (parentPath, name) = split(path)
        guard !name.isEmpty else { throw SystemFailure.noSuchName(path) }
        let parent = try openPath(parentPath, creating: true, system: system)
        do {
            try system.makeDirectory(name, in: parent)
        } catch {
            // Somebody else made it: just as well.
            guard error.isNameTaken else { throw error }
        }
        try system.sync(parent)
        return try system.open(path, in: nil, .directory)
    }

    private static func split(_ path: String) -> (parent: String, name: String) {
        var trimmed = path[...]
        while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed = trimmed.dropLast() }
        guard let slash = trimmed.lastIndex(of: "/") else { return (".", String(trimmed)) }
        let parent = trimmed[..<slash]
        return (parent.isEmpty ? "/" : String(parent), String(trimmed[slash...].dropFirst()))
    }

    /// The path of a name in it.
    package func path(of name: String) -> String { descriptor.path(of: name) }

    /// Blocks until all names that were made, changed or removed before are on disk; shared by whoever waits.
    func syncNames() throws(SystemFailure) { try commits.sync(descriptor, system: system) }

    /// Tries the name with number after number until `body` answers something.
    /// - Returns: `nil` when no number was good.
    func withFreeNumber<Value, Failure>(_ name: String, _ body: (Int) throws(Failure) -> Value?)
        throws(Failure) -> Value?
    {
        var number = 0
        while number < 100_000 {
            if let value = try body(number) {
                if number >= Self.smallNumbers { nextNumbers.withLock { $0[name] = number + 1 } }
                return value
            }
            number += 1
            if number == Self.smallNumbers { number = nextNumbers.withLock { $0[name] } ?? number }
        }
        return nil
    }

    /// Numbers below are tried anew each time: they may have become free.
    private static let smallNumbers = 8

    func status(of name: String) throws(SystemFailure) -> FileStatus? {
        try system.statusIfThere(of: name, in: descriptor)
    }

    /// Removes a name only while it leads to that very file.
    /// - Returns: whether it did.
    @discardableResult
    func unlink(_ name: String, ifStill identity: FileIdentity) throws(SystemFailure) -> Bool {
        guard try status(of: name)?.identity == identity else { return false }
        try system.unlink(name, in: descriptor)
        return true
    }
}

/// Something that has a name in the directory already.
package struct ExistingFile: Hashable, Sendable {
    package var kind: FileStatus.Kind
    /// Bytes.
    package var size: Int64
    /// Seconds since 1970.
    package var modified: Int64
    /// Where it came from; `nil` when that is unknown, or when it was changed since.
    package var origin: FileOrigin?
}

extension TargetDirectory {
    /// The number of this process, as a journal names its owner.
    package var processID: Int32 { system.processID }

    /// The digests of the file of that name; a symbolic link is not followed.
    package func digests(_ name: String, algorithms: Set<ChecksumAlgorithm>) throws(SystemFailure)
        -> [ChecksumValue]
    {
        let file = try system.open(name, in: descriptor, .read)
        let context = DigestContext(algorithms)
        try FileDigest.feed(context, from: file, ByteRange(0, .max), system: system)
        return context.finish()
    }

    /// Whether the file of that name holds these bytes and no others; one that cannot be read does not.
    package func holds(_ bytes: [UInt8], in name: String) -> Bool {
        (try? holds(name, length: Int64(bytes.count)) { range in
            bytes[Int(range.lower)..<Int(range.upper)]
        }) ?? false
    }

    /// Compares a file of that length piece by piece.
    func holds(
        _ name: String, length: Int64, _ piece: (ByteRange) throws(SystemFailure) -> ArraySlice<UInt8>
    ) throws(SystemFailure) -> Bool {
        let file = try system.open(name, in: descriptor, .read)
        let status = try system.status(file)
        guard status.size == length else { return false }
        var start: Int64 = 0
        while start < length {
            let range = ByteRange(at: start, count: min(Int64(FileDigest.chunk), length - start))
            guard try system.read(Int(range.count), from: file, at: start)[...] == piece(range) else {
                return false
            }
            start = range.upper
        }
        // Reading may have taken its time: the name must still lead to what was read, as it was.
        return try self.status(of: name) == status
    }

    /// What has that name; a symbolic link is told as such, not followed.
    package func existing(_ name: String) throws(SystemFailure) -> ExistingFile? {
        guard let status = try status(of: name) else { return nil }
        var file = ExistingFile(
            kind: status.kind, size: status.size, modified: status.modified / 1_000_000_000)
        // A file that cannot be opened keeps its origin to itself.
        if status.kind == .file, let opened = try? system.open(name, in: descriptor, .read) {
            file.origin = try? FileOrigin.read(
                from: opened, status: system.status(opened), system: system)
        }
        return file
    }
}
