import HaulCore
import HaulTestSupport
import Testing

@testable import HaulEngine

@Suite("Names, and files that are there already")
struct NameTests {
    private let directory: TemporaryDirectory
    private let content = TestContent.bytes(seed: 31, count: 600_000)
    private let mine = Array("mine".utf8)

    init() throws { directory = try TemporaryDirectory() }

    private func serving(_ etag: String = "\"a\"", disposition: String? = nil) throws -> ScriptedServer {
        try ScriptedServer { [content] request, connection in
            if request.headers["If-None-Match"] == etag { connection.respond(status: 304); return }
            connection.serve(
                file: content, for: request, etag: etag,
                headers: disposition.map { [("Content-Disposition", $0)] } ?? [])
        }
    }

    @Test("an unchanged file is not fetched again: the server says 304")
    func unchanged() async throws {
        let server = try serving()
        let spec = DownloadSpec.file(server.url("/f"), at: directory)
        #expect(try await Downloads.run(spec).result?.wasThere == false)
        let second = try await Downloads.run(spec)
        #expect(second.result?.wasThere == true)
        #expect(second.result?.path == directory.file("file.bin"))
        #expect(server.fields("If-None-Match") == [nil, "\"a\""])
        #expect(directory.names == ["file.bin"])
        #expect(directory.holds("file.bin", content))
    }

