import Glibc
import HaulCore
import HaulPlatform

/// Asks a program of the user for a fresh link (`--refresh-command`).
///
/// Blocking.
enum LinkRefresher {
    /// The URL in the first line that the program prints, or why there is none.
    ///
    /// `url`: the expired link as it was given; the program gets it as `HAUL_URL`.
    static func fresh(_ command: [String], for url: String) -> LinkAnswer {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        let environment = ["PATH": path, "HAUL_URL": url]
        do throws(SystemFailure) {
            let (status, output) = try ChildProcess.run(
                arguments: command, environment: environment, captureOutput: true, timeout: timeout)
            guard status == 0 else {
                return .none(because: "the refresh command ended with status \(status)")
            }
            guard let line = output.split(separator: 0x0A).first else {
                return .none(because: "the refresh command printed nothing")
            }
            // What it printed is not repeated: fresh links hold secrets.
            guard let url = try? URLReference(parsing: String(decoding: line, as: UTF8.self)) else {
                return .none(because: "the refresh command printed no URL in its first line")
            }
            return .fresh(url)
        } catch {
            guard error.code != ETIMEDOUT else {
                return .none(because: "the refresh command took longer than \(RetryPolicy.spoken(timeout))")
            }
            return .none(because: "the refresh command cannot be started: \(error.reason)")
        }
    }

    private static let timeout = 60.0
}
