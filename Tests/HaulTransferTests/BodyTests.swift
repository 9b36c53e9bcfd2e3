import HaulCore
import HaulPlatform
import HaulTestSupport
import Testing

@testable import HaulTransfer

@Suite("Bodies and where they go")
struct BodyTests {
    private let content = TestContent.bytes(seed: 2, count: 1 << 20)
    private var length: Int64 { Int64(content.count) }

    /// Sends `first` bytes of the body, the rest only when the gate is open.
    private func holding(_ gate: Gate, after first: Int) throws -> ScriptedServer {
        try ScriptedServer { [content] request, connection in
            let start = Int(request.range?.lower ?? 0)
            let end = Int(min(request.range?.upper ?? .max, Int64(content.count)))
            connection.head(
                status: 206,
                headers: [
                    ("Content-Range", "bytes \(start)-\(end - 1)/\(content.count)"),
                    ("Content-Length", "\(end - start)"), ("ETag", "\"a\""),
                ])
            connection.send(Array(content[start..<min(end, start + first)]))
            gate.wait()
            connection.send(Array(content[min(end, start + first)..<end]))
        }
    }

    private func serving() throws -> ScriptedServer {
        try ScriptedServer { [content] request, connection in
            connection.serve(file: content, for: request, etag: "\"a\"")
        }
    }

    // MARK: Probes

    @Test("a large probe waits for its sink, then delivers everything in order")
    func probeProceeds() async throws {
        let server = try serving()
        let sink = MemorySink(count: content.count)
        let course = try await Loop().run(Requests.probe(server.url("/f")), proceeding: sink)
        #expect(course.head?.plan.file.length == length)
        #expect(course.head?.plan.file.hasRanges == true)
        #expect(course.contiguous == ByteRange(0, length))
        #expect(course.isWhole == true)
        #expect(TestContent.firstDifference(sink.bytes, content) == nil)
        #expect(!sink.commitsUnwritten)
    }

    @Test("a probe that may not keep anything in memory waits with its first byte")
    func probeWithoutMemory() async throws {
        let server = try serving()
        let sink = MemorySink(count: content.count)
        let course = try await Loop().run(Requests.probe(server.url("/f"), limit: 0), proceeding: sink)
        #expect(course.contiguous == ByteRange(0, length))
        #expect(TestContent.firstDifference(sink.bytes, content) == nil)
    }

    @Test("a probe without a length asks for a sink once it outgrows the limit")
    func unknownLength() async throws {
        let server = try ScriptedServer { [content] _, connection in
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            connection.send(content)
            connection.close()
        }
        let sink = MemorySink(count: content.count)
        let course = try await Loop().run(Requests.probe(server.url("/f")), proceeding: sink)
        #expect(course.head?.plan.file.length == nil)
        #expect(course.contiguous == ByteRange(0, length))
        #expect(course.isWhole == true)
        #expect(TestContent.firstDifference(sink.bytes, content) == nil)
    }

    @Test("a probe that is cancelled while it waits for its sink says so once, and writes nothing")
    func cancelledWhileWaiting() async throws {
        let server = try serving()
        let loop = try Loop()
        let request = try Requests.probe(server.url("/f"))
        loop.post(.start(request))
        await loop.events { if case .head = $0 { true } else { false } }
        let sink = MemorySink(count: content.count)
        loop.post(.cancel(request.id))
        loop.post(.proceed(request.id, sink))
        #expect(await loop.finish(request.id).wasCancelled)
        #expect(sink.written.isEmpty)
        loop.loop.close()
    }

    // MARK: Segments

    @Test("a segment writes its own range and nothing beside it")
    func segmentStaysInItsRange() async throws {
        let server = try serving()
        let sink = MemorySink(count: content.count)
        let range = ByteRange(300_001, 777_777)
        let course = try await Loop().run(
            Requests.segment(server.url("/f"), range, of: length, etag: "\"a\"", to: sink))
        #expect(course.isWhole == true)
        #expect(course.contiguous == range)
        #expect(sink.written == RangeSet([range]))
        #expect(Array(sink.bytes[300_001..<777_777]) == Array(content[300_001..<777_777]))
    }

    @Test("a server that starts early, with the same strong tag, has its first bytes thrown away")
    func earlyStart() async throws {
        let server = try ScriptedServer { [content] _, connection in
            connection.respond(
                status: 206,
                headers: [("Content-Range", "bytes 4096-99999/\(content.count)"), ("ETag", "\"a\"")],
                body: Array(content[4096..<100_000]))
        }
        let sink = MemorySink(count: content.count)
        let range = ByteRange(5000, 100_000)
        let course = try await Loop().run(
            Requests.segment(server.url("/f"), range, of: length, etag: "\"a\"", to: sink))
        #expect(course.contiguous == range)
        #expect(sink.written == RangeSet([range]))
        #expect(Array(sink.bytes[5000..<100_000]) == Array(content[5000..<100_000]))
    }

