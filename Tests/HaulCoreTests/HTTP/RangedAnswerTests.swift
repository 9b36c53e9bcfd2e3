import HaulCore
import HaulTestSupport
import Testing

@Suite("ResponseCheck: ranges of a known file")
struct RangedAnswerTests {
    private let tag = ("ETag", "\"a\"")

    private func part(_ range: String, _ fields: (String, String)...) -> ResponseHead {
        var head = Answer.head(206, ("Content-Range", range))
        head.fields.all += fields.map { HeaderField($0.0, $0.1) }
        return head
    }

    @Test("a 206 that starts where asked is placed there; shorter or longer ones say so")
    func exact() throws {
        let plan = try #require(
            Answer.judge(part("bytes 400000-1048575/1048576", tag), Answer.resume(400_000)).plan)
        #expect(plan.offset == 400_000 && plan.skip == 0 && plan.length == 648_576 && !plan.restartsFile)
        #expect(plan.file.hasRanges && plan.file.length == Answer.mebibyte)
        let short = Answer.judge(part("bytes 400000-499999/1048576", tag), Answer.resume(400_000)).plan
        #expect(short?.length == 100_000)
        let segment = Answer.resume(0, 10, purpose: .segment)
        #expect(Answer.judge(part("bytes 0-99/1048576", tag), segment).plan?.length == 100)
        let unknownTotal = Answer.judge(part("bytes 400000-499999/*", tag), Answer.resume(400_000)).plan
        #expect(unknownTotal?.file.length == Answer.mebibyte)
    }

    @Test("a 206 that starts early is used only with the same strong validator and within a mebibyte")
    func early() throws {
        let given = "bytes 395904-1048575/1048576"
        let plan = try #require(Answer.judge(part(given, tag), Answer.resume(400_000)).plan)
        #expect(plan.offset == 395_904 && plan.skip == 4096 && plan.length == 652_672)
        let weak = Answer.resume(400_000, known: Answer.known(etag: "W/\"a\""))
        #expect(Answer.judge(part(given, ("ETag", "W/\"a\"")), weak).kind == "otherRange")
        #expect(Answer.judge(part(given), Answer.resume(400_000, ifRange: true)).kind == "changed")
        let large = Answer.resume(2_000_000, known: Answer.known(3_000_000))
        #expect(Answer.judge(part("bytes 0-2999999/3000000", tag), large).kind == "otherRange")
        #expect(
            Answer.judge(part("bytes 399000-399999/1048576", tag), Answer.resume(400_000)).kind
                == "otherRange")
    }

    @Test(
        "a 206 for other bytes, or one that cannot be trusted, is never used",
        arguments: [
            ("bytes 400001-1048575/1048576", "otherRange"), ("bytes 0-1048575/1048577", "changed"),
            ("bytes 400000-1048575/9999999", "changed"), ("bytes 400000-2000000/*", "changed"),
            ("bytes */1048576", "badRange"),
            ("bytes 400000-399999/1048576", "badRange"), ("bytes 400000-1048576/1048576", "badRange"),
            ("bytes 400000-", "badRange"), ("junk", "badRange"),
        ])
    func otherBytes(range: String, kind: String) {
        for purpose in [ExpectedAnswer.Purpose.probe, .segment, .sample] {
            #expect(Answer.judge(part(range, tag), Answer.resume(400_000, purpose: purpose)).kind == kind)
        }
    }

    @Test("no or several Content-Ranges, several parts, contradicting lengths: a bad range")
    func badRanges() {
        let resume = Answer.resume(400_000)
        let good = "bytes 400000-1048575/1048576"
        #expect(Answer.judge(Answer.head(206, tag, ("Content-Length", "648576")), resume).kind == "badRange")
        #expect(Answer.judge(part(good, ("Content-Range", "bytes 0-9/10")), resume).kind == "badRange")
        #expect(
            Answer.judge(part(good, tag, ("Content-Type", "Multipart/ByteRanges; boundary=x")), resume).kind
                == "badRange")
        #expect(Answer.judge(part(good, tag, ("Content-Length", "648575")), resume).kind == "badRange")
        #expect(Answer.judge(part(good, tag, ("Content-Length", "648576")), resume).kind == "body")
        #expect(
            Answer.judge(part(good, tag, ("Content-Length", "1"), ("Transfer-Encoding", "chunked")), resume)
                .kind == "body")
        #expect(Answer.judge(part(good, tag, ("Content-Encoding", "gzip")), resume).kind == "badRange")
    }

    @Test("a 206 with another, or without the, validator tells of another file, unless that is tolerated")
    func validators() {
        let good = "bytes 400000-1048575/1048576"
        #expect(Answer.judge(part(good, ("ETag", "\"b\"")), Answer.resume(400_000)).kind == "changed")
        #expect(
            Answer.judge(part(good, ("ETag", "\"b\"")), Answer.resume(400_000, ifRange: true)).kind
                == "changed")
        #expect(
            Answer.judge(part(good, ("ETag", "\"b\"")), Answer.resume(400_000, tolerates: true)).kind
                == "body")
        #expect(Answer.judge(part(good), Answer.resume(400_000)).kind == "changed")
        #expect(Answer.judge(part(good), Answer.resume(400_000, ifRange: true)).kind == "changed")
        #expect(Answer.judge(part(good), Answer.resume(400_000, tolerates: true)).kind == "body")
        #expect(
            Answer.judge(part(good), Answer.resume(400_000, known: Answer.known(etag: nil))).kind == "body")
        let timed = Answer.resume(400_000, known: Answer.known(etag: nil, time: 784_025_377))
        #expect(Answer.judge(part(good, Answer.modified), timed).kind == "body")
        #expect(
            Answer.judge(part(good, ("Last-Modified", "Sat, 05 Nov 1994 08:49:38 GMT")), timed).kind
                == "changed")
    }

    @Test("a length that differs is another file, whatever is tolerated")
    func totals() {
        let other = part("bytes 400000-1748576/1748577", tag)
        #expect(Answer.judge(other, Answer.resume(400_000, tolerates: true)).kind == "changed")
        #expect(
            Answer.judge(Answer.head(200, ("Content-Length", "9")), Answer.resume(4, tolerates: true)).kind
                == "changed")
    }

    @Test(
        "a 200 answer to a range request never touches the partial file",
        arguments: [
            // Same file: the server ignores ranges, or refused this one because of If-Range.
            (["ETag": "\"a\"", "Content-Length": "1048576"], "rangeIgnored", "rangeIgnored"),
            (["ETag": "\"a\""], "rangeIgnored", "rangeIgnored"),
            // Another file.
            (["ETag": "\"b\"", "Content-Length": "1048576"], "changed", "changed"),
            (["ETag": "\"a\"", "Content-Length": "1048577"], "changed", "changed"),
            (["Content-Length": "540", "Content-Type": "text/html"], "changed", "changed"),
            (["Content-Type": "text/html"], "changed", "changed"),
            // Nothing to compare.
            (["Content-Length": "1048576"], "body", "rangeIgnored"), ([:], "body", "rangeIgnored"),
        ] as [([String: String], String, String)])
    func wholeInstead(fields: [String: String], probe: String, segment: String) {
        let head = ResponseHead(
            status: 200, fields: HeaderFields(fields.map { HeaderField($0.key, $0.value) }))
        for ifRange in [false, true] {
            let known = Answer.known(type: "application/zip")
            let verdict = Answer.judge(head, Answer.resume(400_000, known: known, ifRange: ifRange))
            #expect(verdict.kind == probe)
            #expect(verdict.plan.map { $0.offset == 0 && $0.restartsFile } ?? true)
            for purpose in [ExpectedAnswer.Purpose.segment, .sample] {
                let expectation = Answer.resume(
                    400_000, 500_000, known: known, ifRange: ifRange, purpose: purpose)
                #expect(Answer.judge(head, expectation).kind == segment)
            }
        }
    }

    @Test("with nothing known, a 200 to a later range restarts the file")
    func nothingKnown() {
        let plan = Answer.judge(Answer.head(200, ("Content-Length", "9")), Answer.resume(4, known: nil)).plan
        #expect(plan?.restartsFile == true && plan?.offset == 0)
        #expect(
            Answer.judge(Answer.head(200), Answer.resume(4, 9, known: nil, purpose: .segment)).kind
                == "rangeIgnored")
    }

    @Test("a 200 to a range from 0 keeps later bytes only with the same strong validator")
    func fromZero() {
        let head = Answer.head(200, tag, ("Content-Length", "1048576"))
        #expect(Answer.judge(head, Answer.resume(0)).plan?.restartsFile == false)
        let weak = Answer.resume(0, known: Answer.known(etag: "W/\"a\""))
        #expect(Answer.judge(head, weak).plan?.restartsFile == true)
        #expect(Answer.judge(Answer.head(200, ("ETag", "\"b\"")), Answer.resume(0)).kind == "changed")
        #expect(Answer.judge(head, Answer.resume(0, purpose: .segment)).kind == "body")
        #expect(Answer.judge(head, Answer.resume(0, Answer.mebibyte, purpose: .segment)).kind == "body")
        #expect(Answer.judge(head, Answer.resume(0, 1000, purpose: .segment)).kind == "rangeIgnored")
    }

    @Test("when another validator is tolerated, a 200 asks for another way, not for a new start")
    func tolerated() {
        let head = Answer.head(200, ("ETag", "\"b\""), ("Content-Length", "1048576"))
        #expect(
            Answer.judge(head, Answer.resume(400_000, ifRange: true, tolerates: true)).kind == "rangeIgnored")
    }

    @Test(
        "416 is the end of a complete file, and news of another one",
        arguments: [
            ("bytes */1048576", Answer.mebibyte, "nothingLeft"),
            ("bytes */1048576", 2 * Answer.mebibyte, "nothingLeft"),
            ("bytes */1000", Answer.mebibyte, "changed"), ("bytes */2000000", Answer.mebibyte, "changed"),
            ("bytes */1048576", 400_000, "status"), (nil, Answer.mebibyte, "nothingLeft"),
            (nil, 400_000, "status"),
            ("junk", Answer.mebibyte, "nothingLeft"), ("bytes 0-4/5", 4, "status"),
        ] as [(String?, Int64, String)])
    func unsatisfied(range: String?, lower: Int64, kind: String) {
        var head = Answer.head(416, tag)
        if let range { head.fields.all.append(HeaderField("Content-Range", range)) }
        let verdict = Answer.judge(head, Answer.resume(lower))
        #expect(verdict.kind == kind)
        if kind == "nothingLeft" { #expect(verdict == .nothingLeft(length: Answer.mebibyte)) }
    }

    @Test("416 from another version is no good news; without a known length the server's word counts")
    func unsatisfiedElsewhere() {
        let end = ("Content-Range", "bytes */1048576")
        #expect(
            Answer.judge(Answer.head(416, end, ("ETag", "\"b\"")), Answer.resume(Answer.mebibyte)).kind
                == "changed")
        let unknown = Answer.resume(Answer.mebibyte, known: Answer.known(nil))
        #expect(Answer.judge(Answer.head(416, end), unknown) == .nothingLeft(length: Answer.mebibyte))
        #expect(Answer.judge(Answer.head(416, ("Content-Range", "bytes */5")), unknown).kind == "changed")
    }

    @Test("no random head makes a body that contradicts what was asked or known", arguments: 0..<40)
    func randomHeads(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<400 {
            let head = RandomAnswers.head(&random)
            let expectation = RandomAnswers.expectation(&random)
            let verdict = Answer.judge(head, expectation)
            guard let plan = verdict.plan else { continue }
            RandomAnswers.check(plan, of: head, for: expectation)
        }
    }
}

