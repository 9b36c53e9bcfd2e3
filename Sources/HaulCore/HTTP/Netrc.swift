/// Logins of a netrc file (the format of ftp(1) and curl), looked up strictly.
///
/// Only an entry of exactly that host counts; `default` is for nobody, since it would hand a login to whatever host a
/// redirect leads to.
package struct Netrc: Hashable, Sendable {
    private struct Entry: Hashable {
        var host: String
        var user: String?
        var password: String?
    }

    private var entries: [Entry] = []

    /// Reads the text of a file; what makes no sense is passed over, macros included.
    package init(_ text: String) {
        var words = Netrc.words(text)[...]
        while let word = words.popFirst() {
            switch word {
            case "machine":
                guard let host = words.popFirst() else { return }
                entries.append(Entry(host: ASCII.lowered(host)))
            case "default":
                // What follows belongs to no host.
                entries.append(Entry(host: ""))
            case "login": set(words.popFirst()) { $0.user = $1 }
            case "password": set(words.popFirst()) { $0.password = $1 }
            case "account": words = words.dropFirst()
            default: break
            }
        }
    }

    private mutating func set(_ value: String?, _ store: (inout Entry, String) -> Void) {
        guard let value, !entries.isEmpty else { return }
        store(&entries[entries.count - 1], value)
    }

    /// The login for a host; with a user, only an entry of that user, or one that names none.
    package func credentials(host: String, user: String?) -> Credentials? {
        let host = ASCII.lowered(host)
        let candidates = entries.filter { !host.isEmpty && $0.host == host }
        guard let user else {
            return candidates.first { $0.user != nil }.map {
                Credentials(user: $0.user ?? "", password: $0.password)
            }
        }
        let entry = candidates.first { $0.user == user } ?? candidates.first { $0.user == nil }
        return entry.map { Credentials(user: user, password: $0.password) }
    }

    /// Words between blanks; quoted ones may hold blanks and escapes; `#` at the start of a word begins a comment.
    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        for line in text.split(whereSeparator: \.isNewline) {
            var rest = line.drop { $0 == " " || $0 == "\t" }
            while let first = rest.first, first != "#" {
                let word: String
                if first == "\"" {
                    word = quoted(&rest)
                } else {
                    let end = rest.firstIndex { $0 == " " || $0 == "\t" } ?? rest.endIndex
                    word = String(rest[..<end])
                    rest = rest[end...]
                }
                words.append(word)
                rest = rest.drop { $0 == " " || $0 == "\t" }
            }
        }
        return words
    }

    private static func quoted(_ rest: inout Substring) -> String {
        rest = rest.dropFirst()
        var word = ""
        while let character = rest.popFirst(), character != "\"" {
            guard character == "\\", let escaped = rest.popFirst() else {
                word.append(character)
                continue
            }
            word.append(escaped == "n" ? "\n" : escaped == "t" ? "\t" : escaped)
        }
        return word
    }
}
