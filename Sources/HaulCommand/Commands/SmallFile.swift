import Glibc
import HaulCore
import HaulPlatform

/// The small files beside the downloads: settings, lists, cookies.
///
/// All functions block.
enum SmallFile {
    /// What is larger is no such file, bytes.
    static let limit = 64 << 20

    /// The whole file, or `nil` when there is none; standard input, pipes and devices work as well.
    static func read(_ path: String) throws(HaulError) -> ConfigurationBuilder.FileText? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read", path, errno)
        }
        defer { close(descriptor) }
        var status = stat()
        let isPrivate = fstat(descriptor, &status) == 0 && status.st_mode & 0o077 == 0
        return ConfigurationBuilder.FileText(bytes: try bytes(of: descriptor, path), isPrivate: isPrivate)
    }

    private static func bytes(of descriptor: Int32, _ path: String) throws(HaulError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw failure("read", path, errno) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            if bytes.count > limit { throw HaulError(.usage, "\(path) is too large to be what it should be") }
        }
    }

    /// Puts the text in place whole or not at all, readable by the owner alone.
    static func replace(_ path: String, with text: String) throws(HaulError) {
        var name = Array("\(path).XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw failure("write", path, errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var problem = write(text, to: descriptor)
        if problem == 0, fsync(descriptor) != 0 { problem = errno }
        close(descriptor)
        if problem == 0, rename(name, path) != 0 { problem = errno }
        guard problem == 0 else {
            unlink(name)
            throw failure("write", path, problem)
        }
    }

    /// Writes all of it.
    ///
    /// - Returns: 0, or the error number.
    static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { bytes in
            var done = 0
            while done < bytes.count {
                let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if count >= 0 {
                    done += count
                } else if errno == EAGAIN {
                    var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&ready, 1, 1000)
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }

    /// A new directory that only this user can look into.
    static func temporaryDirectory(base: String?) throws(HaulError) -> String {
        let base = base.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var name = Array("\(base)/haul-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { throw failure("make a directory in", base, errno) }
        return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes a directory and the files in it (it holds no directories).
    static func removeDirectory(_ path: String) {
        if let directory = opendir(path) {
            while let entry = readdir(directory) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                unlink("\(path)/\(name)")
            }
            closedir(directory)
        }
        rmdir(path)
    }

    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Nothing is there, not even something that cannot be looked at.
    static func isMissing(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    static func isSymbolicLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    static func failure(_ what: String, _ path: String, _ code: Int32) -> HaulError {
        let kind: HaulError.Code =
            switch code {
            case EACCES, EPERM: .permissionDenied
            case ENOSPC, EDQUOT: .diskFull
            case EROFS: .readOnly
            default: .diskFailed
            }
        return HaulError(kind, "cannot \(what) \(path): \(SystemFailure(code: code, call: what).reason)")
    }
}
