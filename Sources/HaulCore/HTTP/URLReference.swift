/// Scheme, host and port: what secrets are bound to (RFC 6454, without its exceptions).
package struct Origin: Hashable, Sendable, CustomStringConvertible {
    package let scheme: String
    /// Lower case, without brackets.
    package let host: String
    package let port: Int

    package var description: String { "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}

/// A URL that Haul can fetch from, cut into its parts (RFC 3986), with path and query kept byte for byte.
///
/// Signed URLs break when a client "tidies" them, so nothing is normalised: only bytes that may not stand in a
/// request (spaces, controls, bytes beyond ASCII) are percent-coded. The fragment is dropped at once, so it can
/// reach neither wire nor file name. Printing a reference shows `redacted`.
package struct URLReference: Hashable, Sendable {
    /// Lower case: http, https, ftp, ftps, sftp or file.
    package let scheme: String
    /// Percent-decoded once; `nil` when the URL names no user.
    package let user: String?
    /// Percent-decoded once; `nil` when the URL holds none (an empty one is "").
    package let password: String?
    /// A name in ASCII (punycode for others), an IPv4 address, or an IPv6 address without brackets; "" for file.
    package let host: String
    /// 1 to 65535 when the URL names one.
    package let port: Int?
    /// Starts with "/"; still percent-coded.
    package let path: String
    /// Without the "?"; still percent-coded; `nil` when there is no "?".
    package let query: String?

    /// Reads what a person gives.
    ///
    /// Without a scheme, http is meant, or ftp for hosts that begin with "ftp.".
    ///
    /// - Throws: `.invalidURL` or `.unsupportedScheme`; the message holds no user, password or query.
    package init(parsing text: String) throws(HaulError) {
        self = try URLParser(text: text).reference()
    }

    init(
        scheme: String, user: String? = nil, password: String? = nil, host: String, port: Int?, path: String,
        query: String?
    ) {
        self.scheme = scheme
        self.user = user
        self.password = password
        self.host = host
        self.port = port
        self.path = path.isEmpty ? "/" : path
        self.query = query
    }

    /// The ports that the schemes mean by themselves; a scheme that is not here cannot be fetched.
    static let defaultPorts = ["http": 80, "https": 443, "ftp": 21, "ftps": 990, "sftp": 22, "file": 0]

    /// The explicit port or the scheme's own; 0 for file.
    package var effectivePort: Int { port ?? URLReference.defaultPorts[scheme] ?? 0 }

    /// Whether what travels is encrypted and the server is authenticated.
    package var isSecure: Bool { ["https", "ftps", "sftp"].contains(scheme) }

    package var isHTTP: Bool { scheme == "http" || scheme == "https" }

    package var origin: Origin { Origin(scheme: scheme, host: ASCII.lowered(host), port: effectivePort) }

    /// The host as it stands in a URL: IPv6 in brackets, a zone after `%25` (RFC 6874).
    package var hostForURL: String {
        host.utf8.contains(ASCII.colon) ? "[\(host.replacing("%", with: "%25"))]" : host
    }

    /// What an HTTP request line names: path and query.
    package var requestTarget: String { path + (query.map { "?" + $0 } ?? "") }

    /// The URL for libcurl: no user, no password, no fragment.
    ///
    /// Dot segments of the path are kept (`CURLOPT_PATH_AS_IS` must be set for them to stay).
    package var urlString: String {
        var text = root
        text += path
        if let query {
            text += "?"
            text += query
        }
        return text
    }

    /// For messages and logs: no user, no password, the query shown as `?…`.
    package var redacted: String {
        var text = root
        text += path
        if query != nil { text += "?…" }
        return text
    }

    /// Everything before the path; put together by hand, since this is done for every file of a long list.
    private var root: String {
        var text = scheme
        text.reserveCapacity(scheme.utf8.count + host.utf8.count + path.utf8.count + 16)
        text += "://"
        text += hostForURL
        if let port {
            text += ":"
            text += String(port)
        }
        return text
    }

    /// The same text for the same resource, however host and port were written; what a partial is found by.
    package var identity: String {
        "\(scheme)://\(ASCII.lowered(hostForURL)):\(effectivePort)\(requestTarget)"
    }

    /// What follows the last "/" of the path, still percent-coded; "" when the path ends in "/".
    package var lastPathComponent: String {
        let bytes = path.utf8
        return String(path[(bytes.lastIndex(of: ASCII.slash).map(bytes.index(after:)) ?? path.startIndex)...])
    }

    /// The reference without user and password.
    package var withoutUserInfo: URLReference {
        URLReference(scheme: scheme, host: host, port: port, path: path, query: query)
    }

    package static func percentDecoded(_ text: some StringProtocol) -> [UInt8] {
        PercentCoding.decoded(text.utf8)
    }
}

extension URLReference: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { redacted }
    package var debugDescription: String { redacted }
}

extension URLReference: CustomReflectable {
    /// Mirrors show no more than messages do, so that `dump` leaks no password either.
    package var customMirror: Mirror { Mirror(self, children: ["url": redacted]) }
}