    /// Answers of which no byte may reach the file.
    private static let foreign: [(name: String, status: Int, fields: [(String, String)])] = [
        ("whole", 200, [("ETag", "\"a\"")]),
        ("another tag", 206, [("Content-Range", "bytes 1000-1999/1048576"), ("ETag", "\"b\"")]),
        ("another length", 206, [("Content-Range", "bytes 1000-1999/1048577"), ("ETag", "\"a\"")]),
        ("another place", 206, [("Content-Range", "bytes 2000-2999/1048576"), ("ETag", "\"a\"")]),
        ("no place", 206, [("ETag", "\"a\"")]),
    ]

    @Test("of an answer that does not fit, no byte reaches the sink", arguments: 0..<5)
    func refusedAnswers(index: Int) async throws {
        let (name, status, fields) = BodyTests.foreign[index]
        let server = try ScriptedServer { _, connection in
            connection.respond(status: status, headers: fields, body: [UInt8](repeating: 9, count: 1000))
        }
        let sink = MemorySink(count: content.count)
        let course = try await Loop().run(
            Requests.segment(server.url("/f"), ByteRange(1000, 2000), of: length, etag: "\"a\"", to: sink))
        guard case .refused = course.verdict else {
            Issue.record("\(name): \(course.report.outcome)")
            return
        }
        #expect(sink.written.isEmpty, "\(name)")
        #expect(course.delivering == 0, "\(name)")
    }

    @Test("a sample comes in memory and reaches no file")
    func samples() async throws {
        let server = try serving()
        var request = try Requests.segment(
            server.url("/f"), ByteRange(500, 900), of: length, to: MemorySink(count: 0))
        request.delivery = .sample
        request.expectation.purpose = .sample
        request.expectation.toleratesOtherValidator = true
        let course = try await Loop().run(request)
        guard case .sampled(let bytes, _) = course.report.outcome else {
            Issue.record("the outcome is \(course.report.outcome)")
            return
        }
        #expect(bytes == Array(content[500..<900]))
    }

    @Test("a disk that fails ends the transfer with its reason; what was committed before stays")
    func failingSink() async throws {
        let server = try serving()
        let sink = MemorySink(count: content.count, failsAt: 500_000)
        let course = try await Loop().run(Requests.probe(server.url("/f")), proceeding: sink)
        guard case .sinkFailed(let failure) = course.report.outcome else {
            Issue.record("the outcome is \(course.report.outcome)")
            return
        }
        #expect(failure.code == 28)
        #expect(!sink.commitsUnwritten)
        #expect(course.contiguous.map { $0.upper <= 500_000 } ?? true)
    }

    // MARK: Ends that move

    /// Starts a segment whose server holds back after 100,000 bytes, and waits until some of them are committed.
    private func begin(_ gate: Gate) async throws -> (Loop, MemorySink, TransferRequest, ScriptedServer) {
        let server = try holding(gate, after: 100_000)
        let loop = try Loop()
        let sink = MemorySink(count: content.count)
        let request = try Requests.segment(
            server.url("/f"), ByteRange(0, length), of: length, etag: "\"a\"", to: sink)
        loop.post(.start(request))
        await loop.events { if case .committed(_, let range) = $0 { range.upper == 100_000 } else { false } }
        return (loop, sink, request, server)
    }

    @Test("a nearer end is kept to, byte for byte")
    func nearerEnd() async throws {
        let gate = Gate()
        defer { gate.open() }
        let (loop, sink, request, server) = try await begin(gate)
        loop.post(.moveEnd(request.id, to: 500_000))
        let moved = await loop.events { if case .endMoved = $0 { true } else { false } }
        guard case .endMoved(_, 500_000) = moved.last else {
            Issue.record("\(moved)")
            return
        }
        gate.open()
        let course = await loop.finish(request.id)
        #expect(course.isWhole == false)
        #expect(sink.written == RangeSet([ByteRange(0, 500_000)]))
        #expect(Array(sink.bytes[..<500_000]) == Array(content[..<500_000]))
        server.stop()
    }

    @Test("an end that lies behind what has come is not taken: the answer tells where it really ends")
    func endBehind() async throws {
        let gate = Gate()
        defer { gate.open() }
        let (loop, sink, request, server) = try await begin(gate)
        loop.post(.moveEnd(request.id, to: 50_000))
        let course = await loop.finish(request.id)
        #expect(course.ends == [100_000])
        #expect(course.isWhole == false)
        #expect(sink.written == RangeSet([ByteRange(0, 100_000)]))
        gate.open()
        server.stop()
    }

