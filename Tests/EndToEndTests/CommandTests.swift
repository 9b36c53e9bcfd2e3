import Glibc
import HaulCore
import HaulTestSupport
import Testing

@Suite("The built command", .enabled(if: Program.isThere))
struct CommandTests {
    private let directory: TemporaryDirectory
    private let content = TestContent.bytes(seed: 51, count: 6 << 20)

    init() throws { directory = try TemporaryDirectory() }

    private func get(_ arguments: String...) throws -> (status: Int32, program: Program) {
        let (status, program) = try Program.run(["get"] + arguments, in: directory)
        return (status, program)
    }

    /// The files that are the user's: not what the program said.
    private var files: [String] { directory.names.filter { !$0.hasPrefix("standard-") } }

    private func holds(_ name: String) -> Bool {
        directory.contents(name).map { TestContent.firstDifference($0, content) == nil } ?? false
    }

    @Test("a file comes whole, and its path is all that standard output says")
    func wholeFile() throws {
        let server = try HoldingServer(content, etag: "\"a\"").server
        let (status, program) = try get("-o", "f.bin", server.url("/f"))
        #expect(status == 0, "\(program.errors)")
        #expect(files == ["f.bin"])
        #expect(holds("f.bin"))
        #expect(String(decoding: program.output, as: UTF8.self) == "f.bin\n" || program.output.last == 0x0A)
    }

    @Test("standard output gets the file and nothing else", arguments: [true, false])
    func standardOutput(hasETag: Bool) throws {
        let server = try HoldingServer(content, etag: hasETag ? "\"a\"" : nil).server
        let (status, program) = try get("-o", "-", server.url("/f"))
        #expect(status == 0, "\(program.errors)")
        #expect(TestContent.firstDifference(program.output, content) == nil)
        #expect(files.isEmpty)
    }

    @Test("standard output that cannot be written ends the command with an error, not for ever")
    func brokenOutput() throws {
        let server = try HoldingServer(content, etag: nil).server
        let command = "\(Program.path) get -q -o - \(server.url("/f"))"
        // A disk without room, and a reader that goes away; the status of the latter takes a way of its own.
        #expect(Shell.status("\(command) > /dev/full") == 3)
        let code = directory.file("code")
        #expect(Shell.status("( \(command); echo $? >&3 ) 3> \(code) | head -c 10 > /dev/null") == 0)
        #expect(directory.contents("code").map { String(decoding: $0, as: UTF8.self) } == "1\n")
    }

    @Test(
        "paths that nobody gets are a failure that is told; help that nobody reads is told where it is lost")
    func lostPaths() throws {
        let server = try HoldingServer(content, etag: nil).server
        let errors = directory.file("errors")
        let said = { directory.contents("errors").map { String(decoding: $0, as: UTF8.self) } ?? "" }
        let get = "\(Program.path) get -q --if-exists replace -d \(directory.path)"
        #expect(Shell.status("\(get) \(server.url("/f")) 2> \(errors) >&-") == 3)
        #expect(said() == "haul: cannot write to standard output: Bad file descriptor\n")
        #expect(holds("f"))
        let code = directory.file("code")
        let gone = "exec 3> \(code); { read x; \(get) \(server.url("/f")) 2> \(errors); echo $? >&3; }"
        // The reader closes its end, and says so, before the path comes.
        let fifo = directory.file("fifo")
        #expect(Shell.status("mkfifo \(fifo); { \(gone); } < \(fifo) | { exec <&-; echo > \(fifo); }") == 0)
        #expect(directory.contents("code").map { String(decoding: $0, as: UTF8.self) } == "3\n")
        #expect(said() == "haul: cannot write to standard output: Broken pipe\n")
        #expect(Shell.status("\(Program.path) help get 2> \(errors) >&-") == 3)
        #expect(said() == "haul: cannot write to standard output: Bad file descriptor\n")
        #expect(Shell.status("\(Program.path) help get 2> \(errors) > /dev/full") == 3)
        #expect(said() == "haul: cannot write to standard output: No space left on device\n")
    }

    @Test(
        "killed again and again at any byte, a download becomes the file it should be",
        arguments: [1, 2, 3] as [UInt64])
    func killed(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let server = try HoldingServer(content, etag: seed == 3 ? nil : "\"a\"")
        let arguments = [
            "get", "-c", "\(seed * 2 - 1)", "--min-split-size", "256K", "-o", "f.bin",
            server.server.url("/f"),
        ]
        for _ in 0..<5 {
            let count = Int.random(in: 1...1_000_000, using: &random)
            try server.pausing(after: count) {
                let program = try Program(arguments, in: directory)
                server.waitForPause()
                program.signal(SIGKILL)
                #expect(program.wait() == 128 + SIGKILL)
            }
            #expect(!files.contains("f.bin"), "no file has its name before it is whole")
        }
        let (status, program) = try Program.run(arguments, in: directory)
        #expect(status == 0, "\(program.errors)")
        #expect(files == ["f.bin"], "whatever a kill left behind is taken over")
        #expect(holds("f.bin"))
    }

