/// Judges every answer before its first byte is used, so that bytes of two things never meet in one file.
///
/// Trusts nothing that it can compare: status, `Content-Range`, lengths, validator, coding and type.
package enum ResponseCheck {
    /// Bytes that may be thrown away when a cache answers from an earlier, aligned offset.
    package static let longestSkip: Int64 = 1 << 20

    /// The judgement on one head.
    ///
    /// `now` is in seconds since 1970, and only for a `Retry-After` date in an answer without `Date`.
    package static func judge(_ head: ResponseHead, for expectation: Expectation, now: Int64) -> Verdict {
        do {
            switch head.status {
            case 200, 203: return try WholeJudge(head, expectation).verdict()
            case 206: return try PartialJudge(head, expectation).verdict()
            case 301, 302, 303, 307, 308: return try redirect(head)
            case 304 where expectation.isConditional: return .notModified
            case 416: return try UnsatisfiedJudge(head, expectation).verdict()
            case 200...599: return refusedStatus(head, now: now)
            default: return .refused(.malformed("status \(head.status) is not a final one"))
            }
        } catch {
            return .refused(error)
        }
    }

    private static func refusedStatus(_ head: ResponseHead, now: Int64) -> Verdict {
        let wait = head.fields["Retry-After"].flatMap {
            RetryAfter.seconds($0, date: head.fields["Date"], now: now)
        }
        return .refused(.status(head.status, retryAfter: wait))
    }

    private static func redirect(_ head: ResponseHead) throws(Refusal) -> Verdict {
        let places = Set(head.fields.all.filter { HeaderFields.same($0.name, "Location") }.map(\.bytes))
        guard places.count <= 1 else {
            throw .malformed("status \(head.status) with several places to go to")
        }
        guard let bytes = places.first, !ASCII.trimmed(bytes[...]).isEmpty else {
            throw .malformed("status \(head.status) without a Location")
        }
        // Bytes that are not UTF-8 would be lost in a string; coded they arrive as they were meant.
        return .redirect(
            status: head.status,
            location: ASCII.text(bytes) ?? PercentCoding.encodedUnsafe(ASCII.trimmed(bytes[...])))
    }
}

extension Refusal: Error {}

/// What all judges of a body share: the comparison with the file that is known.
struct KnownComparison {
    let facts: AnswerFacts
    let expectation: Expectation
    let isPartial: Bool

    /// Compares with the known file; without one, or without anything in common, `.unknown`.
    ///
    /// The total must always agree, even where another validator is tolerated: no checksum can make one file
    /// of two lengths.
    /// - Throws: `.changed`.
    func agreement(total: Int64?) throws(Refusal) -> Validator.Agreement {
        guard let known = expectation.known else { return .unknown }
        if let total, let length = known.length, total != length {
            throw .changed("its length is \(total), not \(length)")
        }
        guard known.codings == facts.codings else { throw .changed("its Content-Encoding is another") }
        let agreement = known.validator.agreement(with: facts.validator)
        if expectation.toleratesOtherValidator { return agreement }
        if agreement == .different { throw .changed("its ETag or Last-Modified is another") }
        if agreement != .same, let type = known.mediaType, becameWebPage(type) {
            throw .changed("a web page came instead of \(type)")
        }
        if agreement == .unknown, hasLostTag(known.validator) { throw .changed("it has no ETag any more") }
        return agreement
    }

    /// Captive portals and throttle pages come with status 200.
    private func becameWebPage(_ type: String) -> Bool {
        let isPage = { (type: String) in type == "text/html" || type == "application/xhtml+xml" }
        return !isPartial && !isPage(type) && facts.mediaType.map(isPage) ?? false
    }

    /// A 206 must repeat the strong tag, also after `If-Range` (RFC 9110 §15.3.7): some servers ignore that.
    private func hasLostTag(_ known: Validator) -> Bool {
        isPartial && known.etag?.isWeak == false
    }

    func checkSize(_ size: Int64?) throws(Refusal) {
        if let size, let maximum = expectation.maximumLength, size > maximum { throw .tooLarge(size) }
    }
}
