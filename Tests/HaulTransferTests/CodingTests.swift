import HaulCore
import HaulTestSupport
import Testing

@testable import HaulTransfer

@Suite("Coded bodies")
struct CodingTests {
    private static let codings = ["gzip", "x-gzip", "deflate", "raw deflate", "br", "zstd"]

    /// One answer, coded and chunked, to a probe that proceeds into a sink of the text's size.
    private func fetch(_ body: [UInt8], _ coding: String, maximum: Int64? = nil) async throws -> (
        Course, MemorySink
    ) {
        let server = try ScriptedServer { _, connection in
            let field = coding == "raw deflate" ? "deflate" : coding
            connection.head(
                status: 200,
                headers: [("Content-Encoding", field), ("Transfer-Encoding", "chunked")])
            // Odd pieces, so that no decoder sees its header or its end in one go.
            for start in stride(from: 0, to: body.count, by: 7_001) {
                let piece = body[start..<min(body.count, start + 7_001)]
                connection.send(String(piece.count, radix: 16) + "\r\n")
                connection.send(Array(piece))
                connection.send("\r\n")
            }
            connection.send("0\r\n\r\n")
        }
        let sink = MemorySink(count: CodedBodies.text.count)
        let course = try await Loop().run(
            Requests.probe(server.url("/f"), limit: 1000, maximum: maximum), proceeding: sink)
        return (course, sink)
    }

    @Test("a coding is undone while the body streams through", arguments: codings)
    func decoded(coding: String) async throws {
        let (course, sink) = try await fetch(CodedBodies.encode(CodedBodies.text, coding), coding)
        #expect(course.isWhole == true, "\(course.report.outcome)")
        #expect(course.contiguous == ByteRange(0, Int64(CodedBodies.text.count)))
        #expect(TestContent.firstDifference(sink.bytes, CodedBodies.text) == nil)
        #expect(course.head?.plan.file.hasRanges == false)
    }

    @Test("a small coded body comes decoded in memory")
    func smallBody() async throws {
        let text = Array("small".utf8)
        let body = CodedBodies.encode(text, "gzip")
        let server = try ScriptedServer { _, connection in
            connection.head(
                status: 200, headers: [("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")])
            connection.send(String(body.count, radix: 16) + "\r\n")
            connection.send(body)
            connection.send("\r\n0\r\n\r\n")
        }
        #expect(try await Loop().run(Requests.probe(server.url("/f"))).whole == text)
    }

    @Test("several codings are undone from the last to the first")
    func twoCodings() async throws {
        let body = CodedBodies.encode(CodedBodies.encode(CodedBodies.text, "gzip"), "zstd")
        let (course, sink) = try await fetch(body, "gzip, zstd")
        #expect(course.isWhole == true)
        #expect(TestContent.firstDifference(sink.bytes, CodedBodies.text) == nil)
    }

    @Test("gzip members in a row are one body")
    func members() async throws {
        let middle = CodedBodies.text.count / 2
        let body =
            CodedBodies.encode(Array(CodedBodies.text[..<middle]), "gzip")
            + CodedBodies.encode(Array(CodedBodies.text[middle...]), "gzip")
        let (course, sink) = try await fetch(body, "gzip")
        #expect(course.isWhole == true)
        #expect(TestContent.firstDifference(sink.bytes, CodedBodies.text) == nil)
    }

    @Test(
        "a coded body that stops before its own end is truncated, whatever its framing says",
        arguments: codings)
    func cutShort(coding: String) async throws {
        let body = CodedBodies.encode(CodedBodies.text, coding)
        let (course, _) = try await fetch(Array(body[..<(body.count - 6)]), coding)
        #expect(course.code == .truncated, "\(course.report.outcome)")
    }

    @Test("bytes that are not of the coding are refused", arguments: ["gzip", "br", "zstd"])
    func broken(coding: String) async throws {
        var body = CodedBodies.encode(CodedBodies.text, coding)
        for index in 0..<min(64, body.count) { body[index] = UInt8(truncatingIfNeeded: 0xFF &- index) }
        let (course, _) = try await fetch(body, coding)
        guard case .refused(.malformed) = course.verdict else {
            Issue.record("\(course.report.outcome)")
            return
        }
    }

    @Test("a body that grows beyond what is wanted is too large, whatever follows in it", arguments: codings)
    func tooLarge(coding: String) async throws {
        let body = CodedBodies.encode(CodedBodies.text, coding)
        for maximum in [0, 500, 100_000, Int64(CodedBodies.text.count - 1)] {
            let (course, _) = try await fetch(body, coding, maximum: maximum)
            #expect(course.verdict == .refused(.tooLarge(maximum + 1)), "\(course.report.outcome)")
        }
        // A block of zstd is checked before its first byte comes out.
        guard coding != "zstd" else { return }
        var broken = body
        for index in (body.count - 40)..<body.count { broken[index] = 0xFF }
        let (course, _) = try await fetch(broken, coding, maximum: 500)
        #expect(course.verdict == .refused(.tooLarge(501)), "\(course.report.outcome)")
    }
}
