/// Names for files, made from what servers and links suggest, so that none can do harm.
package enum FileName {
    /// Bytes that a name may have: what Linux allows, less 24 for the suffixes that Haul puts behind it.
    package static let maximumBytes = 255 - 24

    /// A safe name made from an untrusted one; `nil` when nothing usable is left.
    ///
    /// One component (the last, for `/` and `\`), NFC, without control, bidi and other invisible characters,
    /// without dots and spaces at its end, no leading dot or hyphen, no name of a Windows device, at most `maximumBytes`.
    package static func sanitized(_ raw: String) -> String? {
        if isPlain(raw) { return raw }
        guard let component = lastComponent(raw), component != ".", component != "..",
            // Composed last: marks meet when something invisible between them goes.
            let composed = UnicodeText.normalized(withoutInvisible(component), .canonical)
        else { return nil }
        let visible = trimmed(composed)
        guard visible.unicodeScalars.contains(where: isDrawn) else { return nil }
        let name = guarded(visible)
        // Guarding adds two bytes at most, and comes last: a cut must not bring a guarded form back.
        return name.utf8.count <= maximumBytes ? name : guarded(cut(visible, to: maximumBytes - 2))
    }

    /// Whether nothing has to be done: letters, digits and `_`, `-` and dots inside; no device's name.
    private static func isPlain(_ raw: String) -> Bool {
        var raw = raw
        return raw.withUTF8 { bytes in
            guard (1...200).contains(bytes.count), bytes[0] != UInt8(ascii: "."),
                bytes[0] != UInt8(ascii: "-"),
                bytes[bytes.count - 1] != UInt8(ascii: ".")
            else { return false }
            let stem = bytes.prefix { $0 != UInt8(ascii: ".") }.count
            // The devices begin with these letters: con, prn, aux, nul, com1, lpt1.
            let mayBeDevice = (stem == 3 || stem == 4) && "cpanlCPANL".utf8.contains(bytes[0])
            return !mayBeDevice
                && bytes.allSatisfy {
                    ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-")
                        || $0 == UInt8(ascii: "_")
                        || $0 == UInt8(ascii: ".")
                }
                && !bytes.suffix(5).elementsEqual(".haul".utf8)
        }
    }

    /// The name with a number before its extension, as `name (1).tar.gz`, still within `maximumBytes`.
    package static func numbered(_ name: String, _ number: Int) -> String {
        let (stem, ending) = split(name)
        let suffix = " (\(number))" + ending
        return prefix(stem, bytes: max(1, maximumBytes - suffix.utf8.count)) + suffix
    }

    /// Stem and extension; the extension has its dot, and is compound where a compressed or signed file has two.
    package static func split(_ name: String) -> (stem: String, ending: String) {
        var stem = name[...]
        var wraps = true
        for _ in 0..<3 where wraps {
            guard let dot = stem.lastIndex(of: "."), dot > stem.startIndex else { break }
            let ending = ASCII.lowered(stem[stem.index(after: dot)...])
            guard isExtension(ending, isInner: stem.endIndex < name.endIndex) else { break }
            stem = stem[..<dot]
            wraps = wrappers.contains(ending)
        }
        return (String(stem), String(name[stem.endIndex...]))
    }

    /// Extensions that are put behind another one.
    private static let wrappers: Set<String> = [
        "gz", "bz2", "xz", "zst", "lz", "lz4", "lzma", "lzo", "br", "z", "sig", "asc", "sha1", "sha256",
        "sha512", "md5",
        "minisig", "gpg", "zsync", "torrent",
    ]

    /// An extension is short and plain; one behind which another stands also has a letter, so that `1.2.gz` has one.
    private static func isExtension(_ text: String, isInner: Bool) -> Bool {
        let longest = isInner ? 6 : 16
        guard (1...longest).contains(text.utf8.count) else { return false }
        guard text.utf8.allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) }) else { return false }
        return !isInner || text.utf8.first.map(ASCII.isLetter) ?? false
    }

    private static func lastComponent(_ raw: String) -> String? {
        let isSeparator = { (scalar: Unicode.Scalar) in scalar == "/" || scalar == "\\" }
        return raw.unicodeScalars.split(whereSeparator: isSeparator).last.map { String($0) }
    }

    /// Joiners stay: emoji and several scripts are spelt with them.
    private static func withoutInvisible(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { isJoiner($0) || !UnicodeText.isInvisible($0) }))
    }

    private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value == 0x200C || scalar.value == 0x200D
    }

    private static func isDrawn(_ scalar: Unicode.Scalar) -> Bool {
        UnicodeText.width(scalar) > 0 && scalar != " "
    }

    private static func trimmed(_ text: String) -> String {
        let isOuter = { (scalar: Unicode.Scalar) in UnicodeText.isSpace(scalar) || isJoiner(scalar) }
        var scalars = text.unicodeScalars[...]
        scalars = scalars.drop(while: isOuter)
        while let last = scalars.last, isOuter(last) || last == "." { scalars.removeLast() }
        return String(scalars)
    }

    /// Not hidden, no option to other commands, no device of Windows (the file may be copied there), not mistaken for Haul's own journal.
    private static func guarded(_ name: String) -> String {
        if ASCII.lowered(name).hasSuffix(".part.haul") { return guarded(name + "_") }
        return name.hasPrefix(".") || name.hasPrefix("-") || isDevice(name) ? "_" + name : name
    }

    private static func isDevice(_ name: String) -> Bool {
        let stem = ASCII.lowered(trimmed(String(name.prefix { $0 != "." && $0 != ":" })))
        if ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"].contains(stem) { return true }
        guard stem.hasPrefix("com") || stem.hasPrefix("lpt") else { return false }
        return stem.count == 4 && stem.last.map { "0123456789¹²³".contains($0) } ?? false
    }

    private static func cut(_ name: String, to limit: Int) -> String {
        let (stem, ending) = split(name)
        return trimmed(prefix(stem, bytes: limit - ending.utf8.count) + ending)
    }

    /// The longest prefix of whole graphemes within so many bytes; of one huge grapheme, its first scalars.
    private static func prefix(_ text: String, bytes limit: Int) -> String {
        var rest = limit
        let whole = text.prefix { character in
            rest -= character.utf8.count
            return rest >= 0
        }
        guard whole.isEmpty else { return String(whole) }
        rest = limit
        return String(
            text.unicodeScalars.prefix { scalar in
                rest -= Unicode.UTF8.width(scalar)
                return rest >= 0
            })
    }
}
