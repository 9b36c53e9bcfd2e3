import Glibc
import HaulCore
import HaulPlatform

/// Asks a program of the user for a fresh link (`--refresh-command`). Blocking.
enum LinkRefresher {
    /// The URL in the first line that the program prints; `nil` when it fails or prints none.
    static func fresh(_ command: [String]) -> URLReference? {
        let environment = ["PATH": getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"]
        guard
            let (status, output) = try? ChildProcess.run(
                arguments: command, environment: environment, captureOutput: true, timeout: 60),
            status == 0, let line = output.split(separator: 0x0A).first
        else { return nil }
        return try? URLReference(parsing: String(decoding: line, as: UTF8.self))
    }
}
