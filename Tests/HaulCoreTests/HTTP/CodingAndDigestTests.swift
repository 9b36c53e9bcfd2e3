import HaulCore
import Testing

@Suite("ResponseCheck: codings and digests")
struct CodingAndDigestTests {
    private func judge(_ fields: [(String, String)], status: Int = 200, path: String = "/notes.txt")
        -> Verdict
    {
        let range: ByteRange? = status == 206 ? ByteRange(0, .max) : nil
        let head = ResponseHead(status: status, fields: HeaderFields(fields.map { HeaderField($0.0, $0.1) }))
        return ResponseCheck.judge(
            head, for: ExpectedAnswer(purpose: .probe, range: range, urlPath: path), now: 0)
    }

    @Test(
        "codings are undone from the outside in; what codes nothing is left out",
        arguments: [
            ("gzip", ["gzip"]), ("X-GZIP", ["gzip"]), ("deflate", ["deflate"]), ("br", ["br"]),
            ("zstd", ["zstd"]),
            ("gzip, br", ["br", "gzip"]), ("identity", []), ("", []), ("none", []), ("utf-8", []),
            ("aws-chunked", []),
            ("aws-chunked,gzip", ["gzip"]), ("gzip,br,zstd", nil), ("compress", nil), ("rot13", nil),
            ("gzip, what", nil),
        ] as [(String, [String]?)])
    func codings(value: String, expected: [String]?) {
        let verdict = judge([("Content-Encoding", value), ("Content-Length", "50")])
        #expect(verdict.plan?.file.codings == expected)
        #expect(verdict.kind == (expected == nil ? "malformed" : "body"))
        guard let plan = verdict.plan else { return }
        #expect(plan.length == 50, "the wire's length is what must come")
        #expect(plan.file.length == (plan.file.codings.isEmpty ? 50 : nil))
    }

    @Test(
        "a coding that is the file's own stays",
        arguments: [
            ("/data.gz", "gzip", nil, nil, []), ("/a.tar.gz?x", "gzip", nil, nil, []),
            ("/A.TGZ", "x-gzip", nil, nil, []),
            ("/a%2Egz", "gzip", nil, nil, []), ("/pic.svgz", "gzip", nil, nil, []),
            ("/x.br", "br", nil, nil, []),
            ("/x.zst", "zstd", nil, nil, []), ("/dl", "gzip", "application/x-gzip", nil, []),
            ("/dl", "gzip", "application/gzip; x=y", nil, []),
            ("/dl", "gzip", nil, "attachment; filename=a.gz", []),
            ("/data.gz", "br", nil, nil, ["br"]), ("/data.gz", "gzip, gzip", nil, nil, ["gzip"]),
            ("/data.txt", "gzip", "text/plain", nil, ["gzip"]), ("/x.gz.txt", "gzip", nil, nil, ["gzip"]),
        ] as [(String, String, String?, String?, [String])])
    func ownCodings(path: String, coding: String, type: String?, disposition: String?, expected: [String]) {
        var fields = [("Content-Encoding", coding)]
        if let type { fields.append(("Content-Type", type)) }
        if let disposition { fields.append(("Content-Disposition", disposition)) }
        #expect(judge(fields, path: path).plan?.file.codings == expected)
    }

    @Test("ranges of coded bytes are refused; all of them in one piece are a body that cannot be resumed")
    func codedRanges() throws {
        let coded = ("Content-Encoding", "gzip")
        #expect(judge([coded, ("Content-Range", "bytes 0-9/20")], status: 206).kind == "badRange")
        #expect(judge([coded, ("Content-Range", "bytes 0-9/*")], status: 206).kind == "badRange")
        let plan = try #require(judge([coded, ("Content-Range", "bytes 0-9/10")], status: 206).plan)
        #expect(
            !plan.file.hasRanges && plan.file.length == nil && plan.length == 10
                && plan.file.codings == ["gzip"])
        let own = judge([coded, ("Content-Range", "bytes 0-9/20")], status: 206, path: "/a.gz").plan
        #expect(own?.file.hasRanges == true && own?.file.length == 20)
        let head = ResponseHead(
            status: 206,
            fields: HeaderFields([
                HeaderField("Content-Encoding", "gzip"), HeaderField("Content-Range", "bytes 4-9/10"),
            ]))
        for purpose in [ExpectedAnswer.Purpose.probe, .segment, .sample] {
            #expect(
                Answer.judge(head, Answer.resume(4, known: Answer.known(10), purpose: purpose)).kind
                    == "badRange")
        }
    }

    @Test("a known file that suddenly comes coded has changed")
    func suddenlyCoded() {
        let head = Answer.head(200, ("ETag", "\"a\""), ("Content-Encoding", "gzip"))
        #expect(Answer.judge(head, Answer.resume(4)).kind == "changed")
    }

    private static let sha256 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    private static let hex = "sha-256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    @Test(
        "digests are read from well-formed members of the active algorithms",
        arguments: [
            ("sha-256=:\(sha256):", [hex]), ("SHA-256=:\(sha256):;q=1", [hex]),
            ("md5=:1B2M2Y8AsgTpgAmY7PhCfg==:", []),
            ("unixsum=30637, sha-256=:\(sha256):", [hex]), ("sha-256=\(sha256)", []), ("sha-256=:AAAA:", []),
            ("sha-256=:!!!:", []), ("", []), ("sha-256", []), ("sha-512=:\(sha256):", []),
        ])
    func digests(value: String, expected: [String]) {
        #expect(judge([("Repr-Digest", value)]).plan?.file.digests.map(\.description) == expected)
    }

    @Test("Content-Digest speaks for the file only in a whole answer, and neither does for a coded one")
    func digestScope() {
        let value = "sha-256=:\(Self.sha256):"
        #expect(judge([("Content-Digest", value)]).plan?.file.digests.count == 1)
        let range = ("Content-Range", "bytes 0-9/10")
        #expect(judge([("Content-Digest", value), range], status: 206).plan?.file.digests.count == 0)
        #expect(judge([("Repr-Digest", value), range], status: 206).plan?.file.digests.count == 1)
        #expect(
            judge([("Repr-Digest", value), ("Content-Digest", value), ("Content-Encoding", "gzip")]).plan?
                .file.digests.count == 0)
    }
}
