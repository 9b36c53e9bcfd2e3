import Glibc
import HaulCore

/// An input file that can be read twice: once to check it, once to work it off.
///
/// A pipe is first copied to a file without a name, so that a list of any length costs disk and not memory.
final class InputFile: Sendable {
    /// The name, for messages.
    let name: String
    private let descriptor: Int32

    /// `path`: "-" is standard input.
    init(_ path: String, temporaryDirectory: String?) throws(HaulError) {
        name = path == "-" ? "standard input" : path
        let source = path == "-" ? dup(0) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard source >= 0 else {
            if errno == ENOENT { throw HaulError(.usage, "there is no input file \(path)") }
            throw SmallFile.failure("read", name, errno)
        }
        var status = stat()
        if fstat(source, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            descriptor = source
            return
        }
        defer { close(source) }
        descriptor = try InputFile.spooled(source, name, in: temporaryDirectory ?? "/tmp")
    }

    deinit { close(descriptor) }

    /// Lines from the start of the file.
    func lines() -> LineReader {
        var offset: off_t = 0
        return LineReader { [self] (buffer: inout [UInt8]) throws(HaulError) in
            while true {
                let count = pread(descriptor, &buffer, buffer.count, offset)
                if count < 0 && errno == EINTR { continue }
                if count < 0 { throw SmallFile.failure("read", name, errno) }
                offset += count
                return count
            }
        }
    }

    private static func spooled(_ source: Int32, _ name: String, in directory: String) throws(HaulError)
        -> Int32
    {
        var path = Array("\(directory)/haul-XXXXXX".utf8CString)
        let copy = mkstemp(&path)
        guard copy >= 0 else { throw SmallFile.failure("make a file in", directory, errno) }
        unlink(path)
        _ = fcntl(copy, F_SETFD, FD_CLOEXEC)
        var buffer = [UInt8](repeating: 0, count: 128 << 10)
        while true {
            let count = read(source, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count != 0 else { return copy }
            let problem = count < 0 ? errno : writeAll(buffer[..<count], to: copy)
            guard problem == 0 else {
                close(copy)
                throw SmallFile.failure("read", name, problem)
            }
        }
    }

    private static func writeAll(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int32 {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count < 0 { return errno }
            rest = rest.dropFirst(count)
        }
        return 0
    }
}