    @Test("an end can move away again, as far as the answer reaches")
    func fartherEnd() async throws {
        let gate = Gate()
        defer { gate.open() }
        let (loop, sink, request, server) = try await begin(gate)
        loop.post(.moveEnd(request.id, to: 200_000))
        loop.post(.moveEnd(request.id, to: 600_000))
        await loop.events { if case .endMoved(_, 600_000) = $0 { true } else { false } }
        gate.open()
        #expect(await loop.finish(request.id).isWhole == false)
        #expect(sink.written == RangeSet([ByteRange(0, 600_000)]))
        server.stop()
    }

    @Test("an end that was moved before the answer came holds for it")
    func movedBeforeTheAnswer() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer { [content] request, connection in
            gate.wait()
            connection.serve(file: content, for: request, etag: "\"a\"")
        }
        let loop = try Loop()
        let sink = MemorySink(count: content.count)
        let request = try Requests.segment(
            server.url("/f"), ByteRange(100_000, length), of: length, etag: "\"a\"", to: sink)
        loop.post(.start(request))
        loop.post(.moveEnd(request.id, to: 300_000))
        await loop.events { if case .endMoved(_, 300_000) = $0 { true } else { false } }
        gate.open()
        let course = await loop.finish(request.id)
        #expect(course.contiguous == ByteRange(100_000, 300_000))
        #expect(sink.written == RangeSet([ByteRange(100_000, 300_000)]))
    }

    @Test("of a large body that broke off while its name was claimed, what came is kept")
    func brokenOffWhileWaiting() async throws {
        let server = try ScriptedServer { [content] request, connection in
            connection.serve(file: content, for: request, etag: "\"a\"", cut: 20_000)
        }
        let loop = try Loop()
        let request = try Requests.probe(server.url("/f"))
        loop.post(.start(request))
        await loop.events { if case .head = $0 { true } else { false } }
        server.stop()
        let sink = MemorySink(count: content.count)
        loop.post(.proceed(request.id, sink))
        let course = await loop.finish(request.id)
        #expect(course.code == .truncated)
        #expect(course.contiguous == ByteRange(0, 20_000))
    }

    @Test("a cancelled transfer has committed what it wrote, and says once that it is over")
    func cancelled() async throws {
        let gate = Gate()
        defer { gate.open() }
        let (loop, sink, request, server) = try await begin(gate)
        loop.post(.cancel(request.id))
        #expect(await loop.finish(request.id).wasCancelled)
        #expect(sink.written == RangeSet([ByteRange(0, 100_000)]))
        gate.open()
        server.stop()
    }

    // MARK: Broken bodies

    private enum Break: CaseIterable { case fin, reset, chunk }

    @Test("a body that breaks off is no body: what came is committed, and the failure says truncated")
    func brokenOff() async throws {
        for kind in Break.allCases {
            let server = try ScriptedServer { [content] _, connection in
                if kind == .chunk {
                    connection.head(status: 200, headers: [("Transfer-Encoding", "chunked")])
                    connection.send("80000\r\n")
                } else {
                    connection.head(status: 200, headers: [("Content-Length", "\(content.count)")])
                }
                connection.send(Array(content[..<400_000]))
                if kind == .reset { connection.reset() } else { connection.close() }
            }
            let sink = MemorySink(count: content.count)
            let course = try await Loop().run(Requests.probe(server.url("/f")), proceeding: sink)
            #expect(course.code == .truncated, "\(kind): \(course.report.outcome)")
            let committed = course.contiguous?.upper ?? 0
            #expect(kind == .reset ? committed <= 400_000 : committed == 400_000, "\(kind)")
            #expect(Array(sink.bytes[..<Int(committed)]) == Array(content[..<Int(committed)]), "\(kind)")
        }
    }

    @Test("a small body that breaks off is not taken for a whole one")
    func smallBrokenOff() async throws {
        let server = try ScriptedServer { [content] _, connection in
            connection.head(status: 200, headers: [("Content-Length", "1000")])
            connection.send(Array(content[..<999]))
            connection.close()
        }
        let course = try await Loop().run(Requests.probe(server.url("/f")))
        #expect(course.code == .truncated)
        #expect(course.whole == nil)
    }

    @Test("a server that says nothing more has stalled")
    func stall() async throws {
        let server = try ScriptedServer { [content] request, connection in
            connection.head(status: 200, headers: [("Content-Length", "\(content.count)")])
            connection.send(Array(content[..<400_000]))
            connection.hold()
        }
        var request = try Requests.probe(server.url("/f"))
        request.connection.stallTimeout = 0.3
        let sink = MemorySink(count: content.count)
        let course = try await Loop().run(request, proceeding: sink)
        #expect(course.code == .stalled)
        #expect(course.contiguous == ByteRange(0, 400_000))
    }
}
