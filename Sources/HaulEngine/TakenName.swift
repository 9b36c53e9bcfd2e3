import HaulCore
import HaulDisk
import HaulPlatform

/// What a file that has the wanted name already means for the download.
///
/// Blocking.
struct TakenName: Sendable {
    let policy: ExistingFilePolicy
    /// Source and validator of what is about to come; `nil`: not to be compared.
    let known: FileOrigin?
    /// Where it is about to come from; empty: no file gives way to it.
    var sources: [SourceDigest] = []
    /// What the user says that it must be; empty: no file is looked into.
    var checksums: [ChecksumValue] = []
    /// A file of that name was looked into already, and is another.
    var outdatedName: String?
    /// Something had the expected name before the first request.
    var isLikely = false

    enum Finding: Hashable, Sendable {
        /// The policy of publishing decides.
        case free
        /// The file there is the one that is wanted: its path.
        case suffices(path: String)
        /// The file there came from the same source and is not what is wanted any more.
        case givesWay
    }

    /// Looks what has that name.
    ///
    /// - Throws: `.nameTaken` under the policy `fail`.
    func look(_ name: String, in directory: TargetDirectory) throws(PartialFailure) -> Finding {
        guard policy == .skip || policy == .fail || !sources.isEmpty,
            let existing = try existing(name, in: directory), existing.kind != .directory
        else { return .free }
        let path = directory.path(of: name)
        if policy == .fail { throw .nameTaken(path: path) }
        if policy == .skip { return .suffices(path: path) }
        guard checksums.isEmpty else {
            if name != outdatedName, TakenName.holds(existing, name, in: directory, checksums) {
                return .suffices(path: path)
            }
            return isOurs(existing) ? .givesWay : .free
        }
        return isSame(existing) ? .suffices(path: path) : .free
    }

    /// Whether the file of that name came from the same source, and `isCopy` finds the very bytes in it.
    ///
    /// A server without validators cannot say that nothing has changed; the bytes can.
    func isUnchanged(_ name: String, in directory: TargetDirectory, isCopy: () -> Bool) -> Bool {
        guard !sources.isEmpty, checksums.isEmpty, let existing = try? directory.existing(name),
            isOurs(existing)
        else { return false }
        return isCopy()
    }

    /// Whether a file that holds the checksums replaces what has its name: a file from the same source that did not.
    func givesWay(_ name: String, in directory: TargetDirectory) throws(PartialFailure) -> Bool {
        guard !checksums.isEmpty, let existing = try existing(name, in: directory) else { return false }
        return isOurs(existing)
    }

    /// Whether a file there is the one with these checksums.
    static func holds(
        _ existing: ExistingFile, _ name: String, in directory: TargetDirectory, _ checksums: [ChecksumValue]
    ) -> Bool {
        guard existing.kind == .file, !checksums.isEmpty else { return false }
        // One that cannot be read proves nothing.
        let found = try? directory.digests(name, algorithms: Set(checksums.map(\.algorithm)))
        return checksums.allSatisfy { found?.contains($0) ?? false }
    }

    private func existing(_ name: String, in directory: TargetDirectory) throws(PartialFailure)
        -> ExistingFile?
    {
        do throws(SystemFailure) {
            return try directory.existing(name)
        } catch {
            throw .system(error)
        }
    }

    private func isSame(_ existing: ExistingFile) -> Bool {
        guard let known, let origin = existing.origin else { return false }
        return origin.validator == known.validator && known.sources.contains(where: origin.sources.contains)
    }

    private func isOurs(_ existing: ExistingFile) -> Bool {
        guard let origin = existing.origin else { return false }
        return sources.contains(where: origin.sources.contains)
    }
}
