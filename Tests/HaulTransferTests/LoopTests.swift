import CCurl
import HaulCore
import HaulPlatform
import HaulTestSupport
import Testing

@testable import HaulTransfer

@Suite("The transfer loop")
struct LoopTests {
    @Test("closing ends every transfer, and each says once that it was cancelled")
    func closing() async throws {
        let server = try ScriptedServer { _, connection in
            connection.head(status: 200, headers: [("Content-Length", "1000000")])
            connection.send([UInt8](repeating: 1, count: 10_000))
            connection.hold()
        }
        let loop = try Loop()
        let ids = (1...5).map { TransferID($0) }
        for id in ids { loop.post(.start(try Requests.probe(server.url("/f"), id: id.rawValue))) }
        // Some stand at the gate of their sink, some have not even connected.
        await loop.events { if case .head = $0 { true } else { false } }
        loop.loop.close()
        loop.post(.start(try Requests.probe(server.url("/f"), id: 99)))
        var ended: [TransferID] = []
        await loop.events { event in
            if case .finished(let id, let report) = event {
                ended.append(id)
                if case .cancelled = report.outcome {} else { Issue.record("\(report.outcome)") }
            }
            return ended.count == ids.count
        }
        #expect(ended.sorted() == ids)
        loop.loop.close()
    }

    @Test("many transfers at once each bring their own bytes")
    func manyAtOnce() async throws {
        let server = try ScriptedServer { request, connection in
            let number = UInt64(request.target.dropFirst()) ?? 0
            connection.respond(status: 200, body: TestContent.bytes(seed: number, count: 5_000))
        }
        let loop = try Loop()
        for id in 1...100 as ClosedRange<UInt64> {
            loop.post(.start(try Requests.probe(server.url("/\(id)"), id: id)))
        }
        var ended: Set<TransferID> = []
        await loop.events { event in
            guard case .finished(let id, let report) = event else { return false }
            ended.insert(id)
            if case .whole(let bytes, _) = report.outcome {
                #expect(bytes == TestContent.bytes(seed: id.rawValue, count: 5_000))
            } else {
                Issue.record("\(id): \(report.outcome)")
            }
            return ended.count == 100
        }
        #expect(ended.count == 100)
    }

    @Test("commands about transfers that do not exist are ignored")
    func unknownTransfers() async throws {
        let server = try ScriptedServer { _, connection in connection.respond(status: 200, body: [7]) }
        let loop = try Loop()
        loop.post(.cancel(TransferID(5)))
        loop.post(.moveEnd(TransferID(5), to: 3))
        loop.post(.proceed(TransferID(5), MemorySink(count: 1)))
        #expect(try await loop.run(Requests.probe(server.url("/f"))).whole == [7])
    }

    @Test("nobody listening is a failure to connect, no such host one to resolve")
    func unreachable() async throws {
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let loop = try Loop()
        #expect(try await loop.run(Requests.probe(closed.url("/f"))).code == .connectFailed)
        #expect(try await loop.run(Requests.probe("http://no-such-host.invalid/")).code == .resolveFailed)
    }

    @Test("under a limit everything still arrives, in order")
    func underALimit() async throws {
        let content = TestContent.bytes(seed: 9, count: 300_000)
        let server = try ScriptedServer { request, connection in
            connection.serve(file: content, for: request)
        }
        let loop = try Loop()
        loop.post(.limitAll(3_000_000))
        loop.post(.limit(DownloadID(1), 1_500_000))
        let sink = MemorySink(count: content.count)
        let course = try await loop.run(Requests.probe(server.url("/f"), limit: 0), proceeding: sink)
        #expect(course.contiguous == ByteRange(0, 300_000))
        #expect(TestContent.firstDifference(sink.bytes, content) == nil)
    }

    // MARK: Logins and cookies

