import HaulCore
import Testing

@Suite("ResponseCheck: first answers")
struct FirstAnswerTests {
    private let plain = ExpectedAnswer(purpose: .probe)
    private let fromZero = ExpectedAnswer(purpose: .probe, range: ByteRange(0, .max))

    @Test("a 200 to the first probe is the whole file, without ranges")
    func whole() throws {
        let head = Answer.head(
            200, ("Content-Length", "9"), ("ETag", "\"a\""), ("Accept-Ranges", "bytes"),
            ("Content-Type", "Text/Plain; charset=x"))
        for expectation in [plain, fromZero] {
            let plan = try #require(Answer.judge(head, expectation).plan)
            #expect(plan.offset == 0 && plan.skip == 0 && plan.length == 9 && !plan.restartsFile)
            #expect(plan.file.length == 9 && !plan.file.hasRanges && plan.file.mediaType == "text/plain")
            #expect(plan.file.validator.etag?.opaque == "\"a\"")
        }
        #expect(Answer.judge(Answer.head(203, ("Content-Length", "9")), plain).plan?.length == 9)
        #expect(
            Answer.judge(Answer.head(200), fromZero).plan
                == BodyPlan(offset: 0, length: nil, file: RemoteFile()))
        #expect(Answer.judge(Answer.head(200, ("Content-Length", "0")), fromZero).plan?.file.length == 0)
    }

    @Test("a Content-Range in a 200 says nothing")
    func rangeIn200() {
        let head = Answer.head(200, ("Content-Length", "9"), ("Content-Range", "bytes 3-4/5"))
        #expect(Answer.judge(head, fromZero).plan?.file.length == 9)
    }

    @Test("a good 206 to bytes=0- teaches the length and that ranges work")
    func ranged() throws {
        let head = Answer.head(206, ("Content-Range", "bytes 0-8/9"), ("Content-Length", "9"))
        let plan = try #require(Answer.judge(head, fromZero).plan)
        #expect(plan == BodyPlan(offset: 0, length: 9, file: RemoteFile(length: 9, hasRanges: true)))
        let capped = Answer.head(206, ("Content-Range", "bytes 0-99999/1048576"))
        #expect(Answer.judge(capped, fromZero).plan?.length == 100_000)
        #expect(Answer.judge(capped, fromZero).plan?.file.length == Answer.mebibyte)
        let unknown = Answer.head(206, ("Content-Range", "bytes 0-8/*"))
        #expect(
            Answer.judge(unknown, fromZero).plan
                == BodyPlan(offset: 0, length: 9, file: RemoteFile(hasRanges: true)))
    }

    @Test(
        "a 206 that nobody asked for must be the whole file",
        arguments: [
            ("bytes 0-8/9", "body"), ("bytes 0-7/9", "badRange"), ("bytes 1-8/9", "badRange"),
            ("bytes 0-8/*", "badRange"),
        ])
    func unasked(range: String, kind: String) {
        let verdict = Answer.judge(Answer.head(206, ("Content-Range", range)), plain)
        #expect(verdict.kind == kind)
        #expect(verdict.plan?.file.hasRanges != true)
    }

    @Test(
        "a length that no honest answer has is refused; one that chunked framing overrides is not looked at",
        arguments: [
            (["99999999999999999999"], nil), (["-5"], nil), (["3", "5"], nil), (["3, 5"], nil), (["3, 3"], 3),
            (["3", "3"], 3),
            (["3", "3,3"], 3), (["0x3"], nil), (["+3"], nil), (["3.0"], nil), ([""], nil), (["3 3"], nil),
            ([" 3 "], 3),
            (["9223372036854775807"], .max), (["9223372036854775808"], nil), (["03"], 3),
        ] as [([String], Int64?)])
    func lengths(values: [String], expected: Int64?) {
        let fields = values.map { HeaderField("content-length", $0) }
        let verdict = Answer.judge(ResponseHead(status: 200, fields: HeaderFields(fields)), plain)
        #expect(verdict.plan?.length == expected)
        #expect(verdict.kind == (expected == nil ? "malformed" : "body"))
        let chunked = fields + [HeaderField("Transfer-Encoding", "Chunked")]
        let plan = Answer.judge(ResponseHead(status: 200, fields: HeaderFields(chunked)), plain).plan
        #expect(plan != nil && plan?.length == nil && plan?.file.length == nil)
    }

    @Test(
        "statuses that bring no file are refused as they are",
        arguments: [
            201, 202, 204, 205, 207, 226, 300, 304, 305, 306, 400, 403, 404, 405, 410, 429, 451, 500, 503,
            599,
        ])
    func refusedStatuses(status: Int) {
        let head = Answer.head(status, ("Retry-After", "7"), ("Content-Length", "100"), ("Location", "/x"))
        #expect(Answer.judge(head, fromZero) == .refused(.status(status, retryAfter: 7)))
    }

    @Test("statuses that are no final ones are malformed", arguments: [0, 99, 100, 103, 600, 999])
    func noStatus(status: Int) {
        #expect(Answer.judge(Answer.head(status), plain).kind == "malformed")
    }

    @Test("Retry-After as a date is measured by the server's own clock, then by ours")
    func retryDates() {
        let later = ("Retry-After", "Sun, 06 Nov 1994 08:49:41 GMT")
        #expect(Answer.judge(Answer.head(503, later), plain) == .refused(.status(503, retryAfter: 4)))
        let skewed = Answer.head(503, later, ("Date", "Sun, 06 Nov 1994 08:49:31 GMT"))
        #expect(Answer.judge(skewed, plain) == .refused(.status(503, retryAfter: 10)))
        #expect(
            Answer.judge(Answer.head(429, ("Retry-After", "junk")), plain)
                == .refused(.status(429, retryAfter: nil)))
    }

    @Test("redirects need one place to go to", arguments: [301, 302, 303, 307, 308])
    func redirects(status: Int) {
        let good = Answer.head(status, ("Location", "/a b#c"))
        #expect(Answer.judge(good, plain) == .redirect(status: status, location: "/a b#c"))
        #expect(Answer.judge(Answer.head(status), plain).kind == "malformed")
        #expect(Answer.judge(Answer.head(status, ("Location", " ")), plain).kind == "malformed")
        #expect(
            Answer.judge(Answer.head(status, ("Location", "/a"), ("Location", "/b")), plain).kind
                == "malformed")
        #expect(
            Answer.judge(Answer.head(status, ("Location", "/a"), ("location", "/a")), plain).kind
                == "redirect")
    }

    @Test("a Location in Latin-1 arrives as the bytes that were sent")
    func latinLocation() {
        let field = HeaderField(name: "Location", bytes: Array("/".utf8) + [0xFC] + Array(".bin".utf8))
        let verdict = Answer.judge(ResponseHead(status: 302, fields: HeaderFields([field])), plain)
        #expect(verdict == .redirect(status: 302, location: "/%FC.bin"))
    }

    @Test("304 is good news only for who asked conditionally")
    func conditional() {
        var conditional = plain
        conditional.isConditional = true
        conditional.known = Answer.known(5)
        #expect(Answer.judge(Answer.head(304), conditional) == .notModified)
        #expect(Answer.judge(Answer.head(304), plain) == .refused(.status(304, retryAfter: nil)))
        // What differs from the old file is exactly what was asked for.
        #expect(
            Answer.judge(Answer.head(200, ("ETag", "\"b\""), ("Content-Length", "9")), conditional).plan?
                .length == 9)
    }

    @Test("an empty file may answer bytes=0- with 416")
    func emptyFile() {
        #expect(
            Answer.judge(Answer.head(416, ("Content-Range", "bytes */0")), fromZero)
                == .nothingLeft(length: 0))
        #expect(Answer.judge(Answer.head(416, ("Content-Range", "bytes */9")), fromZero).kind == "status")
        #expect(Answer.judge(Answer.head(416), fromZero).kind == "status")
        #expect(Answer.judge(Answer.head(416, ("Content-Range", "bytes */0")), plain).kind == "status")
    }

    @Test("what is larger than wanted is refused before its first byte")
    func tooLarge() {
        var small = fromZero
        small.maximumLength = 8
        #expect(Answer.judge(Answer.head(200, ("Content-Length", "9")), small) == .refused(.tooLarge(9)))
        #expect(Answer.judge(Answer.head(200, ("Content-Length", "8")), small).kind == "body")
        #expect(
            Answer.judge(Answer.head(206, ("Content-Range", "bytes 0-1/9")), small) == .refused(.tooLarge(9)))
        #expect(
            Answer.judge(Answer.head(206, ("Content-Range", "bytes 0-8/*")), small) == .refused(.tooLarge(9)))
    }
}
