import HaulCore
import HaulTestSupport
import Testing

@testable import HaulEngine

@Suite("Downloads from start to end")
struct DownloadTests {
    private let directory: TemporaryDirectory
    private let content = TestContent.bytes(seed: 11, count: 4 << 20)

    init() throws { directory = try TemporaryDirectory() }

    private func serving(_ etag: String? = "\"a\"") throws -> ScriptedServer {
        try ScriptedServer { [content] request, connection in
            connection.serve(file: content, for: request, etag: etag)
        }
    }

    @Test("a small file comes whole, in one request, and leaves nothing beside it")
    func smallFile() async throws {
        let small = Array(content[..<5_000])
        let server = try ScriptedServer { request, connection in
            connection.serve(file: small, for: request, etag: "\"a\"")
        }
        let outcome = try await Downloads.run(.into(directory, server.url("/small.bin")))
        #expect(outcome.result?.length == 5_000)
        #expect(outcome.result?.path == directory.file("small.bin"))
        #expect(outcome.terminalEvents == 1)
        #expect(outcome.states.last == .finished)
        #expect(directory.names == ["small.bin"])
        #expect(directory.holds("small.bin", small))
        #expect(server.requests.count == 1)
    }

    @Test(
        "a large file comes over several connections, and every byte stands where it belongs",
        arguments: [1, 2, 5])
    func segmented(connections: Int) async throws {
        let server = try serving()
        let outcome = try await Downloads.run(
            .file(server.url("/f"), at: directory) {
                $0.connections = .fixed(connections)
                $0.minimumSplit = 64 << 10
            })
        #expect(outcome.result?.length == Int64(content.count))
        #expect(directory.names == ["file.bin"])
        #expect(directory.holds("file.bin", content))
        #expect(server.requests.dropFirst().allSatisfy { $0.headers["If-Range"] == "\"a\"" })
        if connections == 1 { #expect(server.requests.count == 1) }
    }

    @Test("what one connection holds back, the others fetch")
    func stealing() async throws {
        let gate = Gate()
        defer { gate.open() }
        // The first answer stops after its first bytes, for ever unless somebody takes its work away.
        let server = try ScriptedServer { [content] request, connection in
            guard request.number == 1 else {
                connection.serve(file: content, for: request, etag: "\"a\"")
                return
            }
            connection.head(
                status: 206,
                headers: [
                    ("Content-Range", "bytes 0-\(content.count - 1)/\(content.count)"),
                    ("Content-Length", "\(content.count)"), ("ETag", "\"a\""),
                ])
            connection.send(Array(content[..<600_000]))
            gate.wait()
        }
        let outcome = try await Downloads.run(
            .file(server.url("/f"), at: directory) {
                $0.connections = .fixed(4)
                $0.minimumSplit = 64 << 10
                $0.connection.stallTimeout = 3
            })
        #expect(outcome.result != nil, "\(outcome.errors)")
        #expect(directory.holds("file.bin", content))
        #expect(server.requests.count > 3)
        gate.open()
    }

    @Test("an empty file is a file")
    func emptyFile() async throws {
        let server = try ScriptedServer { _, connection in connection.respond(status: 200) }
        let outcome = try await Downloads.run(.file(server.url("/f"), at: directory))
        #expect(outcome.result?.length == 0)
        #expect(directory.contents("file.bin") == [])
    }

    @Test("a file whose length nobody tells is as long as its body, and that is said")
    func unknownLength() async throws {
        let server = try ScriptedServer { [content] _, connection in
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            connection.send(content)
            connection.close()
        }
        let outcome = try await Downloads.run(.file(server.url("/f"), at: directory))
        #expect(outcome.result?.length == Int64(content.count))
        #expect(outcome.notices.contains(.lengthUnknown))
        #expect(directory.holds("file.bin", content))
    }

    @Test("two hundred downloads in one engine end once each, and each has its own bytes")
    func many() async throws {
        let server = try ScriptedServer { request, connection in
            let number = UInt64(request.target.dropFirst(2)) ?? 0
            connection.respond(status: 200, body: TestContent.bytes(seed: number, count: 3_000))
        }
        let specs = (0..<200).map { DownloadSpec.into(directory, server.url("/n\($0)")) }
        let outcomes = try await Downloads.run(specs)
        #expect(outcomes.allSatisfy { $0.terminalEvents == 1 && $0.result != nil })
        #expect(directory.names.count == 200)
        for number in 0..<200 as Range<UInt64> {
            #expect(directory.holds("n\(number)", TestContent.bytes(seed: number, count: 3_000)))
        }
    }

    @Test("no more downloads run at once than were asked for")
    func jobs() async throws {
        let server = try ScriptedServer { _, connection in connection.respond(status: 200, body: [1]) }
        let specs = (0..<20).map { DownloadSpec.into(directory, server.url("/n\($0)")) }
        let outcomes = try await Downloads.run(specs, jobs: .fixed(1))
        #expect(outcomes.allSatisfy { $0.result != nil })
        #expect(server.requests.map(\.target) == (0..<20).map { "/n\($0)" }, "in the order they were given")
    }

    @Test(
        "what cannot be asked for fails at once, with a reason",
        arguments: [
            ("nonsense://x/y", HaulError.Code.unsupportedScheme), ("http://", .invalidURL),
            ("file:///etc/hostname", .unsupportedScheme),
        ])
    func refusedURLs(url: String, code: HaulError.Code) async throws {
        let outcome = try await Downloads.run(.into(directory, url))
        #expect(outcome.error?.code == code)
        #expect(directory.names.isEmpty)
    }

    @Test(
        "an error's page becomes no file, and is asked for again only where the Range may be to blame",
        arguments: [(403, 2), (404, 1), (410, 1), (451, 1), (501, 2)])
    func errorPages(status: Int, requests: Int) async throws {
        let server = try ScriptedServer { _, connection in
            connection.respond(status: status, body: Array("<html>no</html>".utf8))
        }
        let outcome = try await Downloads.run(.into(directory, server.url("/f")))
        #expect(outcome.error?.status == status)
        #expect(directory.names.isEmpty)
        #expect(server.requests.count == requests)
    }

    @Test("a shutdown ends what runs and what waits, once each, and the events end")
    func shutdown() async throws {
        let server = try ScriptedServer { _, connection in
            connection.head(status: 200, headers: [("Content-Length", "9999999")])
            connection.hold()
        }
        var options = EngineOptions()
        options.jobs = .fixed(2)
        let engine = try Engine(options: options)
        for number in 0..<6 { await engine.add(.into(directory, server.url("/\(number)"))) }
        var outcomes: [DownloadID: Outcome] = [:]
        for await event in engine.singleEvents {
            outcomes[event.id, default: Outcome()].take(event)
            if case .stateChanged(_, .probing) = event { break }
        }
        await engine.shutdown(because: HaulError(.interrupted, "enough"))
        for await event in engine.singleEvents { outcomes[event.id, default: Outcome()].take(event) }
        #expect(outcomes.count == 6)
        #expect(outcomes.values.allSatisfy { $0.error?.code == .interrupted })
        await engine.add(.into(directory, server.url("/late")))
        #expect(directory.names.isEmpty)
    }

    @Test("a checksum that holds is told; one that does not leaves no file", arguments: [true, false])
    func checksums(isRight: Bool) async throws {
        let server = try serving()
        // SHA-256 of the empty string, which this file is not, and MD5 of `abc` for a server that sends it.
        let text = isRight ? "md5:900150983cd24fb0d6963f7d28e17f72" : "md5:d41d8cd98f00b204e9800998ecf8427e"
        let checksum = try #require(ChecksumValue(parsing: text))
        let small = try ScriptedServer { request, connection in
            connection.serve(file: Array("abc".utf8), for: request)
        }
        let outcome = try await Downloads.run(
            .file(isRight ? small.url("/f") : server.url("/f"), at: directory) { $0.checksums = [checksum] })
        if isRight {
            #expect(outcome.result?.verified == [checksum])
            #expect(directory.holds("file.bin", Array("abc".utf8)))
        } else {
            #expect(outcome.error?.code == .checksumMismatch)
            #expect(directory.names.isEmpty)
        }
    }

    @Test("only the part that was asked for becomes the file")
    func window() async throws {
        let server = try serving()
        let outcome = try await Downloads.run(
            .file(server.url("/f"), at: directory) { $0.range = "1000-300999" })
        #expect(outcome.result?.length == 300_000)
        #expect(directory.holds("file.bin", Array(content[1_000..<301_000])))
        #expect(server.fields("Range") == ["bytes=1000-300999"])
    }

    @Test("what is larger than allowed is not fetched")
    func tooLarge() async throws {
        let server = try serving()
        let outcome = try await Downloads.run(
            .file(server.url("/f"), at: directory) { $0.maximumLength = 1_000_000 })
        #expect(outcome.error?.code == .tooLarge)
        #expect(directory.names.isEmpty)
    }

    @Test("the time limit of a download ends it")
    func timeLimit() async throws {
        let server = try ScriptedServer { [content] request, connection in
            connection.head(
                status: 206,
                headers: [
                    ("Content-Range", "bytes 0-\(content.count - 1)/\(content.count)"),
                    ("Content-Length", "\(content.count)"), ("ETag", "\"a\""),
                ])
            connection.send(Array(content[..<500_000]))
            connection.hold()
        }
        let outcome = try await Downloads.run(
            .file(server.url("/f"), at: directory) { $0.maximumTime = 0.5 })
        #expect(outcome.error?.code == .timeLimit)
        #expect(!directory.names.contains("file.bin"))
    }

    @Test("a request with an effect is not made again after its connection broke")
    func postIsNotRepeated() async throws {
        let server = try ScriptedServer { _, connection in connection.reset() }
        let outcome = try await Downloads.run(
            .file(server.url("/f"), at: directory) {
                $0.method = "POST"
                $0.body = Array("order=1".utf8)
            })
        #expect(outcome.error != nil)
        #expect(server.requests.count == 1)
    }
}