    @Test("a changed file replaces the one that was named, and only once it is whole")
    func changedFile() async throws {
        let server = try ChangingServer { _, connection in
            connection.respond(status: 200, headers: [("ETag", "\"old\"")], body: Array("old".utf8))
        }
        let spec = DownloadSpec.file(server.url("/f"), at: directory) { $0.retries = 0 }
        #expect(try await Downloads.run(spec).result != nil)
        server.become { [content] request, connection in
            if request.number == 2 {
                connection.serve(file: content, for: request, etag: "\"new\"", cut: 400_000)
            } else {
                connection.reset()
            }
        }
        #expect(try await Downloads.run(spec).error != nil)
        #expect(
            directory.holds("file.bin", Array("old".utf8)), "a download that failed leaves the old file alone"
        )
        server.become { [content] request, connection in
            connection.serve(file: content, for: request, etag: "\"new\"")
        }
        #expect(try await Downloads.run(spec).result?.wasThere == false)
        #expect(directory.names == ["file.bin"])
        #expect(directory.holds("file.bin", content))
    }

    @Test(
        "the same bytes from the same source are no second file, though the server has no validator",
        arguments: [3_000, 600_000], [nil, "W/\"w\""])
    func sameBytes(count: Int, etag: String?) async throws {
        let body = TestContent.bytes(seed: 5, count: count)
        let server = try ChangingServer { request, connection in
            connection.serve(file: body, for: request, etag: etag)
        }
        let spec = DownloadSpec.into(directory, server.url("/f"))
        #expect(try await Downloads.run(spec).result?.wasThere == false)
        let again = try #require(try await Downloads.run(spec).result)
        #expect(again.wasThere && again.path == directory.file("f") && again.length == Int64(count))
        #expect(directory.names == ["f"])
        server.become { request, connection in
            connection.serve(file: [1] + body.dropFirst(), for: request, etag: etag.map { _ in "W/\"x\"" })
        }
        #expect(try await Downloads.run(spec).result?.path == directory.file("f (1)"))
        #expect(directory.holds("f", body) && directory.names == ["f", "f (1)"])
    }

    @Test("a second run that was interrupted still finds that the bytes are there")
    func sameBytesResumed() async throws {
        let server = try ChangingServer { [content] request, connection in
            connection.serve(file: content, for: request, etag: nil)
        }
        let spec = DownloadSpec.into(directory, server.url("/f")) { $0.retries = 0 }
        #expect(try await Downloads.run(spec).result?.wasThere == false)
        server.become { [content] request, connection in
            if request.number == 2 {
                connection.serve(file: content, for: request, etag: nil, cut: 400_000)
            } else {
                connection.reset()
            }
        }
        #expect(try await Downloads.run(spec).error != nil)
        #expect(directory.names.contains("f (1).part"))
        server.become { [content] request, connection in
            connection.serve(file: content, for: request, etag: nil)
        }
        #expect(try await Downloads.run(spec).result?.path == directory.file("f"))
        #expect(directory.names == ["f"])
    }

    @Test("a journal without its partial file holds no name")
    func orphanJournal() async throws {
        let server = try ScriptedServer { request, connection in
            connection.serve(file: [1, 2, 3], for: request, etag: "\"o\"")
        }
        try directory.write([1], to: "f.part.haul")
        #expect(
            try await Downloads.run(.into(directory, server.url("/f"))).result?.path == directory.file("f"))
    }

    @Test(
        "what happens to a file of somebody else is what was asked for",
        arguments: ExistingFilePolicy.allCases)
    func foreignFile(policy: ExistingFilePolicy) async throws {
        let server = try serving()
        try directory.write(mine, to: "f")
        let outcome = try await Downloads.run(
            .into(directory, server.url("/f")) { $0.ifExists = policy })
        switch policy {
        case .auto, .rename:
            #expect(outcome.result?.wasThere == false)
            #expect(directory.holds("f", mine))
            let other = try #require(directory.names.first { $0 != "f" })
            #expect(outcome.result?.path == directory.file(other))
            #expect(directory.holds(other, content))
        case .replace:
            #expect(outcome.result != nil)
            #expect(directory.names == ["f"])
            #expect(directory.holds("f", content))
        case .skip:
            #expect(outcome.result?.wasThere == true)
            #expect(directory.names == ["f"])
            #expect(directory.holds("f", mine))
        case .fail:
            #expect(outcome.error?.code == .fileExists)
            #expect(directory.names == ["f"])
            #expect(directory.holds("f", mine))
        }
    }

    @Test(
        "the same holds for a file that came while a small one was under way",
        arguments: ExistingFilePolicy.allCases)
    func foreignFileMeanwhile(policy: ExistingFilePolicy) async throws {
        let small = TestContent.bytes(seed: 3, count: 3_000)
        let server = try ScriptedServer { [directory, mine] request, connection in
            try? directory.write(mine, to: "f")
            connection.serve(file: small, for: request, etag: "\"s\"")
        }
        let outcome = try await Downloads.run(.into(directory, server.url("/f")) { $0.ifExists = policy })
        switch policy {
        case .auto, .rename:
            #expect(outcome.result?.path == directory.file("f (1)"))
            #expect(directory.holds("f", mine) && directory.holds("f (1)", small))
        case .replace: #expect(directory.names == ["f"] && directory.holds("f", small))
        case .skip: #expect(outcome.result?.wasThere == true && directory.holds("f", mine))
        case .fail: #expect(outcome.error?.code == .fileExists && directory.holds("f", mine))
        }
    }

    @Test("downloads of one name at the same time get names of their own", arguments: [3_000, 600_000])
    func sameName(count: Int) async throws {
        let server = try ScriptedServer { request, connection in
            let seed = UInt64(request.target.dropFirst().prefix { $0 != "/" }) ?? 0
            connection.serve(
                file: TestContent.bytes(seed: seed, count: count), for: request, etag: "\"\(seed)\"")
        }
        let specs = (1...6).map { DownloadSpec.into(directory, server.url("/\($0)/same.bin")) }
        let outcomes = try await Downloads.run(specs)
        #expect(Set(outcomes.compactMap { $0.result?.path }).count == 6)
        #expect(directory.names.count == 6)
        for (index, outcome) in outcomes.enumerated() {
            let path = try #require(outcome.result?.path)
            let name = String(path.dropFirst(directory.path.count + 1))
            #expect(directory.holds(name, TestContent.bytes(seed: UInt64(index + 1), count: count)))
        }
    }

    @Test(
        "the server may suggest a name, and nothing but a name",
        arguments: [
            ("attachment; filename=\"report.pdf\"", "report.pdf"),
            ("attachment; filename*=UTF-8''na%C3%AFve%20file.txt", "naïve file.txt"),
            ("attachment; filename=\"../../etc/passwd\"", "passwd"),
            ("attachment; filename=\"/etc/shadow\"", "shadow"),
        ])
    func suggestedNames(disposition: String, name: String) async throws {
        let server = try serving(disposition: disposition)
        let outcome = try await Downloads.run(.into(directory, server.url("/download?id=7")))
        #expect(outcome.result?.path == directory.file(name))
        #expect(directory.names == [name])
        #expect(directory.holds(name, content))
    }

    @Test("an output that is a directory gets the suggested name in it")
    func outputIsDirectory() async throws {
        let server = try serving()
        let spec = DownloadSpec(
            urls: [server.url("/f.bin")], destination: .file(directory.path),
            options: DownloadSpec.into(directory, "").options)
        #expect(try await Downloads.run(spec).result?.path == directory.file("f.bin"))
    }
}
