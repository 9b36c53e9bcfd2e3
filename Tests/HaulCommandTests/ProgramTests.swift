import HaulCore
import HaulDisk
import HaulEngine
import HaulPlatform
import HaulTestSupport
import Testing

@testable import HaulCommand

@Suite("Hooks")
struct HooksTests {
    private final class Calls: Sendable {
        let all = Guarded<[(words: [String], environment: [String: String])]>([])
        let warnings = Guarded<[String]>([])
    }

    private func hooks(_ calls: Calls, result: Result<Int32, HaulError> = .success(0)) -> Hooks {
        let environment = ["PATH": "/bin", "HOME": "/h", "HAUL_USER": "S3CRET", "AWS_SECRET": "S3CRET"]
        return Hooks(
            onFinished: ["done", "a b"], onFailed: ["fail"], environment: { environment[$0] },
            execute: { words, environment in
                calls.all.withLock { $0.append((words, environment)) }
                return result
            }, warn: { text in calls.warnings.withLock { $0.append(text) } })
    }

    @Test("a program learns what happened, and no secret")
    func environment() async {
        let calls = Calls()
        let hooks = hooks(calls)
        await hooks.finished("http://h/x?…", FakeEngine.result("/d/x"))
        await hooks.drain()
        await hooks.failed("http://h/y", HaulError(.notFound, "not\u{1B} there"), path: nil)
        await hooks.drain()
        let all = calls.all.withLock { $0 }
        let base = ["PATH": "/bin", "HOME": "/h"]
        #expect(all.map(\.words) == [["done", "a b"], ["fail"]])
        #expect(
            all.map(\.environment) == [
                base.merging(
                    [
                        "HAUL_EVENT": "finished", "HAUL_URL": "http://h/x?…", "HAUL_PATH": "/d/x",
                        "HAUL_LENGTH": "2048",
                    ]
                ) { $1 },
                base.merging(
                    [
                        "HAUL_EVENT": "failed", "HAUL_URL": "http://h/y", "HAUL_PATH": "",
                        "HAUL_CODE": "not-found",
                        "HAUL_ERROR": "not there", "HAUL_STATUS": "8",
                    ]
                ) { $1 },
            ])
        #expect(calls.warnings.withLock { $0 }.isEmpty)
    }

    @Test(
        "that a program fails is a warning",
        arguments: [
            (Result<Int32, HaulError>.success(3), "the --on-finished program ended with status 3"),
            (
                .failure(HaulError(.hookFailed, "x: No such file")),
                "the --on-finished program could not be run: x: No such file"
            ),
        ])
    func failures(_ result: Result<Int32, HaulError>, _ warning: String) async {
        let calls = Calls()
        let hooks = hooks(calls, result: result)
        await hooks.finished("http://h/x", FakeEngine.result("/d/x"))
        await hooks.drain()
        #expect(calls.warnings.withLock { $0 } == [warning])
    }

    @Test("every download gets its program, however many there are")
    func many() async {
        let calls = Calls()
        let hooks = hooks(calls)
        for _ in 0..<200 { await hooks.finished("http://h/x", FakeEngine.result("/d/x")) }
        await hooks.drain()
        #expect(calls.all.withLock { $0.count } == 200)
    }

    @Test("a failed program changes neither the status nor the path")
    func wholeRun() async throws {
        let captured = Captured()
        let arguments = ["http://h/x", "--on-finished", "false", "--progress", "none"]
        let environment = ["PATH": "/usr/bin:/bin"]
        let status = try await get(
            arguments, engine: FakeEngine(FakeEngine.good), captured: captured, environment: environment)
        #expect(status == 0)
        #expect(captured.output == "/d/1\n")
        #expect(captured.error.contains("haul: warning: the --on-finished program ended with status 1\n"))
    }
}

@Suite("haul verify and inspect")
struct VerifyTests {
    private static let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

    private func verify(_ arguments: [String], _ captured: Captured) async throws -> Int32 {
        let (configuration, operands, _) = try configured(["verify", "--no-config"] + arguments)
        let context = CommandContext(configuration, operands: operands, world: captured.world()) { _ in
            FakeEngine(FakeEngine.good)
        }
        return await VerifyCommand(context).run()
    }

