extension FileName {
    /// The name for a download, from the best source that gives one.
    ///
    /// In order: the user, `Content-Disposition`, the last path component of the final URL, that of the first, a
    /// hint in a query, host and type. Only the user's own word is taken as it is.
    package static func choose(
        user: String?, disposition: String?, finalURL: URLReference?, firstURL: URLReference,
        mediaType: String?
    ) -> String {
        if let user { return user }
        if let name = disposition.flatMap(sanitized) { return name }
        if let name = finalURL.flatMap(fromPath) ?? fromPath(firstURL) { return name }
        if let name = finalURL.flatMap(fromQuery) ?? fromQuery(firstURL) { return name }
        if mediaType == "text/html" || mediaType == "application/xhtml+xml" { return "index.html" }
        let ending = mediaType.flatMap(MediaTypeExtension.ending).map { "." + $0 } ?? ""
        return sanitized((finalURL ?? firstURL).host.replacing(":", with: "_") + ending) ?? "download"
    }

    /// Decoded once; what is not UTF-8 then stays coded, so that the name can at least be read.
    private static func fromPath(_ url: URLReference) -> String? {
        var component = url.lastPathComponent
        if url.scheme == "ftp" || url.scheme == "ftps" {
            // `;type=a` is an order to the client (RFC 1738 §3.2.2).
            component =
                component.firstRange(of: ";type=").map { String(component[..<$0.lowerBound]) } ?? component
        }
        guard ASCII.contains(component, ASCII.percent) else { return sanitized(component) }
        return sanitized(ASCII.text(PercentCoding.decoded(component.utf8)) ?? component)
    }

    private static func fromQuery(_ url: URLReference) -> String? {
        let dispositions = ["response-content-disposition", "rscd", "content-disposition"]
        for key in dispositions {
            let field = url.queryValue(named: key).map { HeaderField("Content-Disposition", $0) }
            if let name = field.flatMap({ ContentDisposition.fileName($0) }).flatMap(sanitized) {
                return name
            }
        }
        return ["filename", "file_name", "fname", "file"].lazy.compactMap {
            url.queryValue(named: $0).flatMap(sanitized)
        }.first
    }
}

/// Extensions for the media types that people download; only for names that would have none at all.
enum MediaTypeExtension {
    private static let endings: [String: String] = [
        "application/epub+zip": "epub", "application/gzip": "gz", "application/java-archive": "jar",
        "application/json": "json", "application/msword": "doc", "application/pdf": "pdf",
        "application/rtf": "rtf",
        "application/vnd.android.package-archive": "apk", "application/vnd.debian.binary-package": "deb",
        "application/vnd.ms-excel": "xls", "application/vnd.ms-powerpoint": "ppt",
        "application/vnd.rar": "rar",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
        "application/x-7z-compressed": "7z", "application/x-bzip2": "bz2",
        "application/x-debian-package": "deb",
        "application/x-gzip": "gz", "application/x-iso9660-image": "iso", "application/x-msdownload": "exe",
        "application/x-rar-compressed": "rar", "application/x-rpm": "rpm", "application/x-sh": "sh",
        "application/x-tar": "tar", "application/x-xz": "xz", "application/xml": "xml",
        "application/zip": "zip",
        "application/x-zip-compressed": "zip", "application/zstd": "zst", "audio/aac": "aac",
        "audio/flac": "flac",
        "audio/mp4": "m4a", "audio/mpeg": "mp3", "audio/ogg": "ogg", "audio/wav": "wav", "audio/webm": "weba",
        "font/otf": "otf", "font/ttf": "ttf", "font/woff2": "woff2", "image/avif": "avif", "image/bmp": "bmp",
        "image/gif": "gif", "image/jpeg": "jpg", "image/png": "png", "image/svg+xml": "svg",
        "image/tiff": "tiff",
        "image/webp": "webp", "text/css": "css", "text/csv": "csv", "text/javascript": "js",
        "text/markdown": "md",
        "text/plain": "txt", "text/xml": "xml", "video/mp4": "mp4", "video/mpeg": "mpg",
        "video/quicktime": "mov",
        "video/webm": "webm", "video/x-matroska": "mkv", "video/x-msvideo": "avi",
    ]

    static func ending(_ mediaType: String) -> String? { endings[mediaType] }
}