    @Test("a digest challenge is answered, and the report says what the server wants")
    func digest() async throws {
        let server = try ScriptedServer { request, connection in
            let answer = request.headers["Authorization"] ?? ""
            if answer.hasPrefix("Digest "), answer.contains("username=\"me\"") {
                connection.respond(status: 200, body: Array("inside".utf8))
            } else {
                connection.respond(
                    status: 401,
                    headers: [
                        (
                            "WWW-Authenticate",
                            "Digest realm=\"r\", nonce=\"n1\", qop=\"auth\", algorithm=SHA-256"
                        )
                    ],
                    body: Array("outside".utf8))
            }
        }
        var request = try Requests.probe(server.url("/f"))
        request.credentials = Credentials(user: "me", password: "secret")
        let course = try await Loop().run(request)
        #expect(course.whole == Array("inside".utf8))
        #expect(course.report.offeredScheme == .digest)
        #expect(server.requests.count == 2)
        #expect(!server.requests.contains { $0.headers["Authorization"]?.contains("secret") ?? false })
    }

    @Test("a password that is wrong ends in the 401")
    func wrongPassword() async throws {
        let server = try ScriptedServer { _, connection in
            connection.respond(status: 401, headers: [("WWW-Authenticate", "Basic realm=\"r\"")])
        }
        var request = try Requests.probe(server.url("/f"))
        request.credentials = Credentials(user: "me", password: "wrong")
        let course = try await Loop().run(request)
        #expect(course.verdict == .refused(.status(401, retryAfter: nil)))
        #expect(course.report.offeredScheme == .basic)
    }

    @Test("cookies travel as values: the jar comes back, goes out again, and stays with its download")
    func cookies() async throws {
        let server = try ScriptedServer { _, connection in
            connection.respond(status: 200, headers: [("Set-Cookie", "key=value; Path=/")], body: [1])
        }
        let loop = try Loop()
        let first = try await loop.run(Requests.probe(server.url("/f")))
        let jar = try #require(first.report.cookies)
        #expect(jar.contains { $0.hasSuffix("key\tvalue") })
        var second = try Requests.probe(server.url("/f"), id: 2)
        second.cookies = jar
        _ = await loop.run(second)
        // The same handle serves another download now.
        _ = try await loop.run(Requests.probe(server.url("/f"), id: 3))
        #expect(server.requests.map { $0.headers["Cookie"] } == [nil, "key=value", nil])
    }

    @Test("a handle that served one request brings nothing of it into the next")
    func reusedHandles() async throws {
        let server = try ScriptedServer { _, connection in connection.respond(status: 200, body: [1]) }
        let loop = try Loop()
        var first = try Requests.probe(server.url("/a"), id: 1)
        first.method = "POST"
        first.body = [1, 2, 3]
        first.headers.append(HeaderField("X-Secret", "1"))
        first.cookieHeader = "a=b"
        first.credentials = Credentials(user: "me", password: "pw")
        first.scheme = .basic
        _ = await loop.run(first)
        _ = try await loop.run(Requests.probe(server.url("/b"), id: 2))
        let (one, two) = try (#require(server.requests.first), #require(server.requests.last))
        #expect(one.headers["Authorization"] != nil && one.headers["Cookie"] == "a=b")
        #expect(two.method == "GET")
        for name in ["Authorization", "Cookie", "X-Secret", "Content-Length", "Content-Type"] {
            #expect(two.headers[name] == nil, "\(name)")
        }
    }
}

@Suite("What failures below the answer mean")
struct TransferFailureTests {
    private static let table: [(CURLcode, HaulError.Code, Failure.Kind)] = [
        (CURLE_COULDNT_RESOLVE_HOST, .resolveFailed, .connection),
        (CURLE_COULDNT_RESOLVE_PROXY, .proxyFailed, .connection),
        (CURLE_PROXY, .proxyFailed, .connection),
        (CURLE_COULDNT_CONNECT, .connectFailed, .connection),
        (CURLE_OPERATION_TIMEDOUT, .connectTimeout, .connection),
        (CURLE_PARTIAL_FILE, .truncated, .connection),
        (CURLE_GOT_NOTHING, .connectionLost, .connection),
        (CURLE_RECV_ERROR, .connectionLost, .connection),
        (CURLE_SEND_ERROR, .connectionLost, .connection),
        (CURLE_HTTP2_STREAM, .connectionLost, .connection),
        (CURLE_PEER_FAILED_VERIFICATION, .tlsVerification, .permanent),
        (CURLE_SSL_PINNEDPUBKEYNOTMATCH, .tlsVerification, .permanent),
        (CURLE_SSL_CACERT_BADFILE, .tlsFailed, .permanent),
        (CURLE_SSL_CERTPROBLEM, .tlsFailed, .permanent),
        (CURLE_SSL_CONNECT_ERROR, .tlsFailed, .connection),
        (CURLE_LOGIN_DENIED, .authenticationFailed, .permanent),
        (CURLE_REMOTE_FILE_NOT_FOUND, .notFound, .refusedLink),
        (CURLE_REMOTE_ACCESS_DENIED, .forbidden, .permanent),
        (CURLE_RANGE_ERROR, .rangeRefused, .ranges),
        (CURLE_BAD_DOWNLOAD_RESUME, .rangeRefused, .ranges),
        (CURLE_WEIRD_SERVER_REPLY, .protocolError, .permanent),
        (CURLE_UNSUPPORTED_PROTOCOL, .protocolError, .permanent),
        (CURLE_OUT_OF_MEMORY, .usage, .permanent),
    ]

