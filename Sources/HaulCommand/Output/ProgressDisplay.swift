/// Keeps a block of lines at the bottom of the terminal up to date; makes the escape sequences, writes nothing.
///
/// Between two frames the cursor rests at the start of the first line. Terminals differ in what a resize does to
/// lines (they are cut, or broken into several), but in all of them the cursor stays with the character it is on,
/// and everything from it on is the block: nothing needs to be counted.
struct ProgressDisplay {
    /// Something stands there.
    private var isDrawn = false
    /// The width for which it was made.
    private var width = 0

    /// What takes the lines away, cursor at the start of the first.
    mutating func erased() -> String {
        guard isDrawn else { return "" }
        isDrawn = false
        return "\r\u{1B}[J"
    }

    /// What replaces the lines by these.
    ///
    /// Automatic wrapping is off while they are written, so that not even a terminal that counts cells
    /// differently makes two lines of one.
    mutating func redrawn(_ lines: [String], width: Int) -> String {
        guard !lines.isEmpty else { return erased() }
        // Terminals remember which rows they broke, and would join what is written over them.
        let start = isDrawn && width != self.width ? "\r\u{1B}[J" : "\r"
        let back = lines.count > 1 ? "\r\u{1B}[\(lines.count - 1)A" : "\r"
        isDrawn = true
        self.width = width
        return start + "\u{1B}[?7l" + lines.joined(separator: "\u{1B}[K\r\n") + "\u{1B}[J\u{1B}[?7h" + back
    }
}
