/// Whether and how a redirect is followed; what goes along with the next request.
package enum RedirectPolicy {
    package static let maximumHops = 20

    /// The request that a redirect asks for.
    package struct NextRequest: Hashable, Sendable {
        package var method: String
        /// The body, and the fields that describe it, go along.
        package var keepsBody: Bool
        /// Credentials, cookies given by hand and user-set fields go along.
        package var keepsSecrets: Bool
    }

    /// The request that follows from a redirect.
    ///
    /// `hop` is 1 for the first redirect of a request; `allowsDowngrade` lets https become http
    /// (`--allow-downgrade`).
    /// - Throws: `.tooManyRedirects`, `.downgradeRefused` or `.badRedirect`.
    package static func next(
        from: URLReference, to: URLReference, hop: Int, status: Int, method: String, allowsDowngrade: Bool
    ) throws(HaulError) -> NextRequest {
        guard hop <= maximumHops else {
            throw HaulError(
                .tooManyRedirects, "\(from.redacted) was redirected more than \(maximumHops) times",
                advice: "it may be a loop; check the URL, or whether the site wants cookies or a login")
        }
        guard isSameKind(from, to) else {
            throw HaulError(
                .badRedirect,
                "\(from.redacted) redirects to \(to.redacted), and Haul does not follow to \(to.scheme)")
        }
        guard to.isSecure || !from.isSecure || allowsDowngrade else {
            throw HaulError(
                .downgradeRefused, "\(from.redacted) redirects to the unencrypted \(to.redacted)",
                advice: "allow it with --allow-downgrade if you trust the network")
        }
        let becomesGet =
            status == 303 && method != "HEAD" || (status == 301 || status == 302) && method == "POST"
        return NextRequest(
            method: becomesGet ? "GET" : method, keepsBody: !becomesGet && status != 303,
            keepsSecrets: keepsSecrets(from: from.origin, to: to.origin))
    }

    /// Secrets stay with scheme, host and port; even the same host on another port is someone else.
    package static func keepsSecrets(from: Origin, to: Origin) -> Bool { from == to }

    private static func isSameKind(_ from: URLReference, _ to: URLReference) -> Bool {
        let isFTP = { (url: URLReference) in url.scheme == "ftp" || url.scheme == "ftps" }
        return from.isHTTP && to.isHTTP || isFTP(from) && isFTP(to)
    }
}
