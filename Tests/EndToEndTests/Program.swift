import Glibc
import HaulCore
import HaulPlatform
import HaulTestSupport

/// The built command as it runs for a person: a process of its own, with its exit status and what it says.
final class Program: Sendable {
    /// The absolute path of the command: `HAUL`, else beside the program that runs the tests.
    static let path: String = {
        if let given = getenv("HAUL") { return String(cString: given) }
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let bytes = buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
        let own = String(decoding: bytes, as: UTF8.self)
        let folder = own.lastIndex(of: "/").map { String(own[..<$0]) } ?? "."
        return folder + "/haul"
    }()

    static var isThere: Bool { access(path, X_OK) == 0 }

    struct Failure: Error {
        let call: String
        let code: Int32
    }

    let process: pid_t
    private let directory: TemporaryDirectory

    /// Starts `haul` in the directory, where its output goes into files.
    init(_ arguments: [String], in directory: TemporaryDirectory) throws {
        self.directory = directory
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for (descriptor, name) in [(1, Program.output), (2, Program.errors)] as [(Int32, String)] {
            let flags = O_WRONLY | O_CREAT | O_TRUNC
            posix_spawn_file_actions_addopen(&actions, descriptor, directory.file(name), flags, 0o600)
        }
        // What the test process blocks or ignores is none of the command's business.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var ordinary = sigset_t()
        sigemptyset(&ordinary)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&ordinary, signal) }
        posix_spawnattr_setsigdefault(&attributes, &ordinary)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let environment = ["PATH=/usr/bin:/bin", "HOME=\(directory.path)", "LC_ALL=C.UTF-8", "no_proxy=*"]
        var child = pid_t()
        // Glibc's module lacks the call that would have the child start elsewhere; `env` becomes the command itself.
        let words = ["env", "-C", directory.path, Program.path] + arguments
        let code = Program.withStrings(words) { words in
            Program.withStrings(environment) { environment in
                posix_spawn(&child, "/usr/bin/env", &actions, &attributes, words, environment)
            }
        }
        guard code == 0 else { throw Failure(call: "posix_spawn \(Program.path)", code: code) }
        process = child
    }

    private static func withStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }

    /// What it wrote to standard output and to standard error.
    var output: [UInt8] { directory.contents(Program.output) ?? [] }
    var errors: String { String(decoding: directory.contents(Program.errors) ?? [], as: UTF8.self) }

    func signal(_ number: Int32) { kill(process, number) }

    /// Waits for the end, once: the exit status, or 128 and the signal that ended it, as shells have it.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return -1 }
        }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// Runs it to its end.
    static func run(_ arguments: [String], in directory: TemporaryDirectory) throws -> (
        status: Int32, Program
    ) {
        let program = try Program(arguments, in: directory)
        return (program.wait(), program)
    }

    private static let output = "standard-output"
    private static let errors = "standard-error"
}

/// Serves one file, and holds back once so many bytes have been sent in all: a moment to interrupt a client.
final class HoldingServer: Sendable {
    private struct Pause {
        var left: Int
        let reached: Gate
        let goOn: Gate
    }

    private final class State: Sendable {
        let pause = Guarded<Pause?>(nil)
    }

    let server: ScriptedServer
    private let state: State

    init(_ content: [UInt8], etag: String?) throws {
        let state = State()
        self.state = state
        server = try ScriptedServer { request, connection in
            let start = Int(min(request.range?.lower ?? 0, Int64(content.count)))
            let end = Int(min(request.range?.upper ?? .max, Int64(content.count)))
            let range = [("Content-Range", "bytes \(start)-\(end - 1)/\(content.count)")]
            connection.head(
                status: request.range == nil ? 200 : 206,
                headers: (request.range == nil ? [] : range) + (etag.map { [("ETag", $0)] } ?? [])
                    + [("Content-Length", "\(end - start)"), ("Accept-Ranges", "bytes")])
            var position = start
            while position < end {
                let piece = min(end - position, HoldingServer.take(16 << 10, state))
                guard connection.send(Array(content[position..<(position + piece)])) else {
                    return connection.close()
                }
                position += piece
            }
        }
    }

    /// How much may be sent now; waits where a pause is due.
    private static func take(_ most: Int, _ state: State) -> Int {
        while true {
            let (size, pause) = state.pause.withLock { pause -> (Int, Pause?) in
                guard let current = pause else { return (most, nil) }
                guard current.left > 0 else { return (0, current) }
                let size = min(most, current.left)
                pause?.left -= size
                return (size, nil)
            }
            guard let pause else { return size }
            pause.reached.open()
            pause.goOn.wait()
        }
    }

    /// Lets so many more bytes out, runs `body` once that has happened, and then serves on.
    func pausing(after count: Int, _ body: () throws -> Void) rethrows {
        let pause = Pause(left: count, reached: Gate(), goOn: Gate())
        state.pause.withLock { $0 = pause }
        defer {
            state.pause.withLock { $0 = nil }
            pause.goOn.open()
        }
        try body()
    }

    /// Blocks until the pause of `pausing` is reached.
    func waitForPause() {
        state.pause.withLock { $0?.reached }?.wait()
    }
}
