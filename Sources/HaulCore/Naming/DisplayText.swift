/// Text from servers, made fit for a terminal or a log, and measured in cells.
package enum DisplayText {
    /// Without any character that could move the cursor, change colours or reorder the line: tabs and line ends
    /// become spaces; other controls (C0, C1, DEL), bidi and format characters are left out.
    package static func safe(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x09, 0x0A, 0x0D, 0x2028, 0x2029: scalars.append(" ")
            default: if !UnicodeText.isInvisible(scalar) { scalars.append(scalar) }
            }
        }
        return String(scalars)
    }

    /// The cells that a terminal needs for the text.
    ///
    /// A grapheme takes at most two; one that asks for emoji
    /// presentation counts as two, since taking too few would wrap the line.
    package static func cells(_ text: String) -> Int {
        text.reduce(0) { $0 + cells($1) }
    }

    /// The text in at most that many cells, the middle replaced by "…" when it is longer; never padded.
    package static func fitted(_ text: String, cells limit: Int) -> String {
        guard limit > 0 else { return "" }
        guard cells(text) > limit else { return text }
        let room = limit - 1
        let head = prefix(text, cells: room - room / 2)
        let tail = String(prefix(String(text.reversed()), cells: room - cells(head)).reversed())
        return head + "…" + tail
    }

    private static func cells(_ character: Character) -> Int {
        var sum = 0
        var asksForEmoji = false
        for scalar in character.unicodeScalars {
            sum += UnicodeText.width(scalar)
            asksForEmoji = asksForEmoji || scalar.value == 0xFE0F
        }
        return asksForEmoji && sum > 0 ? 2 : min(sum, 2)
    }

    private static func prefix(_ text: String, cells limit: Int) -> String {
        var rest = limit
        return String(
            text.prefix { character in
                rest -= cells(character)
                return rest >= 0
            })
    }
}
