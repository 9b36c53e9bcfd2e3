import HaulCore
import HaulTestSupport
import Testing

@testable import HaulTransfer

@Suite("Answers over a real connection")
struct AnswerTests {
    private let content = TestContent.bytes(seed: 1, count: 100_000)

    @Test("a body within the limit comes whole in memory, and with one word: its end")
    func wholeSmallBody() async throws {
        let server = try ScriptedServer { [content] request, connection in
            connection.serve(file: content, for: request, etag: "\"a\"")
        }
        let course = try await Loop().run(Requests.probe(server.url("/f")))
        #expect(course.whole == content)
        #expect(course.delivering == 0)
        #expect(course.head == nil, "a probe that is whole needs no name beforehand")
        #expect(course.committed.isEmpty)
        #expect(course.report.head?.status == 206)
        #expect(course.report.head?.fields["ETag"] == "\"a\"")
        #expect(course.report.received == 100_000)
    }

    @Test("bodies without a length are as long as their framing says", arguments: ["HTTP/1.1", "HTTP/1.0"])
    func lengthByFraming(version: String) async throws {
        let server = try ScriptedServer { [content] _, connection in
            connection.send("\(version) 200 OK\r\nConnection: close\r\n\r\n")
            connection.send(content)
            connection.close()
        }
        #expect(try await Loop().run(Requests.probe(server.url("/f"))).whole == content)
    }

    @Test("a chunked body is whole when its last chunk came")
    func chunked() async throws {
        let server = try ScriptedServer { _, connection in
            connection.head(status: 200, headers: [("Transfer-Encoding", "chunked")])
            connection.send("5;name=value\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: x\r\n\r\n")
        }
        let course = try await Loop().run(Requests.probe(server.url("/f")))
        #expect(course.whole == Array("hello world".utf8))
    }

    @Test("an empty file is whole, whatever the server calls it", arguments: [200, 416])
    func emptyFile(status: Int) async throws {
        let server = try ScriptedServer { _, connection in
            let range = status == 416 ? [("Content-Range", "bytes */0")] : []
            connection.respond(status: status, headers: range)
        }
        let course = try await Loop().run(Requests.probe(server.url("/f")))
        #expect(status == 200 ? course.whole == [] : course.verdict == .nothingLeft(length: 0))
    }

    @Test("interim answers are passed over; the final head is the one that counts")
    func interimAnswers() async throws {
        let server = try ScriptedServer { _, connection in
            connection.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
            connection.respond(status: 200, headers: [("X-Final", "1")], body: [1, 2, 3])
        }
        let course = try await Loop().run(Requests.probe(server.url("/f")))
        #expect(course.whole == [1, 2, 3])
        #expect(course.report.head?.status == 200)
        #expect(course.report.head?.fields["X-Final"] == "1")
        #expect(course.report.head?.fields["Link"] == nil)
    }

    @Test("an error's page is no body: the verdict is a refusal with the status and the first words")
    func errorPages() async throws {
        let server = try ScriptedServer { _, connection in
            connection.respond(
                status: 503, headers: [("Retry-After", "7")], body: Array("come back later".utf8))
        }
        let course = try await Loop().run(Requests.probe(server.url("/f")))
        #expect(course.verdict == .refused(.status(503, retryAfter: 7)))
        #expect(course.report.excerpt == Array("come back later".utf8))
        #expect(course.delivering == 0)
    }

    @Test("of an endless error page no more is read than it takes to judge it")
    func endlessErrorPage() async throws {
        let server = try ScriptedServer { _, connection in
            connection.head(status: 404, headers: [("Content-Length", "9999999999")])
            let piece = [UInt8](repeating: 120, count: 64 << 10)
            while connection.send(piece) {}
        }
        let course = try await Loop().run(Requests.probe(server.url("/f")))
        #expect(course.verdict == .refused(.status(404, retryAfter: nil)))
        #expect(course.report.received < 2 << 20)
    }

    @Test(
        "a redirect is told, not followed, with its place as it came", arguments: [301, 302, 303, 307, 308])
    func redirects(status: Int) async throws {
        let server = try ScriptedServer { _, connection in
            connection.respond(
                status: status, headers: [("Location", "../there?a=%20b#c")], body: Array("moved".utf8))
        }
        let course = try await Loop().run(Requests.probe(server.url("/x/f")))
        #expect(course.verdict == .redirect(status: status, location: "../there?a=%20b#c"))
        #expect(server.requests.count == 1)
    }

    @Test("what is not HTTP is refused without a byte being used")
    func notHTTP() async throws {
        let server = try ScriptedServer { _, connection in
            connection.send("SSH-2.0-OpenSSH_9.2\r\n")
            connection.close()
        }
        let course = try await Loop().run(Requests.probe(server.url("/f")))
        #expect(course.code == .protocolError)
        #expect(course.delivering == 0)
    }

    @Test("a head that is too large is refused: many fields, or a single one", arguments: [5_000, 1])
    func endlessHead(fields: Int) async throws {
        let server = try ScriptedServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\n")
            for number in 0..<fields {
                let value = String(repeating: "y", count: 1_000_000 / fields)
                guard connection.send("X-\(number): \(value)\r\n") else { return }
            }
            connection.send("Content-Length: 3\r\n\r\nabc")
        }
        let course = try await Loop().run(Requests.probe(server.url("/f")))
        if case .refused(.malformed) = course.verdict {} else { #expect(course.code == .protocolError) }
        #expect(course.delivering == 0)
    }

    @Test("a body that outgrows the largest size is refused, even when no length was told")
    func tooLarge() async throws {
        let server = try ScriptedServer { [content] _, connection in
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            connection.send(content)
            connection.close()
        }
        let course = try await Loop().run(Requests.probe(server.url("/f"), maximum: 50_000))
        #expect(course.verdict == .refused(.tooLarge(50_001)))
    }

    @Test("a method and a body go out as they were given, and the fields of the request with them")
    func requestsGoOutAsGiven() async throws {
        let server = try ScriptedServer { _, connection in connection.respond(status: 200, body: [1]) }
        var request = try Requests.probe(server.url("/a%2Fb/../c?q=%41"), range: nil)
        request.method = "PUT"
        request.body = Array("payload".utf8)
        request.headers = [HeaderField("X-One", "1"), HeaderField("X-Empty", ""), HeaderField("X-One", "2")]
        #expect(try await Loop().run(request).whole == [1])
        let seen = try #require(server.requests.first)
        #expect(seen.method == "PUT")
        #expect(seen.target == "/a%2Fb/../c?q=%41", "paths are signed: they are sent byte for byte")
        #expect(seen.headers.values("X-One") == ["1", "2"])
        #expect(seen.headers["X-Empty"] == "")
        #expect(seen.headers["Content-Length"] == "7")
        #expect(seen.headers["Expect"] == nil)
        #expect(seen.headers["Range"] == nil)
    }
}
