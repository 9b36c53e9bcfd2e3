/// Content codings (RFC 9110 §8.4): what must be undone, and what is the file's own.
enum ContentCoding {
    private static let known: Set<String> = ["gzip", "deflate", "br", "zstd"]

    /// Values seen in the wild that code nothing: charsets put into the wrong field, and storage's own marks.
    private static let meaningless: Set<String> = [
        "", "identity", "none", "binary", "7bit", "8bit", "utf-8", "utf8", "iso-8859-1", "aws-chunked",
    ]

    /// The codings to undo, outermost first.
    ///
    /// A coding that the file's own name or media type shows (`x.tar.gz` sent as gzip) is the file, as browsers
    /// see it, and stays.
    static func toUndo(
        _ fields: [String], names: [String], mediaType: String?
    ) throws(Refusal) -> [String] {
        var listed: [String] = []
        for item in fields.joined(separator: ",").split(separator: ",") {
            let name = ASCII.lowered(ASCII.trimmed(item))
            let coding = name.hasPrefix("x-") ? String(name.dropFirst(2)) : name
            if meaningless.contains(coding) { continue }
            guard known.contains(coding) else {
                throw .malformed("Content-Encoding \(DisplayText.safe(String(name.prefix(40)))) is not known")
            }
            listed.append(coding)
        }
        // The first in the list was applied first: the innermost, which alone can be the file itself.
        if let inner = listed.first, isOwn(inner, names: names, mediaType: mediaType) { listed.removeFirst() }
        guard listed.count <= 2 else { throw .malformed("the body has more than two content codings") }
        return listed.reversed()
    }

    private static func isOwn(_ coding: String, names: [String], mediaType: String?) -> Bool {
        let (endings, types): ([String], [String]) =
            switch coding {
            case "gzip":
                (
                    [".gz", ".tgz", ".gzip", ".svgz", ".emz", ".wmz", ".taz", ".tpz"],
                    [
                        "application/gzip", "application/x-gzip", "application/x-gunzip",
                        "application/gzipped",
                        "application/x-tgz", "application/x-compressed-tar", "application/gzip-compressed",
                    ]
                )
            case "br": ([".br"], ["application/brotli", "application/x-brotli"])
            case "zstd": ([".zst", ".zstd", ".tzst"], ["application/zstd", "application/x-zstd"])
            default: ([".zz", ".zlib"], ["application/zlib"])
            }
        let isNamed = names.contains { name in endings.contains { ASCII.lowered(name).hasSuffix($0) } }
        return isNamed || mediaType.map(types.contains) ?? false
    }
}
