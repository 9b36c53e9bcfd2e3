import HaulCore
import HaulTransfer

/// Turns the work that a machine wants into a request: adds identity, conditions and, where they may go, secrets.
struct RequestBuilder {
    @Boxed private(set) var options: DownloadOptions
    let sources: [URLReference]
    var netrc: Netrc?

    init(options: Boxed<DownloadOptions>, sources: [URLReference]) {
        _options = options
        self.sources = sources
    }

    /// `cookies`: the download's jar.
    ///
    /// `scheme`: how that origin wants to be logged into, as far as it is known.
    func request(
        _ id: TransferID, _ work: TransferWork, delivery: TransferRequest.Delivery, group: DownloadID,
        cookies: [String], scheme: TransferRequest.Scheme
    ) -> TransferRequest {
        var request = TransferRequest(
            id: id, url: work.url, expectation: work.expectation, delivery: delivery, group: group)
        let mayKnow = sources.first?.origin == work.url.origin
        let userFields = mayKnow ? options.headers : []
        request.headers = fields(work, userFields)
        if !work.dropsBody {
            request.method = options.method
            request.body = options.body
        }
        if mayKnow, let bearer = options.bearer {
            request.headers.append(HeaderField("Authorization", "Bearer \(bearer)"))
        }
        request.cookieHeader = userFields.last { HeaderFields.same($0.name, "Cookie") }?.value
        request.credentials = credentials(work, mayKnow: mayKnow)
        request.awsSigV4 = mayKnow ? options.awsSigV4 : nil
        request.scheme = scheme
        request.cookies = cookies
        request.connection = options.connection
        request.usesOwnConnection = work.isExtra || options.rateLimit != nil
        request.baseOffset = window?.lower ?? 0
        return request
    }

    /// The part that `--range` asks for; `nil`: the whole file.
    var window: ByteRange? { options.range.flatMap(RequestBuilder.window) }

    /// Reads `A-B` (both inclusive) or `A-`.
    static func window(_ text: String) -> ByteRange? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Int64(ends[0]), first >= 0 else { return nil }
        if ends[1].isEmpty { return ByteRange(first, .max) }
        guard let last = Int64(ends[1]), last >= first, last < .max else { return nil }
        return ByteRange(first, last + 1)
    }

    /// What a request to this URL brings to identify the user, in words for a person; `nil`: nothing.
    func login(for url: URLReference) -> String? {
        let isFirst = sources.first?.origin == url.origin
        if isFirst, options.bearer != nil { return "token" }
        let isGiven = sources.contains { $0.origin == url.origin && $0.password != nil }
        let isKnown = url.password != nil || isGiven || isFirst && options.credentials != nil
        let isInNetrc = netrc?.credentials(host: url.host, user: url.user) != nil
        return isKnown || isInNetrc ? "user name or password" : nil
    }

    private func credentials(_ work: TransferWork, mayKnow: Bool) -> Credentials? {
        let isGiven = work.url.origin == work.given.origin
        if let user = work.url.user ?? (isGiven ? work.given.user : nil) {
            let password = work.url.password ?? (isGiven ? work.given.password : nil)
            if let password { return Credentials(user: user, password: password) }
            return netrc?.credentials(host: work.url.host, user: user)
                ?? Credentials(user: user, password: nil)
        }
        if mayKnow, let credentials = options.credentials { return credentials }
        return netrc?.credentials(host: work.url.host, user: nil)
    }

    private func fields(_ work: TransferWork, _ userFields: [HeaderField]) -> [HeaderField] {
        guard work.url.isHTTP else { return [] }
        var fields = RequestBuilder.standardFields
        if let agent = options.userAgent { fields[0] = HeaderField("User-Agent", agent) }
        // Neither a login nor a fragment belongs into it (RFC 9110 §10.1.3), and another origin need not know it.
        if sources.first?.origin == work.url.origin, let referer = options.referer {
            let clean = (try? URLReference(parsing: referer))?.urlString ?? referer
            fields.append(HeaderField("Referer", clean))
        }
        if !userFields.isEmpty {
            fields.removeAll { own in userFields.contains { HeaderFields.same($0.name, own.name) } }
            fields += userFields.filter { field in
                !["Cookie", "Range", "If-Range"].contains { HeaderFields.same($0, field.name) }
            }
        }
        if let range = work.range { fields.append(HeaderField("Range", ContentRange.requestValue(range))) }
        if let ifRange = work.ifRange { fields.append(HeaderField("If-Range", ifRange)) }
        if let condition = work.condition { fields += conditions(condition) }
        return fields
    }

    private func conditions(_ validator: Validator) -> [HeaderField] {
        if let etag = validator.etag {
            return [HeaderField("If-None-Match", (etag.isWeak ? "W/" : "") + etag.opaque)]
        }
        return validator.lastModified.map { [HeaderField("If-Modified-Since", HTTPDate.imfFixdate($0))] }
            ?? []
    }

    private static let standardFields = [
        HeaderField("User-Agent", "Haul/0.1"), HeaderField("Accept", "*/*"),
        // As a field by hand: CURLOPT_ACCEPT_ENCODING would make libcurl decode what comes.
        HeaderField("Accept-Encoding", "identity"),
    ]
}
