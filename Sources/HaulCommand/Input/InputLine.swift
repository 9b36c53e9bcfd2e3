import HaulCore

/// The grammar of one line of an input file.
enum InputLine {
    static func isIndented(_ line: ArraySlice<UInt8>) -> Bool { line.first == 0x20 || line.first == 0x09 }

    static func bad(_ what: String, _ number: Int, _ file: String, advice: String? = nil) -> HaulError {
        HaulError(.usage, "\(file) line \(number): \(what)", advice: advice)
    }

    /// A line that starts with a URL.
    static func parse(
        _ line: ArraySlice<UInt8>, number: Int, file: String
    ) throws(HaulError) -> InputEntry {
        if !line.contains(0x20), !line.contains(0x09) {
            return try entry([text(line, number, file)], [], number, file)
        }
        var scanner = Scanner(line)
        var urls: [String] = []
        var options: [InputEntry.Option] = []
        while let (token, followsTab) = scanner.next() {
            let name = nameBefore(equals: token)
            if let name, let definition = OptionTable.find(name) {
                try checkAllowed(definition, name, number, file)
                let value = scanner.quotedValue(of: token, nameLength: name.utf8.count)
                options.append(
                    .init(definition: definition, text: try text(value, number, file), line: number))
            } else if let last = options.popLast() {
                let more = try text(token, number, file)
                options.append(.init(definition: last.definition, text: "\(last.text) \(more)", line: number))
            } else if let name, !urls.isEmpty {
                throw unknown(name, number, file, advice: "write spaces in URLs as %20")
            } else if urls.isEmpty || followsTab {
                urls.append(try text(token, number, file))
            } else {
                urls[urls.count - 1] += " " + (try text(token, number, file))
            }
        }
        return try entry(urls, options, number, file)
    }

    private static func entry(
        _ urls: [String], _ options: [InputEntry.Option], _ number: Int, _ file: String
    ) throws(HaulError) -> InputEntry {
        for url in urls where !hasScheme(url) {
            throw bad(
                "it does not start with a URL", number, file, advice: "write the scheme, such as https://")
        }
        return InputEntry(line: number, urls: urls, options: options)
    }

    /// `  name=value`, where the value is the rest of the line; a flag may stand alone.
    static func parseIndented(
        _ line: ArraySlice<UInt8>, number: Int, file: String
    ) throws(HaulError) -> InputEntry.Option? {
        let line = trimmed(line)
        let name = String(decoding: line.prefix { $0 != 0x3D && $0 != 0x20 && $0 != 0x09 }, as: UTF8.self)
        guard let definition = OptionTable.find(name) else {
            throw unknown(name, number, file, advice: hasScheme(name) ? "URLs start at the margin" : nil)
        }
        try checkAllowed(definition, name, number, file)
        var value = trimmed(line.dropFirst(name.utf8.count))
        guard value.first == 0x3D || (definition.isFlag && value.isEmpty) else {
            throw bad(
                "'\(name)' needs a value", number, file, advice: "\(name)=\(definition.placeholder ?? "yes")")
        }
        value = trimmed(value.dropFirst())
        return .init(definition: definition, text: try text(value, number, file), line: number)
    }

    private static func checkAllowed(
        _ definition: OptionDefinition, _ name: String, _ number: Int, _ file: String
    ) throws(HaulError) {
        if definition.isForLists { return }
        throw bad("'\(name)' cannot be said for one download of a list", number, file)
    }

    private static func unknown(
        _ name: String, _ number: Int, _ file: String, advice: String?
    ) -> HaulError {
        let names = OptionTable.all.filter(\.isForLists).map(\.name) + ["out"]
        let near = ForeignOption.find(name)?.advice(dashes: false) ?? NearestName.find(name, among: names)
        return bad("there is no option '\(name)'", number, file, advice: near ?? advice)
    }

    /// `name` when the token is `name=…` and the name looks like one of an option.
    private static func nameBefore(equals token: ArraySlice<UInt8>) -> String? {
        guard let equals = token.firstIndex(of: 0x3D), let first = token.first, isLower(first) else {
            return nil
        }
        let name = token[..<equals]
        let isName = name.allSatisfy { isLower($0) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D || $0 == 0x2E }
        return isName ? String(decoding: name, as: UTF8.self) : nil
    }

    private static func isLower(_ byte: UInt8) -> Bool { byte >= 0x61 && byte <= 0x7A }

    /// Letters, then `://`.
    private static func hasScheme(_ url: String) -> Bool {
        var letters = 0
        var rest = url.utf8[...]
        while let byte = rest.first, isLower(byte | 0x20) {
            letters += 1
            rest = rest.dropFirst()
        }
        return letters > 1 && rest.starts(with: "://".utf8)
    }

    private static func text(
        _ bytes: some Collection<UInt8>, _ number: Int, _ file: String
    ) throws(HaulError) -> String {
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw bad("it holds control characters", number, file)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw bad("it is not UTF-8 text", number, file)
        }
        return text
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return bytes
    }
}

/// Gives the words of a line, and the text between quotes as one value.
private struct Scanner {
    private let line: ArraySlice<UInt8>
    private var position: Int

    init(_ line: ArraySlice<UInt8>) {
        self.line = line
        position = line.startIndex
    }

    /// The next word, and whether a tab stood before it.
    mutating func next() -> (ArraySlice<UInt8>, followsTab: Bool)? {
        var followsTab = false
        while position < line.endIndex, line[position] == 0x20 || line[position] == 0x09 {
            followsTab = followsTab || line[position] == 0x09
            position += 1
        }
        guard position < line.endIndex else { return nil }
        let word = line[position...].prefix { $0 != 0x20 && $0 != 0x09 }
        position = word.endIndex
        return (word, followsTab)
    }

    /// The value of a `name=...` word that was just given.
    ///
    /// When it starts with a double quote it goes to the closing one, with `\"` and `\\` for themselves;
    /// without a closing one the quote is a plain character.
    mutating func quotedValue(of word: ArraySlice<UInt8>, nameLength: Int) -> [UInt8] {
        let value = word.dropFirst(nameLength + 1)
        guard value.first == 0x22 else { return Array(value) }
        var text: [UInt8] = []
        var isEscaped = false
        for index in (value.startIndex + 1)..<line.endIndex {
            let byte = line[index]
            if isEscaped {
                if byte != 0x22 && byte != 0x5C { text.append(0x5C) }
                text.append(byte)
                isEscaped = false
            } else if byte == 0x5C {
                isEscaped = true
            } else if byte == 0x22 {
                position = index + 1
                return text
            } else {
                text.append(byte)
            }
        }
        return Array(value)
    }
}
