import CHaulShims
import Glibc

/// Runs another program, without a shell, and waits for it.
///
/// Every function blocks the calling thread; none may be called on a thread of the concurrency pool.
package enum ChildProcess {
    /// More output than this is read and thrown away, bytes.
    package static let outputLimit = 1 << 20

    /// Runs a program to its end.
    ///
    /// The child reads from `/dev/null`, gets no descriptor but the standard three, no blocked signal, and the
    /// default action for the signals that Haul ignores. What it writes to standard output goes to Haul's
    /// standard error unless it is captured: standard output belongs to the paths of the results.
    ///
    /// - Parameters:
    ///   - arguments: The program (looked up in `PATH` when it has no slash) and its arguments; not empty.
    ///   - environment: All variables of the child; nothing is inherited.
    ///   - captureOutput: Whether the standard output is returned; at most `outputLimit` bytes.
    ///   - timeout: Seconds after which the child is ended (`SIGTERM`, a second later `SIGKILL`); `nil`: never.
    /// - Returns: the exit status, or 128 + the number of the signal that ended the child; and the output.
    /// - Throws: when the program cannot be started (`posix_spawn`), or the time is over (`ETIMEDOUT`).
    package static func run(
        arguments: [String], environment: [String: String], captureOutput: Bool, timeout: Double?
    ) throws(SystemFailure) -> (status: Int32, output: [UInt8]) {
        let deadline = timeout.map { monotonicSeconds() + max($0, 0) }
        var ends: [Int32] = [-1, -1]
        if captureOutput, pipe(&ends) != 0 { throw SystemFailure(code: errno, call: "pipe") }
        let child: pid_t
        do {
            child = try spawn(arguments, environment, output: captureOutput ? ends[1] : 2)
        } catch {
            if captureOutput { ends.forEach { close($0) } }
            throw error
        }
        var output: [UInt8] = []
        if captureOutput {
            close(ends[1])
            output = drain(ends[0], until: deadline)
            close(ends[0])
        }
        return (try wait(for: child, until: deadline), output)
    }

    private static func spawn(
        _ arguments: [String], _ environment: [String: String], output: Int32
    ) throws(SystemFailure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        // In the child, after the rest: what other threads open meanwhile does not reach it either.
        haul_close_from(&actions, 3)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGPIPE, SIGXFSZ] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var envp: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        guard let name = arguments.first, let program = argv.first ?? nil else {
            throw SystemFailure(code: EINVAL, call: "posix_spawn")
        }
        var child = pid_t()
        let code = posix_spawnp(&child, program, &actions, &attributes, &argv, &envp)
        guard code == 0 else { throw SystemFailure(code: code, call: "posix_spawn", path: name) }
        return child
    }

    /// Reads to the end of the pipe, or to the deadline.
    private static func drain(_ descriptor: Int32, until deadline: Double?) -> [UInt8] {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let patience = deadline.map { max(0, ($0 - monotonicSeconds()) * 1000) } ?? -1
            let answer = poll(&ready, 1, Int32(min(patience, 1e9)))
            if answer < 0 && errno == EINTR { continue }
            guard answer > 0 else { return output }
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return output }
            output += buffer.prefix(min(count, outputLimit - output.count))
        }
    }

    private static func wait(for child: pid_t, until deadline: Double?) throws(SystemFailure) -> Int32 {
        guard let deadline else { return try reap(child, waiting: true) ?? 0 }
        if let status = try look(after: child, until: deadline) { return status }
        kill(child, SIGTERM)
        if try look(after: child, until: monotonicSeconds() + 1) == nil {
            kill(child, SIGKILL)
            _ = try reap(child, waiting: true)
        }
        throw SystemFailure(code: ETIMEDOUT, call: "waitpid")
    }

    /// Looks every 10 ms: a wait with a limit is rare and short, and needs no process descriptor.
    private static func look(after child: pid_t, until deadline: Double) throws(SystemFailure) -> Int32? {
        while true {
            if let status = try reap(child, waiting: false) { return status }
            if monotonicSeconds() >= deadline { return nil }
            usleep(10_000)
        }
    }

    private static func reap(_ child: pid_t, waiting: Bool) throws(SystemFailure) -> Int32? {
        var status: Int32 = 0
        while true {
            let answer = waitpid(child, &status, waiting ? 0 : WNOHANG)
            if answer < 0 && errno == EINTR { continue }
            if answer < 0 { throw SystemFailure(code: errno, call: "waitpid") }
            guard answer == child else { return nil }
            let signal = status & 0x7F
            return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
        }
    }

    private static func monotonicSeconds() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
