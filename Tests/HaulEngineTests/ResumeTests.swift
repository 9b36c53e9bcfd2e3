import HaulCore
import HaulTestSupport
import Testing

@testable import HaulEngine

@Suite("Going on after an interruption")
struct ResumeTests {
    private let directory: TemporaryDirectory
    private let content = TestContent.bytes(seed: 21, count: 2 << 20)
    private let changed = TestContent.bytes(seed: 22, count: 2 << 20)

    init() throws { directory = try TemporaryDirectory() }

    /// A run whose first answer broke off after `cut` bytes of the body, and whose server then went away.
    private func brokenOff(
        cut: Int = 700_000, etag: String? = "\"a\"", headers: [(String, String)] = []
    ) async throws -> ChangingServer {
        let server = try ChangingServer { [content] request, connection in
            guard request.number == 1 else { return connection.reset() }
            connection.serve(file: content, for: request, etag: etag, cut: cut, headers: headers)
        }
        let outcome = try await Downloads.run(spec(server) { $0.retries = 0 })
        #expect(outcome.error != nil)
        #expect(!directory.names.contains("file.bin"))
        #expect(directory.names.count == 2, "a partial and its journal: \(directory.names)")
        return server
    }

    private func spec(
        _ server: ChangingServer, _ change: (inout DownloadOptions) -> Void = { _ in }
    ) -> DownloadSpec {
        .file(server.url("/f"), at: directory, change)
    }

    /// The next run, against a server that is honest about this content.
    private func resume(
        _ server: ChangingServer, with file: [UInt8], etag: String? = "\"a\"",
        headers: [(String, String)] = [], change: (inout DownloadOptions) -> Void = { _ in }
    ) async throws -> Outcome {
        server.become { request, connection in
            connection.serve(file: file, for: request, etag: etag, headers: headers)
        }
        let outcome = try await Downloads.run(spec(server, change))
        #expect(outcome.result?.length == Int64(file.count), "\(outcome.errors)")
        #expect(directory.names == ["file.bin"])
        #expect(directory.holds("file.bin", file))
        return outcome
    }

    @Test(
        "with the same strong tag only the rest is fetched, however little there was before",
        arguments: [1, 5_000, 20_000, 300_000, 2_000_000])
    func strongTag(cut: Int) async throws {
        let server = try await brokenOff(cut: cut)
        let outcome = try await resume(server, with: content)
        #expect(outcome.resumedFrom == Int64(cut))
        #expect(server.ranges == [ByteRange(Int64(cut), Int64(content.count))])
        #expect(server.requests.first?.headers["If-Range"] == "\"a\"")
        #expect(outcome.result?.received == Int64(content.count - cut))
    }

    @Test("the partial of another URL under the same name is let go before the new one is made")
    func foreignPartial() async throws {
        let server = try await brokenOff()
        server.become { [changed] request, connection in
            connection.serve(file: changed, for: request, etag: "\"b\"")
        }
        let outcome = try await Downloads.run(
            .file(server.url("/other"), at: directory) { $0.connections = .fixed(1) })
        #expect(outcome.result?.length == Int64(changed.count), "\(outcome.errors)")
        #expect(directory.holds("file.bin", changed))
        // Held by ourselves it would seem busy, and the answer would be thrown away and asked for again.
        #expect(server.requests.count == 1)
    }

    @Test("after a shutdown, what was on disk counts")
    func afterShutdown() async throws {
        let server = try ChangingServer { [content] request, connection in
            connection.head(
                status: 206,
                headers: [
                    ("Content-Range", "bytes 0-\(content.count - 1)/\(content.count)"),
                    ("Content-Length", "\(content.count)"), ("ETag", "\"a\""),
                ])
            connection.send(Array(content[..<900_000]))
            connection.hold()
        }
        let stopped = try await Downloads.interrupt(spec(server), after: 500_000)
        #expect(stopped.error?.code == .interrupted)
        let outcome = try await resume(server, with: content)
        let offset = try #require(outcome.resumedFrom)
        #expect((500_000...900_000).contains(offset))
        #expect(server.ranges.map(\.lower) == [offset])
    }

    @Test("without a strong tag, samples of what is on disk are compared first")
    func samples() async throws {
        let server = try await brokenOff(etag: "W/\"a\"")
        let outcome = try await resume(server, with: content, etag: "W/\"a\"")
        #expect(outcome.notices.contains(.identityBySample))
        #expect(server.requests.allSatisfy { $0.headers["If-Range"] == nil })
        #expect(server.ranges.last == ByteRange(700_000, Int64(content.count)))
        #expect(server.ranges.dropLast().allSatisfy { $0.count <= 16 << 10 && $0.upper <= 700_000 })
        #expect(server.ranges.count == 4, "start, middle and end of what is there, then the rest")
    }

    @Test("samples that differ void what is on disk: the new file comes whole")
    func samplesDiffer() async throws {
        let server = try await brokenOff(etag: nil)
        let outcome = try await resume(server, with: changed, etag: nil)
        #expect(outcome.wasRestarted)
    }

