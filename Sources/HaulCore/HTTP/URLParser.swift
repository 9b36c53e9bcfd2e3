/// Cuts the text of a URL into its parts, stricter than libcurl where two readers could see two hosts.
struct URLParser {
    let text: String

    /// Schemes without `//` that people paste; what else stands before a colon is taken for a host.
    private static let withoutAuthority: Set<String> = [
        "about", "blob", "data", "javascript", "magnet", "mailto", "tel", "urn", "view-source",
    ]

    func reference() throws(HaulError) -> URLReference {
        let bytes = ASCII.trimmed(Array(text.utf8)[...])
        guard !bytes.isEmpty else { throw HaulError(.invalidURL, "The URL is empty") }
        guard !bytes.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else {
            throw invalid("it holds a line break or a NUL")
        }
        let (scheme, rest) = try splitScheme(bytes)
        if scheme == "file" { return try file(rest) }
        let end = rest.firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? rest.endIndex
        let (path, query) = URLParser.target(rest[end...])
        let (info, hostAndPort) = splitUserInfo(rest[..<end])
        let (user, password) = try credentials(info, of: scheme)
        let (host, port) = try splitPort(hostAndPort)
        return URLReference(
            scheme: scheme ?? (ASCII.lowered(host).hasPrefix("ftp.") ? "ftp" : "http"), user: user,
            password: password,
            host: host, port: port, path: path, query: query)
    }

    /// Path and query, without the fragment, coded where they must be.
    static func target(_ bytes: ArraySlice<UInt8>) -> (path: String, query: String?) {
        let whole = bytes.prefix { $0 != UInt8(ascii: "#") }
        let path = whole.prefix { $0 != UInt8(ascii: "?") }
        let query = path.endIndex < whole.endIndex ? whole[(path.endIndex + 1)...] : nil
        return (PercentCoding.encodedUnsafe(path), query.map { PercentCoding.encodedUnsafe($0) })
    }

    func invalid(_ why: String, advice: String? = nil) -> HaulError {
        HaulError(.invalidURL, "The URL \(URLParser.redacted(text)) is not valid: \(why)", advice: advice)
    }

    /// A text that may not even be a URL, without what could be secret in it.
    static func redacted(_ text: String) -> String {
        let visible = text.prefix { $0 != "?" && $0 != "#" }
        let start = visible.firstRange(of: "//")?.upperBound ?? visible.startIndex
        // What is not a URL has no reliable end of its authority: the last @ of all is the safe choice.
        let host = visible[start...].lastIndex(of: "@").map { visible.index(after: $0) } ?? start
        let shown = visible[..<start] + visible[host...]
        return DisplayText.safe(String(shown.prefix(200))) + (visible.endIndex < text.endIndex ? "?…" : "")
    }

    private func splitScheme(_ bytes: ArraySlice<UInt8>) throws(HaulError) -> (String?, ArraySlice<UInt8>) {
        guard let colon = bytes.firstIndex(of: ASCII.colon), let scheme = URLParser.scheme(bytes[..<colon])
        else {
            return (nil, bytes)
        }
        let rest = bytes[(colon + 1)...]
        guard rest.starts(with: [ASCII.slash, ASCII.slash]) else {
            if scheme == "file", rest.first == ASCII.slash { return (scheme, rest) }
            if URLReference.defaultPorts[scheme] != nil {
                throw invalid("two slashes must follow \"\(scheme):\"")
            }
            if URLParser.withoutAuthority.contains(scheme) { throw URLParser.unsupported(scheme) }
            return (nil, bytes)
        }
        guard URLReference.defaultPorts[scheme] != nil else { throw URLParser.unsupported(scheme) }
        return (scheme, rest.dropFirst(2))
    }

    /// The scheme, lower case, if these bytes can be one.
    static func scheme(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let first = bytes.first, ASCII.isLetter(first) else { return nil }
        let isFit = bytes.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || "+-.".utf8.contains($0) }
        return isFit ? String(decoding: bytes.map { ASCII.lowered($0) }, as: UTF8.self) : nil
    }

    static func unsupported(_ scheme: String) -> HaulError {
        HaulError(
            .unsupportedScheme, "Haul cannot fetch \(DisplayText.safe(String(scheme.prefix(40)))) URLs",
            advice: scheme == "scp" ? "use sftp:// for the same file" : "use http, https, ftp, ftps or sftp")
    }

    private func file(_ rest: ArraySlice<UInt8>) throws(HaulError) -> URLReference {
        let local = rest.starts(with: "localhost/".utf8) ? rest.dropFirst(9) : rest
        guard local.first == ASCII.slash else {
            throw invalid("a file URL names no host, only an absolute path")
        }
        let (path, query) = URLParser.target(local)
        return URLReference(scheme: "file", host: "", port: nil, path: path, query: query)
    }
}
