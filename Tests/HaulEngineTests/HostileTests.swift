import Glibc
import HaulCore
import HaulPlatform
import HaulTestSupport
import Testing

@testable import HaulDisk
@testable import HaulEngine

@Suite("Odd servers and busy directories")
struct HostileTests {
    private let directory: TemporaryDirectory
    private let content = TestContent.bytes(seed: 41, count: 2 << 20)

    init() throws { directory = try TemporaryDirectory() }

    @Test("a partial that another process cuts never becomes a file with a hole", arguments: [0, 100_000])
    func cut(size: Int) async throws {
        let part = directory.file("file.bin.part")
        let server = try ChangingServer { [content] _, connection in
            connection.head(
                status: 206,
                headers: [
                    ("Content-Range", "bytes 0-\(content.count - 1)/\(content.count)"),
                    ("Content-Length", "\(content.count)"), ("ETag", "\"a\""),
                ])
            connection.send(Array(content[..<1_000_000]))
            var status = stat()
            while stat(part, &status) != 0 || status.st_size < 1_000_000 { usleep(1000) }
            truncate(part, size)
            connection.send(Array(content[1_000_000...]))
        }
        let spec = DownloadSpec.file(server.url("/f"), at: directory)
        let outcome = try await Downloads.run(spec)
        #expect(outcome.error?.code == .partialGone, "\(outcome.results)")
        #expect(!directory.names.contains("file.bin"))
        server.become { [content] request, connection in
            connection.serve(file: content, for: request, etag: "\"a\"")
        }
        #expect(try await Downloads.run(spec).result != nil)
        #expect(directory.names == ["file.bin"])
        #expect(directory.holds("file.bin", content))
    }

    @Test(
        "a server that fails on any Range still gives the file",
        arguments: [400, 403, 405, 416, 500, 502, 503])
    func refusesRanges(status: Int) async throws {
        let server = try ScriptedServer { [content] request, connection in
            if request.headers["Range"] != nil { connection.respond(status: status); return }
            connection.respond(status: 200, body: content)
        }
        let outcome = try await Downloads.run(.file(server.url("/f"), at: directory) { $0.retries = 2 })
        #expect(outcome.result != nil, "\(outcome.errors)")
        #expect(directory.holds("file.bin", content))
        #expect(server.fields("Range").last == .some(nil))
    }

    @Test("wrong parts to everything are a protocol failure, and a partial that may still be good stays")
    func wrongRanges() async throws {
        let server = try ChangingServer { [content] request, connection in
            guard request.number == 1 else { return connection.reset() }
            connection.serve(file: content, for: request, etag: "\"a\"", cut: 700_000)
        }
        let spec = DownloadSpec.file(server.url("/f"), at: directory) { $0.retries = 0 }
        #expect(try await Downloads.run(spec).error != nil)
        let wrong: [ScriptedServer.Script] = [
            { _, connection in
                connection.respond(
                    status: 206, headers: [("Content-Range", "bytes 5-9/2097152"), ("ETag", "\"a\"")],
                    body: [1, 2, 3, 4, 5])
            },
            { _, connection in connection.respond(status: 416) },
        ]
        for (script, code) in zip(wrong, [HaulError.Code.badRange, .rangeRefused]) {
            server.become(script)
            #expect(try await Downloads.run(spec).error?.code == code)
            #expect(directory.names == ["file.bin.part", "file.bin.part.haul"])
        }
        server.become { [content] request, connection in
            connection.serve(file: content, for: request, etag: "\"a\"")
        }
        let outcome = try await Downloads.run(spec)
        #expect(outcome.resumedFrom == 700_000)
        #expect(directory.holds("file.bin", content))
    }

    @Test("where parts are wrong and the whole is not, the file is fetched anew")
    func wrongRangesGoodWhole() async throws {
        let server = try ChangingServer { [content] request, connection in
            guard request.number == 1 else { return connection.reset() }
            connection.serve(file: content, for: request, etag: "\"a\"", cut: 700_000)
        }
        let spec = DownloadSpec.file(server.url("/f"), at: directory) { $0.retries = 0 }
        #expect(try await Downloads.run(spec).error != nil)
        let other = TestContent.bytes(seed: 42, count: 1 << 20)
        server.become { request, connection in
            if request.headers["Range"] != nil { connection.respond(status: 416); return }
            connection.respond(status: 200, body: other)
        }
        let outcome = try await Downloads.run(spec)
        #expect(outcome.result?.length == Int64(other.count), "\(outcome.errors)")
        #expect(directory.names == ["file.bin"])
        #expect(directory.holds("file.bin", other))
    }

    @Test("a 407 of a server is a refusal like others: nobody asked a proxy")
    func proxyLoginWithoutProxy() async throws {
        let server = try ScriptedServer { _, connection in
            connection.respond(status: 407, headers: [("Proxy-Authenticate", "Basic realm=\"x\"")])
        }
        let outcome = try await Downloads.run(.file(server.url("/f"), at: directory))
        #expect(outcome.error?.code == .httpStatus)
        #expect(outcome.error?.status == 407)
    }

    @Test("a server that asks to wait for ever is told of at once")
    func waitForEver() async throws {
        let server = try ScriptedServer { _, connection in
            connection.respond(status: 503, headers: [("Retry-After", "99999999999999")])
        }
        let outcome = try await Downloads.run(.file(server.url("/f"), at: directory))
        #expect(outcome.error?.code == .throttled)
        #expect(outcome.error?.message.contains("365 days") == true)
        #expect(server.requests.count == 1)
    }