    @Test("every code has its error and its consequence", arguments: table.indices)
    func mapping(index: Int) throws {
        let (code, expected, kind) = TransferFailureTests.table[index]
        let url = try URLReference(parsing: "https://user:hidden@host.example/f?signature=abc")
        let failure = TransferFailure(code: Int32(code.rawValue)).failure(of: url)
        #expect(failure.error.code == expected)
        #expect(failure.kind == kind)
        #expect(!failure.error.message.contains("hidden"))
    }

    @Test("a host key that is not the known one is final, and says so")
    func hostKey() throws {
        let url = try URLReference(parsing: "sftp://host.example/f")
        let code = Int32(CURLE_PEER_FAILED_VERIFICATION.rawValue)
        #expect(TransferFailure(code: code).failure(of: url).error.code == .hostKeyRefused)
    }

    @Test("a stall is worth another try, and a cut body says that it was cut")
    func ownFailures() throws {
        let url = try URLReference(parsing: "http://host.example/f")
        var failure = TransferFailure(code: Int32(CURLE_OPERATION_TIMEDOUT.rawValue))
        failure.isStall = true
        #expect(failure.failure(of: url).error.code == .stalled)
        #expect(failure.failure(of: url).kind == .connection)
        failure = TransferFailure(code: Int32(CURLE_RECV_ERROR.rawValue))
        failure.isTruncated = true
        #expect(failure.failure(of: url).error.code == .truncated)
    }

    @Test("the system's reason is in the words")
    func systemReason() throws {
        let url = try URLReference(parsing: "http://host.example/f")
        let failure = TransferFailure(
            code: Int32(CURLE_COULDNT_CONNECT.rawValue), systemCode: 111, detail: "Failed to connect")
        #expect(failure.failure(of: url).error.message.hasSuffix(": connection refused"))
    }

    @Test(
        "a proxy that cannot be reached is named, and a host behind none is not called one",
        arguments: [
            ("p.example port 3128", true, "cannot connect to the proxy p.example:3128: connection refused"),
            ("::1 port 3128", true, "cannot connect to the proxy [::1]:3128: connection refused"),
            (
                "host.example port 3128", true,
                "cannot connect to the proxy host.example:3128: connection refused"
            ),
            ("host.example port 80", true, "cannot connect to host.example:80: connection refused"),
            ("p.example port 3128", false, "cannot connect to host.example:80: connection refused"),
        ])
    func proxy(_ called: String, _ viaProxy: Bool, _ message: String) throws {
        let url = try URLReference(parsing: "http://host.example/f")
        let failure = TransferFailure(
            code: Int32(CURLE_COULDNT_CONNECT.rawValue), systemCode: 111,
            detail: "Failed to connect to \(called) after 3 ms: Couldn't connect to server")
        let error = failure.failure(of: url, viaProxy: viaProxy).error
        #expect(error.message == message)
        #expect(error.code == (message.contains("proxy") ? .proxyFailed : .connectFailed))
    }

