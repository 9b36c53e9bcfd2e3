package import HaulCore

/// Netscape cookie files: seven fields a line, separated by tabs.
package enum CookieFile {
    /// The lines that hold cookies; comments and empty lines are left out, `#HttpOnly_` lines kept.
    ///
    /// - Throws: `.usage`, naming the line; never its text, which is a secret.
    package static func parse(_ bytes: [UInt8], file: String) throws(HaulError) -> [String] {
        var cookies: [String] = []
        var number = 0
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            let text = String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
            if text.allSatisfy(\.isWhitespace) || (text.hasPrefix("#") && !text.hasPrefix("#HttpOnly_")) {
                continue
            }
            guard isCookie(text) else {
                throw HaulError(
                    .usage,
                    "\(file) line \(number) is not a cookie: seven fields separated by tabs are needed",
                    advice: "save the cookies in the Netscape format (cookies.txt)")
            }
            cookies.append(text)
        }
        return cookies
    }

    /// The text of a cookie file.
    package static func text(_ lines: [String]) -> String {
        let head = "# Netscape HTTP Cookie File\n# Written by haul. It holds secrets.\n\n"
        return head + lines.map { $0 + "\n" }.joined()
    }

    fileprivate static func isCookie(_ line: String) -> Bool {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        guard fields.count == 7, !fields[0].isEmpty, !fields[5].isEmpty || !fields[6].isEmpty else {
            return false
        }
        let flags = [fields[1], fields[3]].allSatisfy { ["TRUE", "FALSE"].contains($0.uppercased()) }
        return flags && fields[4].utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D || $0 == 0x2E }
            && line.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}

/// Cookies as lines of a cookie file: a newer one takes the place of an older one of the same domain, path and name.
package struct CookieLines: Hashable, Sendable {
    package private(set) var lines: [String] = []
    private var places: [String: Int] = [:]

    package init() {}

    /// Lines that are no cookies are left out.
    package mutating func add(_ newer: [String]) {
        for line in newer where CookieFile.isCookie(line) {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            let key = "\(fields[0])\t\(fields[2])\t\(fields[5])"
            if let place = places[key] {
                lines[place] = line
            } else {
                places[key] = lines.count
                lines.append(line)
            }
        }
    }
}
