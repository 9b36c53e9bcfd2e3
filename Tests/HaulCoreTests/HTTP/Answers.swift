import HaulCore

// A file that does not import Testing, which has an `Expectation` of its own.
typealias ExpectedAnswer = Expectation

/// Short ways to write heads and expectations in tables.
enum Answer {
    static let mebibyte: Int64 = 1 << 20
    static let date = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
    static let modified = ("Last-Modified", "Sat, 05 Nov 1994 08:49:37 GMT")

    static func head(_ status: Int, _ fields: (String, String)...) -> ResponseHead {
        ResponseHead(status: status, fields: HeaderFields(fields.map { HeaderField($0.0, $0.1) }))
    }

    static func judge(_ head: ResponseHead, _ expectation: Expectation) -> Verdict {
        ResponseCheck.judge(head, for: expectation, now: 784_111_777)
    }

    static func known(
        _ length: Int64? = mebibyte, etag: String? = "\"a\"", time: Int64? = nil, type: String? = nil
    ) -> RemoteFile {
        let validator = Validator(etag: etag.flatMap { EntityTag(parsing: $0) }, lastModified: time)
        return RemoteFile(length: length, hasRanges: true, validator: validator, mediaType: type)
    }

    static func resume(
        _ lower: Int64, _ upper: Int64 = .max, known: RemoteFile? = known(), ifRange: Bool = false,
        tolerates: Bool = false,
        purpose: Expectation.Purpose = .probe
    ) -> Expectation {
        Expectation(
            purpose: purpose, range: ByteRange(lower, upper), known: known, sentIfRange: ifRange,
            toleratesOtherValidator: tolerates)
    }
}

extension Verdict {
    var plan: BodyPlan? { if case .body(let plan) = self { plan } else { nil } }

    /// The kind of a verdict, without its texts.
    var kind: String {
        switch self {
        case .body: "body"
        case .redirect: "redirect"
        case .notModified: "notModified"
        case .nothingLeft: "nothingLeft"
        case .refused(.status): "status"
        case .refused(.changed): "changed"
        case .refused(.rangeIgnored): "rangeIgnored"
        case .refused(.otherRange): "otherRange"
        case .refused(.badRange): "badRange"
        case .refused(.malformed): "malformed"
        case .refused(.tooLarge): "tooLarge"
        }
    }
}