    private func files() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        try directory.write(Array("hello".utf8), to: "good")
        try directory.write(Array("hullo".utf8), to: "bad")
        try directory.write(
            Array("\(Self.hello)  good\n\(Self.hello) *bad\n\(Self.hello)  gone\n".utf8), to: "SUMS")
        return directory
    }

    @Test("a file that is what it should be")
    func good() async throws {
        let directory = try files()
        let captured = Captured()
        #expect(
            try await verify([directory.file("good"), "--checksum", "sha256:\(Self.hello)"], captured) == 0)
        #expect(captured.output == "\(directory.file("good")): OK\n")
        #expect(captured.error.isEmpty)
    }

    @Test("all files of a list, each with its reason; the status is the first failure's")
    func list() async throws {
        let directory = try files()
        let captured = Captured()
        #expect(
            try await verify(["--checksums", directory.file("SUMS"), "--dir", directory.path], captured) == 9)
        #expect(captured.output == "\(directory.path)/good: OK\n")
        let other = "39c45c03a9bd0ba3b9b7e4f3bd1a4b7cbe4e0b04"
        #expect(!captured.error.contains(other))
        let lines = captured.error.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("haul: \(directory.path)/bad: sha-256 is "))
        #expect(lines[0].hasSuffix(" and should be \(Self.hello)"))
        #expect(lines[1] == "haul: cannot read \(directory.path)/gone: No such file or directory")
        #expect(lines[2] == "haul: 2 of 3 files are not what they should be")
    }

    @Test("JSON lines")
    func json() async throws {
        let directory = try files()
        let captured = Captured()
        let arguments = [
            directory.file("good"), directory.file("gone"), "--checksums", directory.file("SUMS"), "--json",
        ]
        #expect(try await verify(arguments, captured) == 3)
        #expect(
            captured.output == """
                {"event":"verified","path":"\(directory.file("good"))","ok":true,"checksums":["sha-256:\(Self.hello)"],"error":null}
                {"event":"verified","path":"\(directory.file("gone"))","ok":false,"checksums":["sha-256:\(Self.hello)"],\
                "error":{"code":"disk-failed","message":"cannot read \(directory.file("gone")): No such file or directory",\
                "advice":null,"status":null,"retry_after":null}}
                {"event":"summary","total":2,"finished":1,"failed":1,"exit_status":3}

                """)
        #expect(captured.error.isEmpty)
    }

    @Test(
        "what cannot be compared is a mistake",
        arguments: [
            (["x"], "haul: there is nothing to compare with"), ([], "haul: there is nothing to compare with"),
            (["--checksum", "md5:\(ChecksumListTests.md5)"], "haul: there is no file to verify"),
        ])
    func mistakes(_ arguments: [String], _ message: String) async throws {
        let captured = Captured()
        #expect(try await verify(arguments, captured) == 2)
        #expect(captured.error.hasPrefix(message))
    }

    @Test("inspect says that there is nothing where nothing is")
    func nothing() async throws {
        let directory = try TemporaryDirectory()
        let captured = Captured()
        let path = directory.file("x.part")
        #expect(await InspectCommand.run([path], json: false, console: captured.console()) == 3)
        #expect(
            captured.error
                == "haul: there is no unfinished download \(path)\n  try: name the file that ends in .part\n")
    }
}

@Suite("Progress clock")
struct TickerTests {
    @Test("it looks while something runs, stops by itself, and starts again when woken")
    func stops() async {
        let running = DownloadSample(
            id: DownloadID(1), state: .downloading, name: "x", received: 1, total: 2, rate: 1, remaining: 1,
            connections: 1)
        let (frames, continuation) = AsyncStream<Int>.makeStream()
        let left = Guarded(2)
        let ticker = Ticker(
            interval: 0.001,
            samples: {
                left.withLock { left in
                    left -= 1
                    return left >= 0 ? [running] : []
                }
            }, show: { continuation.yield($0.count) })
        var iterator = frames.makeAsyncIterator()
        await ticker.wake()
        #expect(await iterator.next() == 1)
        #expect(await iterator.next() == 1)
        #expect(await iterator.next() == 0)
        left.withLock { $0 = 1 }
        await ticker.wake()
        #expect(await iterator.next() != nil)
        await ticker.stop()
    }
}