/// Heads and expectations from small sets of telling values, so that many combinations fit nearly.
enum RandomAnswers {
    static func head(_ random: inout SeededGenerator) -> ResponseHead {
        let values: [(String, [String])] = [
            (
                "Content-Range",
                [
                    "bytes 0-99/100", "bytes 50-99/100", "bytes 40-99/100", "bytes 50-59/*", "bytes */100",
                    "bytes */50", "x", "bytes 50-149/150",
                ]
            ),
            ("Content-Length", ["100", "50", "60", "10", "-1", "99999999999999999999"]),
            ("ETag", ["\"a\"", "\"b\"", "W/\"a\"", "a"]), ("Last-Modified", [Answer.modified.1, "x"]),
            ("Date", [Answer.date.1]),
            ("Content-Encoding", ["gzip", "identity", "br, gzip", "what"]),
            ("Transfer-Encoding", ["chunked"]),
            ("Content-Type", ["text/html", "application/zip", "multipart/byteranges", "application/gzip"]),
            ("Location", ["/x"]),
        ]
        var fields: [HeaderField] = []
        for (name, options) in values where Bool.random(using: &random) {
            if let value = options.randomElement(using: &random) { fields.append(HeaderField(name, value)) }
        }
        let status =
            [200, 200, 206, 206, 206, 203, 204, 302, 304, 404, 416, 503].randomElement(using: &random) ?? 200
        return ResponseHead(status: status, fields: HeaderFields(fields))
    }

