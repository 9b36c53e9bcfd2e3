import Glibc
import HaulCore
import HaulPlatform

/// Asks a program of the user for a fresh link (`--refresh-command`).
///
/// Blocking.
enum LinkRefresher {
    /// The URL in the first line that the program prints; `nil` when it fails or prints none.
    ///
    /// `url`: the expired link as it was given; the program gets it as `HAUL_URL`.
    static func fresh(_ command: [String], for url: String) -> URLReference? {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        let environment = ["PATH": path, "HAUL_URL": url]
        guard
            let (status, output) = try? ChildProcess.run(
                arguments: command, environment: environment, captureOutput: true, timeout: 60),
            status == 0, let line = output.split(separator: 0x0A).first
        else { return nil }
        return try? URLReference(parsing: String(decoding: line, as: UTF8.self))
    }
}
