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
    private struct Parts: Hashable, Sendable {
        let scheme: String
        let user: String?
        let password: String?
        let host: String
        let port: Int?
        let path: String
        let query: String?
        let origin: Origin
        let urlString: String
    }

    /// Behind one reference, and put together once: a URL is handed on and asked dozens of times for every file.
    @Boxed private var parts: Parts

    /// Lower case: http, https, ftp, ftps, sftp or file.
    package var scheme: String { parts.scheme }
    /// Percent-decoded once; `nil` when the URL names no user.
    package var user: String? { parts.user }
    /// Percent-decoded once; `nil` when the URL holds none (an empty one is "").
    package var password: String? { parts.password }
    /// A name in ASCII (punycode for others), an IPv4 address, or an IPv6 address without brackets; "" for file.
    package var host: String { parts.host }
    /// 1 to 65535 when the URL names one.
    package var port: Int? { parts.port }
    /// Starts with "/"; still percent-coded.
    package var path: String { parts.path }
    /// Without the "?"; still percent-coded; `nil` when there is no "?".
    package var query: String? { parts.query }
    package var origin: Origin { parts.origin }
    /// The URL for libcurl: no user, no password, no fragment.
    ///
    /// Dot segments of the path are kept (`CURLOPT_PATH_AS_IS` must be set for them to stay).
    package var urlString: String { parts.urlString }

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
        let path = path.isEmpty ? "/" : path
        var text = URLReference.root(scheme, host, port, room: path.utf8.count + (query?.utf8.count ?? 0) + 1)
        text += path
        if let query {
            text += "?"
            text += query
        }
        let effectivePort = port ?? URLReference.defaultPorts[scheme] ?? 0
        _parts = Boxed(
            wrappedValue: Parts(
                scheme: scheme, user: user, password: password, host: host, port: port, path: path,
                query: query,
                origin: Origin(scheme: scheme, host: ASCII.lowered(host), port: effectivePort),
                urlString: text))
    }

    /// The ports that the schemes mean by themselves; a scheme that is not here cannot be fetched.
    static let defaultPorts = ["http": 80, "https": 443, "ftp": 21, "ftps": 990, "sftp": 22, "file": 0]

    /// The explicit port or the scheme's own; 0 for file.
    package var effectivePort: Int { origin.port }

    /// Whether what travels is encrypted and the server is authenticated.
    package var isSecure: Bool { ["https", "ftps", "sftp"].contains(scheme) }

    package var isHTTP: Bool { scheme == "http" || scheme == "https" }

    /// The host as it stands in a URL: IPv6 in brackets, a zone after `%25` (RFC 6874).
    package var hostForURL: String { URLReference.hostForURL(host) }

    private static func hostForURL(_ host: String) -> String {
        ASCII.contains(host, ASCII.colon) ? "[\(host.replacing("%", with: "%25"))]" : host
    }

    /// What an HTTP request line names: path and query.
    package var requestTarget: String { path + (query.map { "?" + $0 } ?? "") }

    /// For messages and logs: no user, no password, the query shown as `?…`.
    package var redacted: String {
        guard query != nil else { return urlString }
        return URLReference.root(scheme, host, port, room: path.utf8.count + 4) + path + "?…"
    }

    /// Everything before the path, with room for so many bytes more.
    private static func root(_ scheme: String, _ host: String, _ port: Int?, room: Int) -> String {
        var text = scheme
        text.reserveCapacity(scheme.utf8.count + host.utf8.count + room + 13)
        text += "://"
        text += hostForURL(host)
        if let port {
            text += ":"
            text += String(port)
        }
        return text
    }

    /// The same text for the same resource, however host and port were written; what a partial is found by.
    package var identity: String {
        if port != nil, host == origin.host { return urlString }
        let host = URLReference.hostForURL(origin.host)
        return "\(scheme)://\(host):\(effectivePort)\(requestTarget)"
    }

    /// What follows the last "/" of the path, still percent-coded; "" when the path ends in "/".
    package var lastPathComponent: String {
        var path = path
        return path.withUTF8 { bytes in
            let start = bytes.lastIndex(of: ASCII.slash).map { $0 + 1 } ?? 0
            return String(decoding: bytes[start...], as: UTF8.self)
        }
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
