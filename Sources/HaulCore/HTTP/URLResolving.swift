extension URLReference {
    /// Where a `Location` points, seen from this URL (RFC 3986 §5.2), user and password never inherited.
    ///
    /// Dot segments are removed only where two paths are merged: what a server spells out may be signed.
    /// - Throws: `.badRedirect`, also when it leaves what Haul can fetch.
    package func resolving(_ location: String) throws(HaulError) -> URLReference {
        let bytes = ASCII.trimmed(Array(location.utf8)[...])
        if let colon = bytes.firstIndex(of: ASCII.colon), let scheme = URLParser.scheme(bytes[..<colon]) {
            guard URLReference.defaultPorts[scheme] != nil else {
                throw badRedirect(URLParser.unsupported(scheme).message)
            }
            return try target(String(decoding: bytes, as: UTF8.self))
        }
        if bytes.starts(with: "//".utf8) {
            return try target("\(scheme):" + String(decoding: bytes, as: UTF8.self))
        }
        guard !bytes.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else {
            throw badRedirect("it holds a line break or a NUL")
        }
        let (newPath, newQuery) = URLParser.target(bytes)
        if newPath.isEmpty { return with(path: path, query: newQuery ?? query) }
        if newPath.hasPrefix("/") { return with(path: newPath, query: newQuery) }
        let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
        return with(path: URLReference.withoutDotSegments(folder + newPath), query: newQuery)
    }

    private func with(path: String, query: String?) -> URLReference {
        URLReference(scheme: scheme, host: host, port: port, path: path, query: query)
    }

    private func target(_ text: String) throws(HaulError) -> URLReference {
        do {
            return try URLReference(parsing: text)
        } catch  where error.code == .invalidURL {
            throw badRedirect(error.message)
        }
    }

    private func badRedirect(_ why: String) -> HaulError {
        HaulError(.badRedirect, "\(redacted) redirects to a place that cannot be followed: \(why)")
    }

    /// RFC 3986 §5.2.4 for a path that begins with "/".
    static func withoutDotSegments(_ path: some StringProtocol) -> String {
        var kept: [Substring] = []
        let segments = String(path).split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for segment in segments where segment != "." {
            if segment == ".." { _ = kept.popLast() } else { kept.append(segment) }
        }
        let endsInFolder = segments.last.map { $0 == "." || $0 == ".." } ?? false
        return "/" + kept.joined(separator: "/") + (endsInFolder && !kept.isEmpty ? "/" : "")
    }
}
