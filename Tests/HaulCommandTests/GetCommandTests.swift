import Glibc
import HaulCore
import HaulEngine
import HaulTestSupport
import Testing

@testable import HaulCommand

@Suite("haul get")
struct GetCommandTests {
    private let captured = Captured()

    /// Fails the URLs that hold a word, with the code of that name.
    private static let byURL: FakeEngine.Script = { id, spec in
        let url = spec.urls[0]
        for code in HaulError.Code.all where url.contains(code.rawValue) {
            return [.failed(id, HaulError(code, "it was \(code.rawValue)", advice: "nothing"))]
        }
        return [.finished(id, FakeEngine.result("/d/\(id)"))]
    }

    @Test("the path of the result is on standard output, and all else on standard error")
    func paths() async throws {
        #expect(try await get(["http://h/x"], engine: FakeEngine(FakeEngine.good), captured: captured) == 0)
        #expect(captured.output == "/d/1\n")
        #expect(captured.error == "1: 2.00 KiB in 2.0 s, 512 B/s\n")
    }

    @Test("where both streams are one terminal, the result is named once")
    func terminal() async throws {
        let engine = FakeEngine(FakeEngine.good)
        #expect(try await get(["http://h/x"], engine: engine, captured: captured, terminal: true) == 0)
        #expect(captured.output.isEmpty)
        #expect(captured.error == "/d/1: 2.00 KiB in 2.0 s, 512 B/s\n")
        let quiet = Captured()
        let other = FakeEngine(FakeEngine.good)
        #expect(try await get(["http://h/x", "-q"], engine: other, captured: quiet, terminal: true) == 0)
        #expect(quiet.output == "/d/1\n" && quiet.error.isEmpty)
    }

