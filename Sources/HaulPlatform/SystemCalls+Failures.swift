import Glibc

/// The failures that callers tell apart.
extension SystemFailure {
    /// The name is not there.
    package var isNoSuchName: Bool { code == ENOENT }
    /// The name is taken.
    package var isNameTaken: Bool { code == EEXIST }
    /// The name, or an argument, is not acceptable to the file system.
    package var isInvalid: Bool { code == EINVAL }
    /// A directory stands where a file was meant.
    package var isDirectory: Bool { code == EISDIR }
    /// Beyond the largest file that the file system or the process may have.
    package var isTooLarge: Bool { code == EFBIG }
    package var isReadOnly: Bool { code == EROFS }
    package var isPermissionDenied: Bool { code == EACCES || code == EPERM }
    /// The reader of a pipe has gone.
    package var isBrokenPipe: Bool { code == EPIPE }
    /// A stream was asked for another offset than its next.
    package var isNotInOrder: Bool { code == ESPIPE }
    /// No room: the disk's or the user's share of it.
    package var isNoSpace: Bool { code == ENOSPC || code == EDQUOT }
    /// The file system does not know this call or this way of calling it.
    package var isUnsupported: Bool { [EOPNOTSUPP, ENOSYS, EINVAL, ENOTTY].contains(code) }

    package static func nameTaken(_ path: String) -> SystemFailure {
        SystemFailure(code: EEXIST, call: "rename", path: path)
    }

    package static func noSuchName(_ path: String) -> SystemFailure {
        SystemFailure(code: ENOENT, call: "open", path: path)
    }

    /// What was written to an open file is not in it any more.
    package static func lost(_ path: String) -> SystemFailure {
        SystemFailure(code: ESTALE, call: "pwrite", path: path)
    }

    package static func notInOrder(_ path: String) -> SystemFailure {
        SystemFailure(code: ESPIPE, call: "write", path: path)
    }
}
