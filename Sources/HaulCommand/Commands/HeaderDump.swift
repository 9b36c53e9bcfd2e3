import Glibc
package import HaulCore

/// Writes the heads of the answers to a file, for `--dump-header`.
package final class HeaderDump: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Makes the file anew, readable by its owner alone: cookies may come.
    ///
    /// `path`: "-" is standard output.
    package init(_ path: String) throws(HaulError) {
        self.path = path
        if path == "-" {
            descriptor = dup(1)
        } else {
            descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0o600)
        }
        guard descriptor >= 0 else { throw SmallFile.failure("write", path, errno) }
        if path != "-" { fchmod(descriptor, 0o600) }
    }

    deinit { close(descriptor) }

    package func write(_ head: ResponseHead) throws(HaulError) {
        let problem = SmallFile.write(HeaderDump.text(head), to: descriptor)
        guard problem == 0 else { throw SmallFile.failure("write", path, problem) }
    }

    /// The status and the fields as they came, an empty line at the end; the version is not kept.
    package static func text(_ head: ResponseHead) -> String {
        "HTTP \(head.status)\r\n" + head.fields.all.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
    }
}
