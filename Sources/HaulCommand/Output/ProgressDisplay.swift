import HaulCore

/// Keeps a block of lines at the bottom of the terminal up to date; makes the escape sequences, writes nothing.
struct ProgressDisplay {
    /// Cells of each line that stands there now.
    private var drawn: [Int] = []

    /// What takes the lines away, cursor at the start of the first.
    mutating func erased(width: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        defer { drawn = [] }
        return upToFirst(width: width) + "\u{1B}[J"
    }

    /// What replaces the lines by these.
    ///
    /// Automatic wrapping is off while they are written, so that not even a terminal that counts cells
    /// differently makes two lines of one.
    mutating func redrawn(_ lines: [String], width: Int) -> String {
        guard !lines.isEmpty else { return erased(width: width) }
        let text =
            upToFirst(width: width) + "\u{1B}[?7l" + lines.joined(separator: "\u{1B}[K\r\n")
            + "\u{1B}[J\u{1B}[?7h"
        drawn = lines.map { DisplayText.cells(ProgressDisplay.withoutColor($0)) }
        return text
    }

    /// A terminal made narrower breaks the old lines into several; those rows are counted too.
    private func upToFirst(width: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + max(width, 1) - 1) / max(width, 1)) }
        return rows > 1 ? "\r\u{1B}[\(rows - 1)A" : "\r"
    }

    private static func withoutColor(_ line: String) -> String {
        line.replacing("\u{1B}[32m", with: "").replacing("\u{1B}[0m", with: "")
    }
}
