import HaulCore
import HaulPlatform

/// What a file needs before it gets its final name, and getting it.
struct Publisher {
    let directory: TargetDirectory
    private var system: any SystemCalls { directory.system }

    /// Gives the file the permissions of the one it replaces, its time and its origin.
    func finish(_ file: Descriptor, replacing name: String?, _ origin: FileOrigin?, _ modified: Int64?)
        throws(PartialFailure)
    {
        try asPartialFailure { () throws(SystemFailure) in
            if let name, let old = try directory.status(of: name), old.kind == .file {
                // Else replacing would open a private file to everybody.
                try system.setMode(file, old.permissions & 0o777)
            }
            if let modified { try system.setModified(file, modified) }
            // Many file systems have no attributes; then the origin is unknown later, no more.
            try? origin?.write(to: file, status: system.status(file), system: system)
        }
    }

    /// Renames inside the directory.
    /// - Returns: the name it got.
    func rename(_ from: String, to name: String, _ policy: PublishPolicy) throws(PartialFailure) -> String {
        try claim(name, policy) { (name) throws(SystemFailure) in
            if policy == .replace {
                try system.rename(from, to: name, in: directory.descriptor, replacing: true)
            } else {
                try renameKeeping(from, to: name)
            }
        }
    }

    /// Renames unless the name is taken.
    private func renameKeeping(_ from: String, to name: String) throws(SystemFailure) {
        do {
            try system.rename(from, to: name, in: directory.descriptor, replacing: false)
        } catch {
            guard error.isUnsupported else { throw error }
            // No RENAME_NOREPLACE here (some network and FUSE file systems): look, then rename.
            guard try directory.status(of: name) == nil else {
                throw SystemFailure.nameTaken(directory.path(of: name))
            }
            try system.rename(from, to: name, in: directory.descriptor, replacing: true)
        }
    }

    /// Tries names as the policy wants until `take` gets one.
    func claim(_ name: String, _ policy: PublishPolicy, take: (String) throws(SystemFailure) -> Void)
        throws(PartialFailure) -> String
    {
        let claimed = try directory.withFreeNumber(name) { (number) throws(PartialFailure) -> String? in
            let candidate = DiskName.numbered(name, number)
            do throws(SystemFailure) {
                try take(candidate)
                return candidate
            } catch {
                let path = directory.path(of: candidate)
                if policy == .replace, (try? directory.status(of: candidate))?.kind == .directory {
                    throw .isDirectory(path: path)
                }
                guard error.isNameTaken else { throw .system(error) }
                guard policy == .rename else { throw .nameTaken(path: path) }
                return nil
            }
        }
        guard let claimed else { throw .nameTaken(path: directory.path(of: name)) }
        return claimed
    }
}