    @Test(
        "interrupted, it ends with the signal's status, and the next run goes on",
        arguments: [SIGINT, SIGTERM, SIGHUP])
    func interrupted(signal: Int32) throws {
        let server = try HoldingServer(content, etag: "\"a\"")
        let arguments = ["get", "-c", "1", "-o", "f.bin", server.server.url("/f")]
        try server.pausing(after: 3_000_000) {
            let program = try Program(arguments, in: directory)
            server.waitForPause()
            // What has been sent need not have arrived.
            while (files.compactMap { directory.contents($0)?.count }.max() ?? 0) < 1_000_000 { usleep(1000) }
            program.signal(signal)
            #expect(program.wait() == 128 + signal)
            #expect(program.errors.contains("continue"), "\(program.errors)")
        }
        #expect(!files.contains("f.bin"))
        let before = server.server.requests.count
        let (status, program) = try Program.run(arguments, in: directory)
        #expect(status == 0, "\(program.errors)")
        #expect(holds("f.bin"))
        let next = server.server.requests.dropFirst(before)
        #expect(next.count == 1)
        #expect(next.first?.headers["If-Range"] == "\"a\"")
        #expect(next.first?.range.map { $0.lower >= 1_000_000 && $0.upper == Int64(content.count) } == true)
    }

    @Test("two commands for one file do not write it together")
    func busy() throws {
        let server = try HoldingServer(content, etag: "\"a\"")
        let arguments = ["get", "-c", "1", "-o", "f.bin", server.server.url("/f")]
        let elsewhere = try TemporaryDirectory()
        try server.pausing(after: 2_000_000) {
            let first = try Program(arguments, in: directory)
            server.waitForPause()
            let path = directory.file("f.bin")
            let (status, second) = try Program.run(
                ["get", "-o", path, server.server.url("/f")], in: elsewhere)
            #expect(status == 3, "\(second.errors)")
            first.signal(SIGKILL)
            #expect(first.wait() == 128 + SIGKILL)
        }
        #expect(try Program.run(arguments, in: directory).status == 0, "a lock ends with its process")
        #expect(holds("f.bin"))
    }

    // MARK: Exit status

    private static let failures: [(status: Int32, target: String, arguments: [String])] = [
        (2, "/ok", ["--no-such-option"]),
        (4, "http://no-such-host.invalid/", ["--retries", "0"]),
        (6, "/401", []),
        (7, "/loop", []),
        (8, "/404", []),
        (8, "/503", ["--retries", "0"]),
        (9, "/ok", ["--checksum", "md5:00000000000000000000000000000000"]),
        (3, "/ok", ["-o", "/proc/no/such/place"]),
        (3, "/ok", ["-o", "there", "--if-exists", "fail"]),
        (0, "/ok", ["-o", "there", "--if-exists", "skip"]),
        (1, "/ok", ["--max-filesize", "1"]),
    ]

    @Test("the exit status tells what kind of thing went wrong", arguments: failures.indices)
    func exitStatus(index: Int) throws {
        let server = try ScriptedServer { request, connection in
            switch request.target {
            case "/ok": connection.serve(file: Array("some content".utf8), for: request)
            case "/loop": connection.respond(status: 302, headers: [("Location", "/loop")])
            case "/401":
                connection.respond(status: 401, headers: [("WWW-Authenticate", "Basic realm=\"r\"")])
            default: connection.respond(status: Int(request.target.dropFirst()) ?? 500)
            }
        }
        try directory.write([1], to: "there")
        let (expected, target, arguments) = CommandTests.failures[index]
        let url = target.hasPrefix("/") ? server.url(target) : target
        let (status, program) = try Program.run(["get"] + arguments + [url], in: directory)
        #expect(status == expected, "\(arguments) \(target): \(program.errors)")
        #expect(directory.contents("there") == [1])
        if expected > 2 { #expect(program.errors.split(separator: "\n").count <= 3, "\(program.errors)") }
    }

    @Test("of a list, what can be fetched is fetched, and the status is that of the first failure")
    func list() throws {
        let server = try ScriptedServer { request, connection in
            if request.target == "/2" {
                connection.respond(status: 404)
            } else {
                connection.serve(file: Array(request.target.utf8), for: request)
            }
        }
        let (status, program) = try get(
            server.url("/1"), server.url("/2"), "http://no-such-host.invalid/", server.url("/3"), "--retries",
            "0")
        #expect(status == 8, "\(program.errors)")
        #expect(files == ["1", "3"])
    }
}

/// A line for the shell, where redirections are what is tested.
private enum Shell {
    static func status(_ line: String) -> Int32 {
        let status = system(line)
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}
