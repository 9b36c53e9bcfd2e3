import CCurl
import HaulPlatform

/// Why a transfer failed, in few words for a person: what the system or the server said, without the library's own.
extension TransferFailure {
    var words: String {
        switch CURLcode(rawValue: UInt32(bitPattern: code)) {
        case CURLE_COULDNT_CONNECT: return systemWords ?? "nobody answers there"
        case CURLE_COULDNT_RESOLVE_PROXY:
            let name = detail.split(separator: " ").last.map { " \($0)" } ?? ""
            return "its name\(isFitToShow ? name : "") cannot be found"
        case CURLE_GOT_NOTHING: return "it was closed without an answer"
        case CURLE_HTTP2_STREAM: return "the server broke off its stream"
        default: break
        }
        let text = TransferFailure.cleaned(isFitToShow ? detail : libraryText)
        guard let reason = systemWords, !text.lowercased().contains(reason.lowercased()) else { return text }
        return "\(text) (\(reason))"
    }

    /// ": 123 bytes are missing", where that is known.
    var missing: String {
        let words = detail.split(separator: " ")
        guard let with = words.firstIndex(of: "with"), with + 1 < words.endIndex,
            let count = Int64(words[with + 1])
        else { return "" }
        return count == 1 ? ": 1 byte is missing" : ": \(count) bytes are missing"
    }

    private var systemWords: String? {
        systemCode == 0
            ? nil : TransferFailure.lowered(SystemFailure(code: systemCode, call: "connect").reason)
    }

    /// What holds an "@" may be a URL with a password in it, such as the proxy's.
    private var isFitToShow: Bool {
        !detail.isEmpty && !detail.contains("@") && !detail.lowercased().contains("curl")
    }

    private var libraryText: String {
        String(cString: curl_easy_strerror(CURLcode(UInt32(bitPattern: code))))
    }

    /// "Recv failure: Connection reset by peer" is "connection reset by peer".
    static func cleaned(_ text: String) -> String {
        var text = text
        let prefixes = [
            "Recv failure: ", "Send failure: ", "OpenSSL SSL_read: ", "OpenSSL SSL_write: ",
            "OpenSSL SSL_connect: ", "SSL certificate problem: ", "SSL: ", "TLS: ",
        ]
        for prefix in prefixes where text.hasPrefix(prefix) { text.removeFirst(prefix.count) }
        if let errno = text.firstRange(of: ", errno ") { text = String(text[..<errno.lowerBound]) }
        // error:0A000126:SSL routines::unexpected eof while reading
        if text.hasPrefix("error:"), let colons = text.ranges(of: ":").last, colons.upperBound < text.endIndex
        {
            text = String(text[colons.upperBound...])
        }
        return lowered(text)
    }

    /// A first letter that begins neither a name nor an abbreviation, made small.
    private static func lowered(_ text: String) -> String {
        let word = text.prefix { $0 != " " }.dropFirst()
        guard let first = text.first, first.isUppercase, word.allSatisfy({ $0.isLowercase || $0 == "'" })
        else { return text }
        return first.lowercased() + text.dropFirst()
    }
}
