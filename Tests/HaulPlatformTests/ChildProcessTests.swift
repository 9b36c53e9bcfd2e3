import Glibc
import HaulPlatform
import Testing

@Suite("Other programs")
struct ChildProcessTests {
    private func run(
        _ arguments: [String], environment: [String: String] = ["PATH": "/usr/bin:/bin"],
        timeout: Double? = nil
    ) throws -> (status: Int32, output: String) {
        let (status, output) = try ChildProcess.run(
            arguments: arguments, environment: environment, captureOutput: true, timeout: timeout)
        return (status, String(decoding: output, as: UTF8.self))
    }

    @Test("the output and the status come back")
    func output() throws {
        let (status, output) = try run(["sh", "-c", "echo hi; echo no >&2; exit 7"])
        #expect(status == 7)
        #expect(output == "hi\n")
    }

    @Test("the end by a signal is 128 and its number")
    func signal() throws {
        #expect(try run(["sh", "-c", "kill -TERM $$"]).status == 143)
    }

    @Test("the child has only the variables it was given, and nothing to read")
    func environment() throws {
        setenv("HAUL_TEST_SECRET", "S3CRET", 1)
        defer { unsetenv("HAUL_TEST_SECRET") }
        #expect(
            try run(["/usr/bin/env"], environment: ["A": "b c", "B": "="]).output.split(separator: "\n")
                .sorted() == ["A=b c", "B=="])
        #expect(try run(["cat"]).output == "")
    }

    @Test("no descriptor but the standard three reaches the child")
    func descriptors() throws {
        let leaky = try #require(open("/dev/null", O_RDONLY) as Int32?)
        defer { close(leaky) }
        // `ls` itself has the directory open.
        #expect(try run(["ls", "/proc/self/fd"]).output == "0\n1\n2\n3\n")
    }

    @Test("no signal is blocked or ignored in the child")
    func signals() throws {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGUSR1)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        defer { pthread_sigmask(SIG_UNBLOCK, &set, nil) }
        let status = try run(["grep", "-E", "SigBlk", "/proc/self/status"]).output
        #expect(status == "SigBlk:\t0000000000000000\n")
    }

    @Test("a program that takes too long is ended")
    func timeout() {
        let error = #expect(throws: SystemFailure.self) { try run(["sleep", "600"], timeout: 0.05) }
        #expect(error?.code == ETIMEDOUT)
        let stubborn = #expect(throws: SystemFailure.self) {
            try run(["sh", "-c", "trap '' TERM; while :; do :; done"], timeout: 0.05)
        }
        #expect(stubborn?.code == ETIMEDOUT)
    }

    @Test("a program that is not there is an error")
    func missing() {
        let error = #expect(throws: SystemFailure.self) { try run(["/nonexistent/program"]) }
        #expect(error?.code == ENOENT)
        #expect(error?.path == "/nonexistent/program")
    }

    @Test("endless output is cut, not kept")
    func manyBytes() throws {
        let (status, output) = try run(["head", "-c", "3000000", "/dev/zero"])
        #expect(status == 0)
        #expect(output.utf8.count == ChildProcess.outputLimit)
    }
}
