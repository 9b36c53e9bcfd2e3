import CHaulShims
import Glibc

/// Names, attributes and what is known about files.
extension LiveSystem {
    package func rename(_ from: String, to name: String, in directory: Descriptor, replacing: Bool)
        throws(SystemFailure)
    {
        _ = try Self.retrying("rename", directory.path(of: name)) {
            haul_rename(directory.number, from, name, replacing ? 0 : 1)
        }
    }

    package func link(_ file: Descriptor, as name: String, in directory: Descriptor) throws(SystemFailure) {
        _ = try Self.retrying("link", directory.path(of: name)) {
            haul_link_unnamed(file.number, directory.number, name)
        }
    }

    package func unlink(_ name: String, in directory: Descriptor) throws(SystemFailure) {
        _ = try Self.retrying("unlink", directory.path(of: name)) { unlinkat(directory.number, name, 0) }
    }

    package func makeDirectory(_ name: String, in directory: Descriptor?) throws(SystemFailure) {
        _ = try Self.retrying("mkdir", directory?.path(of: name) ?? name) {
            mkdirat(directory?.number ?? AT_FDCWD, name, 0o777)
        }
    }

    package func list(_ directory: Descriptor) throws(SystemFailure) -> [String] {
        // A descriptor of its own, since reading moves the position and closedir(3) closes.
        let number = try Self.retrying("open", directory.path) {
            haul_openat(directory.number, ".", O_RDONLY | O_DIRECTORY, 0)
        }
        guard let stream = fdopendir(number) else {
            let code = errno
            close(number)
            throw SystemFailure(code: code, call: "opendir", path: directory.path)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno == 0 { return names }
                throw SystemFailure(code: errno, call: "readdir", path: directory.path)
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
    }

    package func status(_ file: Descriptor) throws(SystemFailure) -> FileStatus {
        var status = stat()
        _ = try Self.retrying("fstat", file.path) { fstat(file.number, &status) }
        return FileStatus(status)
    }

    package func size(_ file: Descriptor) throws(SystemFailure) -> Int64 {
        try Int64(Self.retrying("lseek", file.path) { lseek(file.number, 0, SEEK_END) })
    }

    package func status(of name: String, in directory: Descriptor?) throws(SystemFailure) -> FileStatus {
        var status = stat()
        _ = try Self.retrying("stat", directory?.path(of: name) ?? name) {
            fstatat(directory?.number ?? AT_FDCWD, name, &status, AT_SYMLINK_NOFOLLOW)
        }
        return FileStatus(status)
    }

    package func volume(_ file: Descriptor) throws(SystemFailure) -> VolumeStatus {
        var free: UInt64 = 0
        var type: UInt64 = 0
        _ = try Self.retrying("fstatfs", file.path) { haul_volume(file.number, &free, &type) }
        // A length on FAT has 32 bits. On tmpfs a reservation would take and clear memory, hence only these four.
        let limit = type == haul_type_fat ? Int64(UInt32.max) : Int64.max
        return VolumeStatus(
            free: Int64(clamping: free), largestFile: min(limit, haul_file_size_limit()),
            reservesCheaply: [haul_type_ext4, haul_type_xfs, haul_type_btrfs, haul_type_f2fs].contains(type))
    }

    package func setMode(_ file: Descriptor, _ permissions: UInt32) throws(SystemFailure) {
        _ = try Self.retrying("fchmod", file.path) { fchmod(file.number, permissions) }
    }

    package func setModified(_ file: Descriptor, _ seconds: Int64) throws(SystemFailure) {
        _ = try Self.retrying("futimens", file.path) { haul_set_modified(file.number, seconds) }
    }

    package func setAttribute(_ name: String, _ value: [UInt8], on file: Descriptor) throws(SystemFailure) {
        _ = try Self.retrying("fsetxattr", file.path) {
            haul_fsetxattr(file.number, name, value, value.count)
        }
    }

    package func attribute(_ name: String, of file: Descriptor) throws(SystemFailure) -> [UInt8]? {
        var value = [UInt8](repeating: 0, count: 4096)
        do throws(SystemFailure) {
            let count = try Self.retrying("fgetxattr", file.path) {
                haul_fgetxattr(file.number, name, &value, value.count)
            }
            return Array(value.prefix(count))
        } catch {
            // ERANGE: longer than anything Haul writes, so not Haul's.
            guard [ENODATA, EOPNOTSUPP, ERANGE].contains(error.code) else { throw error }
            return nil
        }
    }
}

extension FileStatus {
    fileprivate init(_ status: stat) {
        let kind: Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        self.init(
            kind: kind,
            identity: FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)),
            size: Int64(status.st_size), allocated: Int64(status.st_blocks) * 512,
            modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec),
            permissions: UInt32(status.st_mode) & 0o7777, links: UInt64(status.st_nlink))
    }
}
