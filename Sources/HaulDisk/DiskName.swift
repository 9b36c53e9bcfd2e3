/// The names of a download's files in its directory, and the numbers that tell namesakes apart.
enum DiskName {
    static let partialSuffix = ".part"
    static let journalSuffix = ".part.haul"
    /// Bytes of a name that Linux file systems take.
    static let limit = 255
    /// Bytes kept free for a number and the longest suffix.
    private static let reserve = 24

    /// Whether it names an entry of a directory, and nothing else.
    static func isPlain(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && name.utf8.count <= limit
            && !name.utf8.contains { $0 == 0x2F || $0 == 0 }
    }

    /// The name with a number, such as `name (2).tar.gz`, or without for 0; cut before the number if too long.
    static func numbered(_ name: String, _ number: Int) -> String {
        guard number > 0 else { return name }
        let end = endOfStem(name)
        let tail = " (\(number))" + name[end...]
        return cut(String(name[..<end]), to: limit - reserve + 5 - tail.utf8.count) + tail
    }

    /// The name of the partial file that is to become `name`.
    static func partial(for name: String) -> String {
        cut(name, to: limit - reserve + 5) + partialSuffix
    }

    /// The name of the journal beside a partial file.
    static func journal(besidePartial name: String) -> String { name + ".haul" }

    /// The name that something with forbidden characters gets on file systems such as FAT.
    static func portable(_ name: String) -> String {
        String(
            name.map {
                "\"*:<>?|\\".contains($0) || $0.unicodeScalars.contains { $0.value < 0x20 } ? "_" : $0
            })
    }

    /// Where the extension starts, its dot included; `.tar` before another extension belongs to it.
    private static func endOfStem(_ name: String) -> String.Index {
        guard let dot = extensionDot(name[...]) else { return name.endIndex }
        guard let inner = extensionDot(name[..<dot]), name[inner..<dot].lowercased() == ".tar" else {
            return dot
        }
        return inner
    }

    private static func extensionDot(_ name: Substring) -> String.Index? {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        let letters = name[dot...].dropFirst()
        return (1...10).contains(letters.utf8.count) && !letters.contains(" ") ? dot : nil
    }

    /// As many whole characters as fit into so many bytes.
    private static func cut(_ text: String, to bytes: Int) -> String {
        var text = text
        while text.utf8.count > bytes { text.removeLast() }
        return text
    }
}
