import HaulCore
import Testing

@Suite("HeadParser")
struct HeadParserTests {
    private func parse(_ text: String, ending: String = "\r\n") -> HeadParser {
        var parser = HeadParser()
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            Array((line + ending).utf8).withUnsafeBytes { parser.line($0) }
        }
        return parser
    }

    @Test("a head counts only once its empty line came", arguments: ["\r\n", "\n", ""])
    func complete(ending: String) {
        #expect(parse("HTTP/1.1 200 OK\nA: b\n", ending: ending).head == nil)
        let head = parse("HTTP/1.1 200 OK\nA: b\nC:d  \n\n", ending: ending).head
        #expect(
            head
                == ResponseHead(
                    status: 200, fields: HeaderFields([HeaderField("A", "b"), HeaderField("C", "d")])))
    }

    @Test(
        "status lines of all versions are read, others are not HTTP",
        arguments: [
            ("HTTP/1.0 200", 200), ("HTTP/2 206 ", 206), ("HTTP/3 404 Not Found", 404),
            ("HTTP/1.1  301 Moved", 301),
            ("ICY 200 OK", nil), ("HTTP/1.1 OK", nil), ("HTTP/1.1 2000 OK", nil), ("HTTP/1.1 -20 OK", nil),
            ("HTTP/1.1", nil), ("SSH-2.0-x", nil), ("HTTP/1.1 20x OK", nil),
        ])
    func statusLines(line: String, status: Int?) {
        let parser = parse(line + "\n\n")
        #expect(parser.head?.status == status)
        #expect(parser.isMalformed == (status == nil))
    }

    @Test("interim, proxy and authentication heads give way to the final one; trailers do not count")
    func rounds() {
        let text = """
            HTTP/1.1 200 Connection established
            X: proxy

            HTTP/1.1 100 Continue

            HTTP/1.1 401 Unauthorized
            X: login

            HTTP/1.1 103 Early Hints
            Link: x

            HTTP/1.1 206 Partial Content
            X: final

            X: trailer
            ETag: "trailer"

            """
        let head = parse(text).head
        #expect(head?.status == 206)
        #expect(head?.fields.values("x") == ["final"])
        #expect(head?.fields["etag"] == nil)
    }

    @Test("folded lines are joined, names are trimmed, lines without a colon are passed over")
    func oddLines() {
        let fields = parse("HTTP/1.1 200 OK\n lost\nA: b\n  c\n\td\nnonsense\n: x\nE : f:g\n\n").head?.fields
        #expect(fields?.all == [HeaderField("A", "b c d"), HeaderField("E", "f:g")])
    }

    @Test("values keep the bytes that came")
    func rawBytes() {
        var parser = HeadParser()
        for line in [Array("HTTP/1.1 200 OK".utf8), Array("N: ".utf8) + [0xFC, 0x00, 0x83], []] {
            line.withUnsafeBytes { parser.line($0) }
        }
        #expect(parser.head?.fields.first("n")?.bytes == [0xFC, 0x00, 0x83])
    }

    @Test("no head grows without end, be it by fields, by bytes or by folds")
    func limits() {
        let many = parse("HTTP/1.1 200 OK\n" + String(repeating: "A: b\n", count: 400) + "\n")
        #expect(many.overflowed && many.head?.fields.all.count == HeadParser.maximumFields)
        let large = parse(
            "HTTP/1.1 200 OK\n" + String(repeating: "A: \(String(repeating: "x", count: 4000))\n", count: 80)
                + "\n")
        #expect(large.overflowed)
        let folds = parse(
            "HTTP/1.1 200 OK\nA: b\n"
                + String(repeating: " \(String(repeating: "x", count: 4000))\n", count: 80) + "\n")
        #expect(folds.overflowed)
        #expect((folds.head?.fields.first("A")?.bytes.count ?? .max) <= HeadParser.maximumBytes)
        let big = parse(
            "HTTP/1.1 200 OK\nX-Huge: \(String(repeating: "h", count: 100 << 10))\nETag: \"a\"\n\n")
        #expect(!big.overflowed && big.head?.fields["ETag"] == "\"a\"")
        #expect(
            !parse("HTTP/1.1 200 OK\n" + String(repeating: "A: b\n", count: 400) + "\nHTTP/1.1 200 OK\n\n")
                .overflowed)
    }
}
