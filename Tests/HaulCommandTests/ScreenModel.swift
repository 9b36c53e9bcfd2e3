/// A terminal in miniature: what one cell wide characters and the escape sequences of the bars do to a screen.
struct ScreenModel {
    /// What becomes of the lines when the width changes.
    enum Resizing: CaseIterable {
        /// They are cut off at the new width, as by xterm.
        case cut
        /// They are broken and joined, as by most others.
        case reflow
    }

    private struct Row {
        var cells: [Character] = []
        /// The next row goes on with the same line.
        var isBroken = false
    }

    private var rows = [Row()]
    private var row = 0
    private var column = 0
    private var wraps = true
    private(set) var width: Int
    private let resizing: Resizing

    init(width: Int, resizing: Resizing) {
        self.width = width
        self.resizing = resizing
    }

    /// The rows without blanks at their ends, and without blank rows at the end.
    var lines: [String] {
        var lines = rows.map { row in
            String(String(row.cells.reversed().drop { $0 == " " }.reversed()))
        }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    mutating func write(_ text: String) {
        // A scalar at a time: a carriage return and a line feed are one character.
        var scalars = text.unicodeScalars[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "\r": column = 0
            case "\n": lineFeed()
            case "\u{1B}":
                let sequence = scalars.prefix { !$0.properties.isAlphabetic }
                scalars = scalars[sequence.endIndex...]
                obey(String(sequence), scalars.popFirst() ?? " ")
            default: put(Character(scalar))
            }
        }
    }

    mutating func resize(to width: Int) {
        self.width = width
        switch resizing {
        case .cut:
            for index in rows.indices { rows[index].cells = Array(rows[index].cells.prefix(width)) }
            column = min(column, width - 1)
        case .reflow: reflow()
        }
    }

    private mutating func obey(_ parameters: String, _ command: Unicode.Scalar) {
        switch command {
        case "A": row = max(0, row - (Int(parameters.dropFirst()) ?? 1))
        case "J":
            clearLine()
            rows.removeSubrange((row + 1)...)
        case "K": clearLine()
        case "h": wraps = true
        case "l": wraps = false
        default: break
        }
    }

    private mutating func clearLine() {
        rows[row].cells = Array(rows[row].cells.prefix(column))
        rows[row].isBroken = false
    }

    private mutating func lineFeed() {
        row += 1
        if row == rows.count { rows.append(Row()) }
    }

    private mutating func put(_ character: Character) {
        if column == width {
            if wraps {
                rows[row].isBroken = true
                lineFeed()
                column = 0
            } else {
                column = width - 1
            }
        }
        while rows[row].cells.count <= column { rows[row].cells.append(" ") }
        rows[row].cells[column] = character
        column += 1
    }

    private mutating func reflow() {
        var old: [(cells: [Character], cursor: Int?)] = []
        var isOpen = false
        for (index, row) in rows.enumerated() {
            if !isOpen { old.append(([], nil)) }
            if index == self.row { old[old.count - 1].cursor = old[old.count - 1].cells.count + column }
            old[old.count - 1].cells += row.cells
            isOpen = row.isBroken
        }
        rows = []
        for (cells, cursor) in old {
            let first = rows.count
            var rest = cells[...]
            repeat {
                rows.append(Row(cells: Array(rest.prefix(width)), isBroken: rest.count > width))
                rest = rest.dropFirst(width)
            } while !rest.isEmpty
            if let cursor {
                row = min(first + cursor / width, rows.count - 1)
                column = cursor % width
            }
        }
    }
}