    @Test("quiet says only the paths, and errors")
    func quiet() async throws {
        let urls = ["http://h/x", "http://h/not-found"]
        #expect(try await get(urls + ["-q"], engine: FakeEngine(Self.byURL), captured: captured) == 8)
        #expect(captured.output == "/d/1\n")
        #expect(
            captured.error == """
                haul: http://h/not-found: it was not-found
                  try: nothing
                haul: 1 of 2 failed
                  http://h/not-found

                """)
    }

    @Test("one bad file does not stop the others; the status is the first failure's in the order of the URLs")
    func manyFailures() async throws {
        // The ends come in another order than the URLs were given.
        let engine = FakeEngine { id, spec in
            guard id == DownloadID(3) else { return [] }
            let error = { (code: HaulError.Code) in HaulError(code, "failed") }
            return [
                .failed(id, error(.diskFull)), .failed(DownloadID(2), error(.checksumMismatch)),
                .finished(DownloadID(1), FakeEngine.result("/d/1")),
            ]
        }
        let status = try await get(
            ["http://h/1", "http://h/2", "http://h/3"], engine: engine, captured: captured)
        #expect(status == ExitStatus.checksum)
        #expect(captured.output == "/d/1\n")
        #expect(captured.error.contains("haul: 2 of 3 failed\n  http://h/3\n  http://h/2\n"))
    }

    @Test("--fail-early stops everything at the first failure")
    func failEarly() async throws {
        let engine = FakeEngine { id, spec in
            spec.urls[0].hasSuffix("bad") ? [.failed(id, HaulError(.notFound, "not there"))] : []
        }
        let urls = ["http://h/1", "http://h/2", "http://h/bad", "http://h/4"]
        #expect(try await get(urls + ["--fail-early"], engine: engine, captured: captured) == 8)
        #expect(await engine.reasons.first?.code == .cancelled)
        #expect(captured.error.contains("haul: 1 of 4 failed\n  http://h/bad\n  3 not started\n"))
        #expect(!captured.error.contains("http://h/1"))
    }

    @Test(
        "a signal shuts the engine down and decides the status",
        arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
    func signals(_ signal: Int32, _ expected: Int32) async throws {
        let (signals, continuation) = AsyncStream<Int32>.makeStream()
        let engine = FakeEngine { id, _ in
            continuation.yield(signal)
            return []
        }
        let status = try await get(
            ["http://h/1", "http://h/2"], engine: engine, captured: captured, signals: signals)
        #expect(status == expected)
        #expect(await engine.reasons.first?.code == .interrupted)
        #expect(captured.error == "haul: interrupted; run again to continue\n")
        #expect(captured.output.isEmpty)
    }

    @Test(
        "an interruption promises to continue only what can be continued",
        arguments: [
            ([], [.named], "; run again to continue"),
            ([], [.named, .cannotResume], "; what came cannot be resumed: run again to start over"),
            (["--resume", "never"], [.named], "; what came cannot be resumed: run again to start over"),
            (["--data", "x"], [.named], "; what came cannot be resumed: run again to start over"),
            (["-o", "-"], [.cannotResume], ""), ([], [.cannotResume], "; run again to continue"),
            (
                ["http://h/2"], [.named, .cannotResume],
                "; run again to continue (what came of 1 cannot be resumed)"
            ),
        ] as [([String], [Begun], String)])
    func resumable(_ arguments: [String], _ begun: [Begun], _ said: String) async throws {
        let (signals, continuation) = AsyncStream<Int32>.makeStream()
        let engine = FakeEngine { id, _ in
            continuation.yield(SIGINT)
            guard id == DownloadID(1) else { return [] }
            return begun.map { $0 == .named ? .named(id, path: "/d/x") : .notice(id, .cannotResume) }
        }
        let urls = ["http://h/1"] + arguments + ["--progress", "none"]
        #expect(try await get(urls, engine: engine, captured: captured, signals: signals) == 130)
        #expect(captured.error == "haul: interrupted\(said)\n")
    }

    enum Begun { case named, cannotResume }

    @Test("JSON lines are all that is said with --json")
    func json() async throws {
        let engine = FakeEngine { id, spec in
            [.stateChanged(id, .probing), .named(id, path: "/d/x"), .notice(id, .resumed(from: 5))]
                + Self.byURL(id, spec)
        }
        #expect(
            try await get(
                ["http://u:p@h/x?secret", "http://h/not-found", "--json"], engine: engine, captured: captured)
                == 8)
        #expect(captured.error.isEmpty)
        #expect(
            captured.output == """
                {"event":"state","index":1,"url":"http://h/x?…","state":"probing"}
                {"event":"named","index":1,"url":"http://h/x?…","path":"/d/x"}
                {"event":"notice","index":1,"url":"http://h/x?…","notice":"resumed","from":5}
                {"event":"finished","index":1,"url":"http://h/x?…","path":"/d/1","length":2048,"received":1024,"seconds":2.0,\
                "was_there":false,"verified":[]}
                {"event":"state","index":2,"url":"http://h/not-found","state":"probing"}
                {"event":"named","index":2,"url":"http://h/not-found","path":"/d/x"}
                {"event":"notice","index":2,"url":"http://h/not-found","notice":"resumed","from":5}
                {"event":"failed","index":2,"url":"http://h/not-found","error":{"code":"not-found","message":"it was not-found",\
                "advice":"nothing","status":null,"retry_after":null}}
                {"event":"summary","total":2,"finished":1,"failed":1,"exit_status":8}

                """)
    }

    @Test("--progress json puts the lines on standard error, and paths stay on standard output")
    func jsonProgress() async throws {
        let arguments = ["http://h/x", "--progress", "json"]
        #expect(try await get(arguments, engine: FakeEngine(FakeEngine.good), captured: captured) == 0)
        #expect(captured.output == "/d/1\n")
        #expect(
            captured.error.split(separator: "\n").allSatisfy {
                $0.hasPrefix("{\"event\":") && $0.hasSuffix("}")
            })
    }

    @Test("plain output has no escapes and no carriage returns, and at most a retry line in ten seconds")
    func plain() async throws {
        let engine = FakeEngine { id, _ in
            let lost = HaulError(.connectionLost, "The connection was lost\u{1B}[2J")
            return [.named(id, path: "/d/a\u{1B}[31mb\r")]
                + (0..<20).map { _ in .stateChanged(id, .retrying(seconds: 1, because: lost)) }
                + [.notice(id, .cannotResume), .finished(id, FakeEngine.result("/d/ab"))]
        }
        #expect(try await get(["http://h/x"], engine: engine, captured: captured) == 0)
        #expect(
            captured.error == """
                downloading /d/a[31mb\u{20}
                a[31mb : the connection was lost[2J; retry 1 in 1.0 s
                ab: 2.00 KiB in 2.0 s, 512 B/s

                """)
    }

    @Test("a list of any length keeps only so many downloads in the engine")
    func bounded() async throws {
        let directory = try TemporaryDirectory()
        let list = (1...5000).map { "http://h/\($0)\n" }.joined()
        try directory.write(Array(list.utf8), to: "list")
        let engine = FakeEngine { id, _ in
            // The first one ends with the 2000th: until then nothing ends.
            id.rawValue < 2000
                ? []
                : id.rawValue == 2000
                    ? (1...2000).map { .finished(DownloadID($0), FakeEngine.result(nil)) }
                    : FakeEngine.good(id, DownloadSpec(urls: [], destination: .standardOutput))
        }
        #expect(try await get(["-i", directory.file("list"), "-q"], engine: engine, captured: captured) == 0)
        #expect(await engine.specs.count == 5000)
        #expect(await engine.mostOpen < 2000)
        #expect(captured.error.isEmpty)
    }

    @Test("a mistake at the end of a list is found before anything starts")
    func listChecked() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(Array("http://h/1\nhttp://h/2 ouput=x\n".utf8), to: "list")
        let engine = FakeEngine(FakeEngine.good)
        #expect(try await get(["-i", directory.file("list")], engine: engine, captured: captured) == 2)
        #expect(await engine.specs.isEmpty)
        #expect(
            captured.error
                == "haul: \(directory.file("list")) line 2: there is no option 'ouput'\n  try: output\n")
    }

    @Test("lists of checksums are applied by name, and a URL that is not in them is a mistake")
    func checksumFile() async throws {
        let directory = try TemporaryDirectory()
        let sums = "\(ChecksumListTests.sha256)  a b.iso\n\(ChecksumListTests.md5)  y.iso\n"
        try directory.write(Array(sums.utf8), to: "SUMS")
        let engine = FakeEngine(FakeEngine.good)
        let arguments = [
            "http://h/p/a%20b.iso?x", "http://h/y.iso", "--checksums", directory.file("SUMS"), "-q",
        ]
        #expect(try await get(arguments, engine: engine, captured: captured) == 0)
        #expect(
            await engine.specs.map { $0.options.checksums.map(\.hex) } == [
                [ChecksumListTests.sha256], [ChecksumListTests.md5],
            ])
        let other = FakeEngine(FakeEngine.good)
        #expect(
            try await get(
                ["http://h/z.iso", "--checksums", directory.file("SUMS")], engine: other, captured: captured)
                == 2)
        #expect(await other.specs.isEmpty)
    }

    @Test("a list that is a URL is fetched first, and secrets go with it only to the origin of the download")
    func checksumURL() async throws {
        let write: FakeEngine.Script = { id, spec in
            guard case .file(let path) = spec.destination, spec.urls[0].hasSuffix("SUMS") else {
                return FakeEngine.good(id, spec)
            }
            let text = "\(ChecksumListTests.sha256)  x.iso\n"
            guard let stream = fopen(path, "w") else { return [.failed(id, HaulError(.bug, "no file"))] }
            fputs(text, stream)
            fclose(stream)
            return [.finished(id, FakeEngine.result(path))]
        }
        let secrets = ["-u", "me:pw", "-H", "X-Token: t", "--bearer", "tok", "-q"]
        for (list, isSame) in [
            ("http://h/SUMS", true), ("http://h:8080/SUMS", false), ("http://other/SUMS", false),
        ] {
            let engine = FakeEngine(write)
            let captured = Captured()
            let status = try await get(
                ["http://h/x.iso", "--checksums", list] + secrets, engine: engine, captured: captured)
            #expect(status == 0)
            let specs = await engine.specs
            #expect(specs.map(\.urls) == [[list], ["http://h/x.iso"]])
            #expect((specs[0].options.bearer != nil) == isSame)
            #expect(specs[0].options.headers.isEmpty != isSame)
            #expect(specs[1].options.bearer == "tok")
            #expect(specs[1].options.checksums.map(\.hex) == [ChecksumListTests.sha256])
            #expect(captured.output == "/d/2\n")
        }
    }

    @Test("cookies come from files, and are saved for the owner alone")
    func cookies() async throws {
        let directory = try TemporaryDirectory()
        let line: @Sendable (String, String) -> String = { name, value in
            "h\tFALSE\t/\tFALSE\t0\t\(name)\t\(value)"
        }
        try directory.write(Array("# c\n\(line("a", "1"))\n\(line("b", "1"))\n".utf8), to: "in")
        let engine = FakeEngine { id, _ in
            [.cookies(id, [line("a", "2"), line("c", "3")]), .finished(id, FakeEngine.result("/d/x"))]
        }
        let arguments = [
            "http://h/x", "--cookies", directory.file("in"), "--save-cookies", directory.file("out"), "-q",
        ]
        #expect(try await get(arguments, engine: engine, captured: captured) == 0)
        #expect(await engine.specs[0].options.cookies == [line("a", "1"), line("b", "1")])
        let saved = String(decoding: directory.contents("out") ?? [], as: UTF8.self)
        #expect(saved.hasSuffix("\n\n\(line("a", "2"))\n\(line("b", "1"))\n\(line("c", "3"))\n"))
        var status = stat()
        #expect(stat(directory.file("out"), &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(directory.names == ["in", "out"])
    }

    @Test("heads are dumped to a file for the owner alone")
    func heads() async throws {
        let directory = try TemporaryDirectory()
        let fields = HeaderFields([HeaderField("ETag", "\"x\""), HeaderField("Set-Cookie", "a=b")])
        let engine = FakeEngine { id, _ in
            [.head(id, ResponseHead(status: 206, fields: fields)), .finished(id, FakeEngine.result("/d/x"))]
        }
        let arguments = ["http://h/x", "--dump-header", directory.file("heads"), "-q"]
        #expect(try await get(arguments, engine: engine, captured: captured) == 0)
        #expect(
            directory.contents("heads") == Array("HTTP 206\r\nETag: \"x\"\r\nSet-Cookie: a=b\r\n\r\n".utf8))
        var status = stat()
        #expect(stat(directory.file("heads"), &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("standard output takes one download after the other")
    func standardOutput() async throws {
        let engine = FakeEngine { id, _ in [.finished(id, FakeEngine.result(nil))] }
        #expect(
            try await get(["http://h/1", "http://h/2", "-o", "-", "-q"], engine: engine, captured: captured)
                == 0)
        #expect(captured.output.isEmpty)
        #expect(await engine.specs.map(\.destination) == [.standardOutput, .standardOutput])
    }

    @Test("that standard output cannot be written is a failure")
    func brokenOutput() async throws {
        let engine = FakeEngine(FakeEngine.good)
        #expect(
            try await get(["http://h/1", "-q"], engine: engine, captured: captured, outputWorks: false) == 3)
        #expect(captured.error == "haul: cannot write to standard output: No space left on device\n")
    }

    @Test("a dry run says what would be, and starts nothing")
    func dryRun() async throws {
        let engine = FakeEngine(FakeEngine.good)
        let arguments = ["--dry-run", "--glob", "http://u:p@h/[1-2]?t=1", "-d", "dir"]
        #expect(try await get(arguments, engine: engine, captured: captured) == 0)
        #expect(captured.output == "http://h/1?… -> dir/\nhttp://h/2?… -> dir/\n")
        #expect(await engine.specs.isEmpty)
    }

    @Test(
        "no secret is in anything that is said",
        arguments: [[], ["-v"], ["--json"], ["--progress", "json"], ["-q"]])
    func noSecrets(_ arguments: [String]) async throws {
        let engine = FakeEngine { id, spec in
            [.stateChanged(id, .probing), .named(id, path: "/d/x")] + Self.byURL(id, spec)
        }
        let secrets = [
            "-u", "me:S3CRET", "-H", "X: S3CRET", "--bearer", "S3CRET", "--data", "S3CRET", "--proxy-user",
            "p:S3CRET",
        ]
        let urls = ["https://me:S3CRET@h/x?k=S3CRET#S3CRET", "https://S3CRET:x@h/not-found?S3CRET"]
        #expect(try await get(urls + secrets + arguments, engine: engine, captured: captured) == 8)
        #expect(!(captured.output + captured.error).contains("S3CRET"))
    }

    @Test(
        "what contradicts itself is refused",
        arguments: [
            (["http://h/", "--json", "-o", "-"], "--json needs standard output for itself"),
            (
                ["http://h/", "--range", "0-5", "--checksum", "md5:\(ChecksumListTests.md5)"],
                "--checksum is of the whole file"
            ),
            (["-i", "/nonexistent/list"], "there is no input file /nonexistent/list"),
            (["-i", "/dev/null"], "/dev/null holds no URLs"),
            (["http://h/", "--cookies", "/nonexistent/c"], "there is no cookie file /nonexistent/c"),
            (["http://h/", "--checksums", "/nonexistent/s"], "there is no checksum list /nonexistent/s"),
            (["http://h/", "--netrc-file", "/nonexistent/n"], "--netrc: there is no file /nonexistent/n"),
            (["http://h/", "--cacert", "/nonexistent/c"], "--cacert: there is no file /nonexistent/c"),
            (["http://h/", "--cert", "/dev/null/c"], "--cert: there is no file /dev/null/c"),
            (["http://h/", "--ssh-key", "/nonexistent/k"], "--ssh-key: there is no file /nonexistent/k"),
            (["http://h/", "-o", "a", "-o", "b"], "--output was given 2 times for one URL"),
            (["http://h/1", "http://h/2", "-o", "a", "-o", "b", "-o", "c"], "--output was given 3 times"),
            (["file:///etc/passwd"], "file:///etc/passwd is a file of this machine"),
        ])
    func contradictions(_ arguments: [String], _ message: String) async throws {
        let engine = FakeEngine(FakeEngine.good)
        #expect(try await get(arguments, engine: engine, captured: captured) == 2)
        #expect(captured.error.hasPrefix("haul: \(message)"))
        #expect(await engine.specs.isEmpty)
    }
}
