import Glibc
import HaulCore
import HaulTestSupport
import Testing

@testable import HaulEngine

@Suite("Retries, links and mirrors")
struct SourceTests {
    private let directory: TemporaryDirectory
    private let content = TestContent.bytes(seed: 41, count: 1 << 20)

    init() throws { directory = try TemporaryDirectory() }

    private func serving(_ etag: String = "\"a\"") throws -> ScriptedServer {
        try ScriptedServer { [content] request, connection in
            connection.serve(file: content, for: request, etag: etag)
        }
    }

    // MARK: Retries

    @Test("tries without progress are counted, and the last reason is told", arguments: [0, 1, 3])
    func budget(retries: Int) async throws {
        let server = try ScriptedServer { _, connection in connection.respond(status: 500) }
        let outcome = try await Downloads.run(
            .file(server.url("/f"), at: directory) { $0.retries = retries })
        #expect(outcome.error?.code == .serverError)
        #expect(outcome.error?.status == 500)
        #expect(server.fields("Range").compactMap(\.self).count == retries + 1)
        #expect(server.requests.count == retries + 2, "once more without Range")
        #expect(directory.names.isEmpty)
    }

    @Test("a server that says when to come again is not asked before")
    func retryAfter() async throws {
        let server = try ScriptedServer { [content] request, connection in
            if request.number == 1 {
                connection.respond(status: 503, headers: [("Retry-After", "1")])
            } else {
                connection.serve(file: content, for: request)
            }
        }
        let outcome = try await Downloads.run(.file(server.url("/f"), at: directory))
        #expect(outcome.result != nil)
        let waits = outcome.states.compactMap { state -> Double? in
            if case .retrying(let seconds, _, _, _) = state { seconds } else { nil }
        }
        #expect(waits.count == 1 && waits.allSatisfy { $0 >= 1 })
        #expect(directory.holds("file.bin", content))
    }

    @Test("a wait that the time limit leaves no room for is not begun")
    func retryAfterBeyondLimit() async throws {
        let server = try ScriptedServer { _, connection in
            connection.respond(status: 429, headers: [("Retry-After", "86400")])
        }
        let outcome = try await Downloads.run(
            .file(server.url("/f"), at: directory) { $0.maximumTime = 60 })
        #expect(outcome.error?.code == .throttled)
        #expect(outcome.error?.retryAfter == 86_400)
        #expect(server.requests.count == 1)
    }

    @Test("a host that closed itself for a while lets those in who came to it by a redirect")
    func redirectedToClosedHost() async throws {
        let closed = try ScriptedServer { request, connection in
            if request.number == 1 {
                connection.respond(status: 503, headers: [("Retry-After", "1")])
            } else {
                connection.respond(status: 200, body: [1, 2, 3])
            }
        }
        let gate = Gate()
        defer { gate.open() }
        let door = try ScriptedServer { request, connection in
            // The second one comes only after the first was turned away.
            if request.target == "/second" { gate.wait() }
            connection.respond(status: 302, headers: [("Location", closed.url(request.target))])
        }
        let engine = try Engine(options: EngineOptions())
        let first = await engine.add(.into(directory, door.url("/first")) { $0.retries = 0 })
        let second = await engine.add(.into(directory, door.url("/second")))
        var outcomes: [DownloadID: Outcome] = [:]
        for await event in engine.singleEvents {
            outcomes[event.id, default: Outcome()].take(event)
            if event.id == first, event.isTerminal { gate.open() }
            if event.id == second, event.isTerminal { break }
        }
        await engine.shutdown(because: HaulError(.cancelled, "done"))
        #expect(outcomes[first]?.error?.code == .throttled)
        #expect(outcomes[second]?.result != nil)
        #expect(directory.holds("second", [1, 2, 3]))
        gate.open()
    }

    @Test("redirects that never end are given up")
    func redirectLoop() async throws {
        let server = try ScriptedServer { request, connection in
            connection.respond(status: 302, headers: [("Location", "/\(request.number)")])
        }
        let outcome = try await Downloads.run(.file(server.url("/f"), at: directory))
        #expect(outcome.error?.code == .tooManyRedirects)
        #expect(server.requests.count < 100)
    }

    // MARK: Links

    @Test("a temporary link that expires is renewed where it came from, and what came is kept")
    func expiringLink() async throws {
        let server = try ScriptedServer { [content] request, connection in
            if request.target == "/f" {
                connection.respond(
                    status: 302, headers: [("Location", "/signed?until=\(request.number)")])
            } else if request.number == 2 {
                connection.serve(file: content, for: request, etag: "\"a\"", cut: 600_000)
            } else if request.target == "/signed?until=1" {
                connection.respond(status: 403)
            } else {
                connection.serve(file: content, for: request, etag: "\"a\"")
            }
        }
        let outcome = try await Downloads.run(.file(server.url("/f"), at: directory))
        #expect(outcome.result != nil, "\(outcome.errors)")
        #expect(directory.holds("file.bin", content))
        let last = try #require(server.requests.last)
        #expect(last.target.hasPrefix("/signed") && last.target != "/signed?until=1")
        #expect(last.range?.lower == 600_000)
    }