    @Test(
        "what failed is said once, and not in the library's words",
        arguments: [
            (
                CURLE_RECV_ERROR, 104, "Recv failure: Connection reset by peer",
                "was lost: connection reset by peer"
            ),
            (CURLE_GOT_NOTHING, 0, "Empty reply from server", "was lost: it was closed without an answer"),
            (
                CURLE_PARTIAL_FILE, 0, "transfer closed with 120 bytes remaining to read",
                "/f ended before all of it had come: 120 bytes are missing"
            ),
            (
                CURLE_COULDNT_CONNECT, 0, "Failed to connect to h port 1 after 3 ms",
                ":80: nobody answers there"
            ),
            (CURLE_SEND_ERROR, 0, "libcurl was unlucky", "was lost: failed sending data to the peer"),
            (
                CURLE_SSL_CONNECT_ERROR, 0, "error:0A000410:SSL routines::sslv3 alert handshake failure",
                "failed: sslv3 alert handshake failure"
            ),
            (
                CURLE_SSL_CONNECT_ERROR, 0,
                "OpenSSL/3.0.22: error:0A00010B:SSL routines::wrong version number",
                "host.example:80 does not speak TLS"
            ),
            (
                CURLE_COULDNT_RESOLVE_PROXY, 0, "Could not resolve proxy: p.example",
                "the proxy cannot be used: its name p.example cannot be found"
            ),
            (
                CURLE_RECV_ERROR, 0,
                "OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0",
                "was lost: unexpected eof while reading"
            ),
            (
                CURLE_PEER_FAILED_VERIFICATION, 0, "SSL certificate problem: certificate has expired",
                "cannot be trusted: certificate has expired"
            ),
        ] as [(CURLcode, Int32, String, String)])
    func ownWords(_ code: CURLcode, _ system: Int32, _ detail: String, _ ending: String) throws {
        let url = try URLReference(parsing: "http://host.example/f")
        let failure = TransferFailure(code: Int32(code.rawValue), systemCode: system, detail: detail)
        let message = failure.failure(of: url).error.message
        #expect(message.hasSuffix(ending), "\(message)")
        #expect(!message.lowercased().contains("curl"))
    }
}

@Suite("Rate limits")
struct RateLimiterTests {
    private let start = Instant(nanoseconds: 0)
    private let one = DownloadID(1)
    private let other = DownloadID(2)

    @Test("without a limit nobody waits")
    func noLimit() {
        var limiter = RateLimiter()
        limiter.take(1 << 40, one, now: start)
        #expect(limiter.delay(one, now: start) == 0)
        #expect(limiter.tightest(one) == nil)
    }

    @Test("what one download took, another need not pay, unless the limit is that of all")
    func ownAndCommon() {
        var limiter = RateLimiter()
        limiter.limit(one, 1000, now: start)
        limiter.take(2000, one, now: start)
        #expect(limiter.delay(one, now: start) > 0)
        #expect(limiter.delay(other, now: start) == 0)
        limiter.limitAll(500, now: start)
        limiter.take(1000, other, now: start)
        #expect(limiter.delay(other, now: start) > 0)
        #expect(limiter.tightest(one) == 500)
        #expect(limiter.tightest(other) == 500)
    }

    @Test("lifting a limit lets everybody go on at once")
    func lifted() {
        var limiter = RateLimiter()
        limiter.limitAll(10, now: start)
        limiter.take(10_000, one, now: start)
        limiter.limitAll(nil, now: start)
        #expect(limiter.delay(one, now: start) == 0)
    }

    @Test(
        "over any time no more passes than the limit and one burst",
        arguments: [1_000, 100_000, 50_000_000] as [Int64])
    func neverFaster(rate: Int64) {
        var random = SeededGenerator(seed: UInt64(rate))
        var limiter = RateLimiter()
        limiter.limit(one, rate, now: start)
        var now = start
        var passed: Int64 = 0
        var largest: Int64 = 0
        for _ in 0..<2_000 {
            let delay = limiter.delay(one, now: now)
            if delay > 0 {
                now = now.advanced(by: delay)
                #expect(limiter.delay(one, now: now) == 0, "the wait that was told is long enough")
            }
            let piece = Int64.random(in: 1...16_384, using: &random)
            largest = max(largest, piece)
            limiter.take(Int(piece), one, now: now)
            passed += piece
            let most = Double(rate) * (now.seconds(since: start) + 0.11) + Double(largest) + 1
            #expect(Double(passed) <= most)
        }
        // And it is not slower either: what passed, less one piece, is what the time was for.
        #expect(Double(passed - largest) >= Double(rate) * now.seconds(since: start) * 0.99)
    }
}