    @Test("a file that somebody else began between the look and the name is waited for")
    func heldAfterTheAnswer() async throws {
        let path = directory.path
        let server = try ScriptedServer { [content] request, connection in
            guard request.number == 1 else {
                connection.serve(file: content, for: request, etag: "\"a\"")
                return
            }
            // The other one: it takes the file before the answer comes, and lets go once nobody asks for it any more.
            let url = try? URLReference(parsing: "http://\(request.headers["Host"] ?? "")\(request.target)")
            let header = JournalHeader(
                sources: url.map { [SourceDigest.of($0.identity)] } ?? [],
                file: RemoteFile(length: 10, hasRanges: true), finalName: "f.bin")
            let other = try? TargetDirectory.open(path, creating: false, system: LiveSystem())
                .createPartial(name: "f.bin", exactName: false, header: header)
            connection.head(status: 200, headers: [("Content-Length", "\(content.count)")])
            connection.send(Array(content[..<1000]))
            connection.hold()
            other?.discard()
        }
        let outcome = try await Downloads.run(
            .into(directory, server.url("/f.bin")) { $0.waitsForLock = true })
        #expect(outcome.result != nil, "\(outcome.errors)")
        #expect(directory.names == ["f.bin"])
        #expect(directory.holds("f.bin", content))
        #expect(server.requests.count == 2)
    }

    @Test("who waits for a file that another holds waits no longer than the time limit")
    func heldForLonger() async throws {
        let server = try ScriptedServer { [content] request, connection in
            connection.serve(file: content, for: request, etag: "\"a\"")
        }
        let source = SourceDigest.of(try URLReference(parsing: server.url("/f.bin")).identity)
        let header = JournalHeader(
            sources: [source], file: RemoteFile(length: 10, hasRanges: true), finalName: "f.bin")
        // Two opens of one file are two holders, also within one process.
        let other = try TargetDirectory.open(directory.path, creating: false, system: LiveSystem())
            .createPartial(name: "f.bin", exactName: true, header: header)
        let outcome = try await Downloads.run(
            .file(server.url("/f.bin"), at: directory, name: "f.bin") {
                $0.waitsForLock = true
                $0.maximumTime = 0.3
            })
        #expect(outcome.errors.map(\.code) == [.timeLimit])
        other.discard()
    }

    @Test(
        "the file there that has the checksum is the file that is asked for, whatever the server says of it")
    func sameByChecksum() async throws {
        let server = try ScriptedServer { [content] _, connection in
            connection.respond(status: 200, body: content)
        }
        let checksum = try #require(ChecksumValue(.sha256, bytes: Digests.sha256(content)))
        let spec = DownloadSpec.into(directory, server.url("/f.bin")) { $0.checksums = [checksum] }
        #expect(try await Downloads.run(spec).result?.wasThere == false)
        let second = try await Downloads.run(spec)
        #expect(second.result?.wasThere == true)
        #expect(second.result?.verified == [checksum])
        #expect(directory.names == ["f.bin"])
        #expect(server.requests.count == 1)
    }

    @Test("also under a name that only the answer tells")
    func sameByChecksumUnderOtherName() async throws {
        let small = Array("small".utf8)
        for body in [small, content] {
            let fresh = try TemporaryDirectory()
            let server = try ScriptedServer { _, connection in
                connection.respond(
                    status: 200, headers: [("Content-Disposition", "attachment; filename=given.bin")],
                    body: body)
            }
            let checksum = try #require(ChecksumValue(.sha256, bytes: Digests.sha256(body)))
            let spec = DownloadSpec.into(fresh, server.url("/f")) { $0.checksums = [checksum] }
            #expect(try await Downloads.run(spec).result?.wasThere == false)
            #expect(try await Downloads.run(spec).result?.wasThere == true)
            #expect(fresh.names == ["given.bin"])
        }
    }

    @Test("a file of the same source that has not the checksum any more is replaced; anybody else's is not")
    func outdatedByChecksum() async throws {
        let new = TestContent.bytes(seed: 43, count: 1 << 20)
        for (old, next) in [(content, new), (Array("old".utf8), Array("new".utf8)), (Array("old".utf8), new)]
        {
            let fresh = try TemporaryDirectory()
            let server = try ChangingServer { _, connection in connection.respond(status: 200, body: old) }
            #expect(try await Downloads.run(.into(fresh, server.url("/f.bin"))).result != nil)
            server.become { _, connection in connection.respond(status: 200, body: next) }
            let checksum = try #require(ChecksumValue(.sha256, bytes: Digests.sha256(next)))
            let spec = DownloadSpec.into(fresh, server.url("/f.bin")) { $0.checksums = [checksum] }
            #expect(try await Downloads.run(spec).result?.wasThere == false)
            #expect(fresh.names == ["f.bin"])
            #expect(fresh.holds("f.bin", next))
            try fresh.write(Array("mine".utf8), to: "f.bin")
            #expect(try await Downloads.run(spec).result?.wasThere == false)
            #expect(fresh.names == ["f (1).bin", "f.bin"])
            #expect(fresh.holds("f.bin", Array("mine".utf8)))
        }
    }
}