    static func expectation(_ random: inout SeededGenerator) -> ExpectedAnswer {
        let ranges: [ByteRange?] = [
            nil, ByteRange(0, .max), ByteRange(50, .max), ByteRange(50, 60), ByteRange(0, 100),
        ]
        let known: [RemoteFile?] = [
            nil, Answer.known(100, type: "application/zip"), Answer.known(100, etag: nil), Answer.known(nil),
            Answer.known(100, etag: "W/\"a\"", time: 784_025_377),
        ]
        let purposes: [ExpectedAnswer.Purpose] = [.probe, .segment, .sample]
        return ExpectedAnswer(
            purpose: purposes.randomElement(using: &random) ?? .probe,
            range: ranges.randomElement(using: &random) ?? nil,
            known: known.randomElement(using: &random) ?? nil, sentIfRange: Bool.random(using: &random),
            isConditional: Int.random(in: 0..<4, using: &random) == 0,
            toleratesOtherValidator: Int.random(in: 0..<4, using: &random) == 0,
            maximumLength: Bool.random(using: &random) ? 120 : nil)
    }

    static func check(_ plan: BodyPlan, of head: ResponseHead, for expectation: ExpectedAnswer) {
        let asked = expectation.range?.lower ?? 0
        #expect([200, 203, 206].contains(head.status))
        #expect(plan.skip >= 0 && plan.skip <= ResponseCheck.longestSkip)
        #expect(plan.restartsFile ? plan.offset == 0 : plan.offset + plan.skip == asked)
        #expect(plan.skip == 0 || plan.length.map { $0 > plan.skip } ?? false)
        #expect(
            plan.file.codings.isEmpty || (plan.offset == 0 && !plan.file.hasRanges && plan.file.length == nil)
        )
        if let maximum = expectation.maximumLength, let length = plan.length { #expect(length <= maximum) }
        if head.status == 206 {
            #expect(plan.file.hasRanges == (expectation.range != nil) || !plan.file.codings.isEmpty)
            if case .range(let range, _)? = head.fields["Content-Range"].flatMap({ ContentRange(parsing: $0) }
            ) {
                #expect(plan.offset == range.lower && plan.length == range.count)
            } else {
                Issue.record("a 206 without a good Content-Range was accepted")
            }
        } else {
            #expect(plan.offset == 0 && !plan.file.hasRanges)
        }
        guard let known = expectation.known, !expectation.isConditional else { return }
        if let length = known.length, let given = plan.file.length { #expect(length == given) }
        if !expectation.toleratesOtherValidator {
            #expect(known.validator.agreement(with: plan.file.validator) != .different)
        }
    }
}
