import Glibc

/// A directory of one test, removed with all it holds when the last reference goes.
package final class TemporaryDirectory: Sendable {
    /// Absolute, without a slash at its end.
    package let path: String

    package struct Failure: Error {
        package let call: String
        package let code: Int32
    }

    package init() throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
        var template = Array((parent + "/haul-test-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(call: "mkdtemp", code: errno) }
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { TemporaryDirectory.removeAll(at: path) }

    /// Removes depth first; links are removed, never followed.
    private static func removeAll(at path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        if status.st_mode & S_IFMT == S_IFDIR {
            chmod(path, 0o700)
            for name in names(at: path) { removeAll(at: path + "/" + name) }
        }
        remove(path)
    }

    /// The path of something in the directory.
    package func file(_ name: String) -> String { path + "/" + name }

    /// The names in the directory, sorted, without "." and "..".
    package var names: [String] { TemporaryDirectory.names(at: path) }

    private static func names(at path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// The bytes of a file in the directory; `nil` when it cannot be read.
    package func contents(_ name: String) -> [UInt8]? {
        guard let stream = fopen(file(name), "rb") else { return nil }
        defer { fclose(stream) }
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = fread(&buffer, 1, buffer.count, stream)
            guard count > 0 else { return ferror(stream) == 0 ? result : nil }
            result += buffer[..<count]
        }
    }

    package func write(_ bytes: [UInt8], to name: String) throws {
        guard let stream = fopen(file(name), "wb") else { throw Failure(call: "fopen", code: errno) }
        defer { fclose(stream) }
        guard fwrite(bytes, 1, bytes.count, stream) == bytes.count, fflush(stream) == 0 else {
            throw Failure(call: "fwrite", code: errno)
        }
    }
}