    @Test("a link that expired for good is replaced by the one that a program supplies")
    func refreshCommand() async throws {
        let server = try ScriptedServer { [content] request, connection in
            if request.target == "/fresh" {
                connection.serve(file: content, for: request, etag: "\"a\"")
            } else if request.number == 1 {
                connection.serve(file: content, for: request, etag: "\"a\"", cut: 600_000)
            } else {
                connection.respond(status: 403)
            }
        }
        let outcome = try await Downloads.run(
            .file(server.url("/stale"), at: directory) {
                $0.refreshCommand = ["/bin/echo", server.url("/fresh")]
            })
        #expect(outcome.result != nil, "\(outcome.errors)")
        #expect(directory.holds("file.bin", content))
        #expect(server.requests.last?.target == "/fresh")
        #expect(server.requests.last?.range?.lower == 600_000)
    }

    @Test("a program that has no fresh link ends the download with the reason, and the bytes stay")
    func refreshFails() async throws {
        let server = try ScriptedServer { [content] request, connection in
            if request.number == 1 {
                connection.serve(file: content, for: request, etag: "\"a\"", cut: 600_000)
            } else {
                connection.respond(status: 403)
            }
        }
        let outcome = try await Downloads.run(
            .file(server.url("/f"), at: directory) { $0.refreshCommand = ["/bin/false"] })
        #expect(outcome.error?.code == .forbidden)
        #expect(outcome.error?.message.contains("the refresh command ended with status 1") == true)
        #expect(!directory.names.isEmpty && !directory.names.contains("file.bin"))
    }

    // MARK: Mirrors

    @Test("a mirror that is dead is left out, and the others bring the file", arguments: [0, 1])
    func deadMirror(position: Int) async throws {
        let dead = try ClosedPort()
        defer { withExtendedLifetime(dead) {} }
        let alive = try serving()
        let urls = position == 0 ? [dead.url("/f"), alive.url("/f")] : [alive.url("/f"), dead.url("/f")]
        var spec = DownloadSpec.file("", at: directory) {
            $0.retries = 1
            $0.connections = .fixed(2)
            $0.minimumSplit = 64 << 10
        }
        spec.urls = urls
        let outcome = try await Downloads.run(spec)
        #expect(outcome.result != nil, "\(outcome.errors)")
        #expect(directory.holds("file.bin", content))
        #expect(!outcome.notices.contains(.cannotResume))
    }

    @Test("a mirror with other bytes is found out by the checksum, and the other one is believed")
    func corruptMirror() async throws {
        var wrong = content
        wrong[500_000] ^= 1
        let corrupt = try ScriptedServer { [wrong] request, connection in
            connection.serve(file: wrong, for: request, etag: "\"a\"")
        }
        let honest = try serving()
        let checksum = try #require(ChecksumValue(.sha256, bytes: Digests.sha256(content)))
        let outcome = try await Downloads.run(
            .file(corrupt.url("/f"), honest.url("/f"), at: directory) { $0.checksums = [checksum] })
        #expect(outcome.result?.verified == [checksum], "\(outcome.errors)")
        #expect(directory.names == ["file.bin"])
        #expect(directory.holds("file.bin", content))
    }

    @Test("mirrors whose files differ are never mixed: without a checksum, all bytes are of one of them")
    func differingMirrors() async throws {
        let other = TestContent.bytes(seed: 42, count: content.count)
        let one = try serving()
        let two = try ScriptedServer { request, connection in
            connection.serve(file: other, for: request, etag: "\"b\"")
        }
        let outcome = try await Downloads.run(
            .file(one.url("/f"), two.url("/f"), at: directory) {
                $0.connections = .fixed(4)
                $0.minimumSplit = 64 << 10
            })
        #expect(outcome.result != nil, "\(outcome.errors)")
        #expect(directory.holds("file.bin", content))
    }

    // MARK: Disk

    @Test(
        "a disk that is full ends the download with that reason", .enabled(if: geteuid() == 0),
        arguments: [true, false])
    func diskFull(tellsLength: Bool) async throws {
        guard mount("tmpfs", directory.path, "tmpfs", 0, "size=400k") == 0 else {
            withKnownIssue("no file system may be mounted here") { Issue.record("mount: \(errno)") }
            return
        }
        defer { umount2(directory.path, Int32(MNT_DETACH)) }
        let server = try ScriptedServer { [content] request, connection in
            if tellsLength {
                connection.serve(file: content, for: request, etag: "\"a\"")
            } else {
                connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
                connection.send(content)
                connection.close()
            }
        }
        let outcome = try await Downloads.run(.file(server.url("/f"), at: directory))
        #expect(outcome.error?.code == .diskFull)
        #expect(!directory.names.contains("file.bin"))
        #expect(server.requests.count == 1)
    }
}