    @Test(
        "a file that changed is fetched anew, and no byte of the old one is in it",
        arguments: ["If-Range is honoured", "If-Range is ignored"])
    func changedFile(server kind: String) async throws {
        let server = try await brokenOff()
        server.become { [changed] request, connection in
            connection.serve(
                file: changed, for: request, etag: "\"b\"", honoursIfRange: kind == "If-Range is honoured")
        }
        let outcome = try await Downloads.run(spec(server))
        #expect(outcome.result != nil, "\(outcome.errors)")
        #expect(outcome.wasRestarted)
        #expect(directory.names == ["file.bin"])
        #expect(directory.holds("file.bin", changed))
    }

    @Test("a file that became shorter than what is on disk is fetched anew")
    func shorterFile() async throws {
        let server = try await brokenOff()
        let outcome = try await resume(server, with: Array(changed[..<600_000]), etag: "\"b\"")
        #expect(outcome.wasRestarted)
    }

    @Test("a small file may take the place of a large partial")
    func smallFile() async throws {
        let server = try await brokenOff()
        _ = try await resume(server, with: Array(changed[..<10]), etag: "\"b\"")
    }

    @Test("a server that ignores If-Range and sends all of the same file is asked once more without it")
    func wholeForIfRange() async throws {
        let server = try await brokenOff()
        server.become { [content] request, connection in
            guard request.headers["If-Range"] != nil else {
                connection.serve(file: content, for: request, etag: "\"a\"")
                return
            }
            connection.respond(status: 200, headers: [("ETag", "\"a\"")], body: content)
        }
        let outcome = try await Downloads.run(spec(server))
        #expect(outcome.result != nil)
        #expect(directory.holds("file.bin", content))
        #expect(server.ranges.last == ByteRange(700_000, Int64(content.count)))
    }

    @Test("where nothing can be resumed, each try begins at the first byte")
    func noRanges() async throws {
        let server = try ScriptedServer { [content] request, connection in
            connection.head(status: 200, headers: [("Content-Length", "\(content.count)")])
            guard request.number == 3 else {
                connection.send(Array(content[..<(500_000 * request.number)]))
                return connection.close()
            }
            connection.send(content)
        }
        let outcome = try await Downloads.run(.file(server.url("/f"), at: directory))
        #expect(outcome.result != nil)
        #expect(outcome.notices.contains(.cannotResume))
        #expect(directory.names == ["file.bin"])
        #expect(directory.holds("file.bin", content))
        #expect(server.requests.count == 3)
    }

    @Test("a connection that breaks goes on where it broke, within the same run")
    func withinTheRun() async throws {
        let server = try ScriptedServer { [content] request, connection in
            connection.serve(
                file: content, for: request, etag: "\"a\"", cut: request.number < 5 ? 400_000 : nil)
        }
        let outcome = try await Downloads.run(.file(server.url("/f"), at: directory) { $0.retries = 1 })
        #expect(outcome.result != nil)
        #expect(directory.holds("file.bin", content))
        let starts = server.requests.compactMap { $0.range?.lower }
        #expect(starts == [0, 400_000, 800_000, 1_200_000, 1_600_000])
    }

    @Test("who wants no resuming gets none")
    func never() async throws {
        let server = try await brokenOff()
        let outcome = try await resume(server, with: content) { $0.resume = .never }
        #expect(outcome.resumedFrom == nil)
        #expect(server.ranges.map(\.lower) == [0])
    }

    @Test("who is strict gets nothing joined by samples")
    func strict() async throws {
        let server = try await brokenOff(etag: nil)
        let outcome = try await resume(server, with: content, etag: nil) { $0.resume = .strict }
        #expect(outcome.resumedFrom == nil)
        #expect(server.ranges.map(\.lower) == [0])
    }

    @Test("a journal that was damaged is never believed", arguments: ["torn", "empty", "zeros", "noise"])
    func damagedJournal(damage: String) async throws {
        let server = try await brokenOff()
        let name = try #require(directory.names.first { $0.hasSuffix(".haul") })
        let journal = try #require(directory.contents(name))
        let damaged: [UInt8] =
            switch damage {
            case "torn": Array(journal.dropLast(3))
            case "empty": []
            case "zeros": [UInt8](repeating: 0, count: journal.count)
            default: TestContent.bytes(seed: 5, count: journal.count)
            }
        try directory.write(damaged, to: name)
        _ = try await resume(server, with: content)
    }

    @Test("a partial that lost its end is fetched again where bytes are missing")
    func truncatedPartial() async throws {
        let server = try await brokenOff()
        let name = try #require(directory.names.first { !$0.hasSuffix(".haul") })
        let partial = try #require(directory.contents(name))
        try directory.write(Array(partial[..<100_000]), to: name)
        _ = try await resume(server, with: content)
    }
}
