/// 200: the whole file, whatever was asked.
struct WholeJudge {
    private let facts: AnswerFacts
    private let expectation: Expectation
    private let comparison: KnownComparison

    init(_ head: ResponseHead, _ expectation: Expectation) throws(Refusal) {
        facts = try AnswerFacts(head, urlPath: expectation.urlPath)
        self.expectation = expectation
        comparison = KnownComparison(facts: facts, expectation: expectation, isPartial: false)
    }

    func verdict() throws(Refusal) -> Verdict {
        // A coded body's length says nothing about the file's.
        let length = facts.codings.isEmpty ? facts.wireLength : nil
        try comparison.checkSize(facts.wireLength)
        let file = facts.file(length: length, hasRanges: false, isWhole: true)
        if asksForWhole, expectation.known == nil || expectation.isConditional {
            return .body(BodyPlan(offset: 0, length: facts.wireLength, file: file))
        }
        let agreement = try comparison.agreement(total: length)
        if asksForWhole {
            return .body(
                BodyPlan(offset: 0, length: facts.wireLength, restartsFile: agreement != .same, file: file))
        }
        let isSame = agreement == .same || agreement == .probablySame
        if isSame || expectation.toleratesOtherValidator || expectation.purpose != .probe {
            throw .rangeIgnored
        }
        return .body(BodyPlan(offset: 0, length: facts.wireLength, restartsFile: true, file: file))
    }

    /// Whether the body starts where the request did, and a segment asked for no less than everything.
    private var asksForWhole: Bool {
        guard let range = expectation.range else { return true }
        guard range.lower == 0 else { return false }
        return expectation.purpose == .probe || range.upper == .max
            || range.upper == expectation.known?.length
    }
}

/// 206: some bytes; `Content-Range` says which.
struct PartialJudge {
    private let head: ResponseHead
    private let facts: AnswerFacts
    private let expectation: Expectation
    private let comparison: KnownComparison

    init(_ head: ResponseHead, _ expectation: Expectation) throws(Refusal) {
        self.head = head
        facts = try AnswerFacts(head, urlPath: expectation.urlPath)
        self.expectation = expectation
        comparison = KnownComparison(facts: facts, expectation: expectation, isPartial: true)
    }

    func verdict() throws(Refusal) -> Verdict {
        let (range, total) = try givenRange()
        try comparison.checkSize(total ?? range.upper)
        let coversWhole = range.lower == 0 && range.upper == total
        guard facts.codings.isEmpty else { return try coded(range, total: total, coversWhole: coversWhole) }
        let agreement = try comparison.agreement(total: total)
        if let length = expectation.known?.length, range.upper > length {
            throw .changed("it reaches to \(range.upper), beyond its length of \(length)")
        }
        let file = facts.file(length: total ?? expectation.known?.length, hasRanges: true, isWhole: false)
        guard let asked = expectation.range else {
            guard coversWhole else { throw .badRange("a part came although the whole was asked for") }
            var whole = file
            whole.hasRanges = false
            return .body(BodyPlan(offset: 0, length: range.count, file: whole))
        }
        let skip = try skip(from: range, to: asked, agreement)
        return .body(BodyPlan(offset: range.lower, skip: skip, length: range.count, file: file))
    }

    /// What `Content-Range` says, once it does not contradict the other fields.
    private func givenRange() throws(Refusal) -> (ByteRange, total: Int64?) {
        if facts.mediaType == "multipart/byteranges" {
            throw .badRange("one range was answered with several parts")
        }
        let values = head.fields.values("Content-Range")
        guard let value = values.first else { throw .badRange("206 without Content-Range") }
        guard values.allSatisfy({ $0 == value }),
            case .range(let range, let total) = ContentRange(parsing: value)
        else {
            throw .badRange("206 with a Content-Range that makes no sense")
        }
        if let length = facts.wireLength, length != range.count {
            throw .badRange("Content-Length \(length) contradicts the \(range.count) bytes of Content-Range")
        }
        return (range, total)
    }

    /// Ranges of coded bytes cannot be placed in the decoded file; only all of them, in one piece, can be used.
    private func coded(_ range: ByteRange, total: Int64?, coversWhole: Bool) throws(Refusal) -> Verdict {
        guard coversWhole, expectation.purpose == .probe, (expectation.range?.lower ?? 0) == 0,
            expectation.known == nil
        else { throw .badRange("206 with a content coding") }
        let file = facts.file(length: nil, hasRanges: false, isWhole: false)
        return .body(BodyPlan(offset: 0, length: range.count, file: file))
    }

    /// Bytes to throw away when the answer starts before what was asked.
    private func skip(from given: ByteRange, to asked: ByteRange, _ agreement: Validator.Agreement)
        throws(Refusal) -> Int64
    {
        if given.lower == asked.lower { return 0 }
        let early = asked.lower - given.lower
        let isUsable = early > 0 && given.upper > asked.lower && early <= ResponseCheck.longestSkip
        guard isUsable, agreement == .same else {
            throw .otherRange("bytes \(given) came instead of those from \(asked.lower)")
        }
        return early
    }
}

/// 416: nothing there, which is good news when everything was fetched already.
struct UnsatisfiedJudge {
    let head: ResponseHead
    let expectation: Expectation

    init(_ head: ResponseHead, _ expectation: Expectation) {
        self.head = head
        self.expectation = expectation
    }

    func verdict() throws(Refusal) -> Verdict {
        let refused = Refusal.status(416, retryAfter: nil)
        guard let asked = expectation.range else { throw refused }
        let known = expectation.known
        if let known, !expectation.toleratesOtherValidator,
            known.validator.agreement(with: Validator(head: head)) == .different
        {
            throw .changed("its ETag or Last-Modified is another")
        }
        guard let total = statedTotal else {
            // Without a total the length that was known before decides.
            guard let length = known?.length, asked.lower >= length else { throw refused }
            return .nothingLeft(length: length)
        }
        if let length = known?.length, length != total {
            throw .changed("its length is \(total), not \(length)")
        }
        guard asked.lower == total || known?.length == total && asked.lower > total else {
            if known != nil, asked.lower > total {
                throw .changed("its length is \(total), less than is here")
            }
            throw refused
        }
        return .nothingLeft(length: total)
    }

    private var statedTotal: Int64? {
        guard let value = head.fields["Content-Range"],
            case .unsatisfied(let total) = ContentRange(parsing: value)
        else { return nil }
        return total
    }
}
