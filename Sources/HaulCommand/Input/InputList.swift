import HaulCore

/// One download of an input file: the URL with its mirrors, and the options of this download alone.
package struct InputEntry: Sendable {
    /// The line of the URL, counted from 1.
    package let line: Int
    package let urls: [String]
    let options: [Option]

    struct Option: Sendable {
        let definition: OptionDefinition
        let text: String
        let line: Int
    }
}

/// Reads input files entry by entry, however long they are.
///
/// One URL a line; several separated by tabs are mirrors. Options follow as `name=value`, or stand on indented
/// lines below, where the value is the rest of the line. `#` starts a comment line.
struct InputListReader {
    private let file: String
    private var lines: LineReader
    private var pending: (number: Int, line: [UInt8])?

    /// `file`: its name, for messages.
    init(file: String, lines: LineReader) {
        self.file = file
        self.lines = lines
    }

    /// The next entry, or `nil` at the end.
    ///
    /// - Throws: `.usage`, naming the line and what is wrong with it.
    mutating func next() throws(HaulError) -> InputEntry? {
        guard let (number, line) = try nextURLLine() else { return nil }
        var entry = try InputLine.parse(line, number: number, file: file)
        while let line = try nextLine() {
            guard InputLine.isIndented(line) else {
                pending = (lines.number, Array(line))
                break
            }
            guard let option = try InputLine.parseIndented(line, number: lines.number, file: file) else {
                continue
            }
            entry = InputEntry(line: entry.line, urls: entry.urls, options: entry.options + [option])
        }
        return entry
    }

    private mutating func nextURLLine() throws(HaulError) -> (Int, ArraySlice<UInt8>)? {
        if let (number, line) = pending {
            pending = nil
            return (number, line[...])
        }
        guard let line = try nextLine() else { return nil }
        guard !InputLine.isIndented(line) else {
            throw InputLine.bad("an option stands before the first URL", lines.number, file)
        }
        return (lines.number, line)
    }

    /// The next line that is neither empty nor a comment.
    private mutating func nextLine() throws(HaulError) -> ArraySlice<UInt8>? {
        do {
            while let line = try lines.next() {
                let first = line.first { $0 != 0x20 && $0 != 0x09 }
                if first != nil, first != UInt8(ascii: "#") { return line }
            }
        } catch {
            throw HaulError(error.code, "\(file): \(error.message)", advice: error.advice)
        }
        return nil
    }
}
