/// What the answer to one request must look like.
package struct Expectation: Hashable, Sendable {
    package enum Purpose: Hashable, Sendable {
        /// The first request of a run: any good answer is welcome and teaches the file.
        case probe
        /// Bytes of a file that is known already.
        case segment
        /// A few bytes compared with what is on disk ('identity by sample').
        case sample
    }

    package var purpose: Purpose
    /// The range that the request asked for; `nil`: no `Range` was sent; `upper == .max`: open end.
    package var range: ByteRange?
    /// What the answer must agree with; `nil` on a first probe.
    package var known: RemoteFile?
    /// An `If-Range` was sent, so a 200 may mean 'changed'.
    package var sentIfRange: Bool
    /// `If-None-Match`/`If-Modified-Since` was sent, so 304 is good news.
    package var isConditional: Bool
    /// The length and validator need not agree (`--resume length`, or a checksum will decide).
    package var toleratesOtherValidator: Bool
    /// The path of the URL asked, for 'is the coding the file's own' (`x.gz` sent as gzip).
    package var urlPath: String
    /// The largest body wanted (`--max-filesize`), bytes.
    package var maximumLength: Int64?

    package init(
        purpose: Purpose, range: ByteRange? = nil, known: RemoteFile? = nil, sentIfRange: Bool = false,
        isConditional: Bool = false, toleratesOtherValidator: Bool = false, urlPath: String = "",
        maximumLength: Int64? = nil
    ) {
        self.purpose = purpose
        self.range = range
        self.known = known
        self.sentIfRange = sentIfRange
        self.isConditional = isConditional
        self.toleratesOtherValidator = toleratesOtherValidator
        self.urlPath = urlPath
        self.maximumLength = maximumLength
    }
}

/// Where the bytes of an accepted body belong.
package struct BodyPlan: Hashable, Sendable {
    /// File offset of the first byte of the body.
    package var offset: Int64
    /// Leading bytes of the body to throw away: the server started early, with the same strong validator.
    package var skip: Int64
    /// Bytes the body must have, before `skip`; `nil` when only its framing tells the end.
    package var length: Int64?
    /// The body is the whole file from byte 0 although a later range was asked (200 instead of 206).
    package var restartsFile: Bool
    /// Nothing but the end of the connection marks the end of the body: it cannot be told from a cut.
    package var endsWithConnection = false
    package var file: RemoteFile

    package init(offset: Int64, skip: Int64 = 0, length: Int64?, restartsFile: Bool = false, file: RemoteFile)
    {
        self.offset = offset
        self.skip = skip
        self.length = length
        self.restartsFile = restartsFile
        self.file = file
    }
}

/// Why no byte of an answer may be used.
package enum Refusal: Hashable, Sendable {
    /// An error status; `retryAfter` in seconds.
    case status(Int, retryAfter: Double?)
    /// The answer tells of other bytes than the known file's (length, validator or type); the text says what differs.
    case changed(String)
    /// A 200 came for a range of a known file, and its validator is the known one: the server ignores `Range`
    /// (or refused it because of `If-Range`).
    case rangeIgnored
    /// A 206 for other bytes than were asked.
    case otherRange(String)
    /// A 206 that cannot be trusted: no or a malformed `Content-Range`, multipart, or lengths that contradict.
    case badRange(String)
    /// Length, coding or framing fields that no honest answer has.
    case malformed(String)
    /// Larger than wanted.
    case tooLarge(Int64)
}

/// The judgement on one head.
package enum Verdict: Hashable, Sendable {
    case body(BodyPlan)
    /// 301, 302, 303, 307, 308 with a `Location`, which is given as it came (not yet resolved).
    case redirect(status: Int, location: String)
    /// 304 to a conditional request.
    case notModified
    /// 416 that says the file is exactly as long as what was asked beyond.
    case nothingLeft(length: Int64)
    case refused(Refusal)
}
