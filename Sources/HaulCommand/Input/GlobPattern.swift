package import HaulCore

/// A URL with `[1-100]`, `[001-100]`, `[a-z]`, `[1-9:2]` and `{a,b}` in it; expands one by one, never all at once.
package struct GlobPattern: Sendable {
    package static let largest = 1_000_000

    private enum Part: Sendable {
        case text(String)
        case choices([String])
        /// First, step and count; numbers are filled with zeros to `width`.
        case numbers(first: Int, step: Int, count: Int, width: Int)
        case letters(first: UInt8, step: Int, count: Int)

        var count: Int {
            switch self {
            case .text: 1
            case .choices(let choices): choices.count
            case .numbers(_, _, let count, _), .letters(_, _, let count): count
            }
        }

        func value(_ index: Int) -> String {
            switch self {
            case .text(let text): return text
            case .choices(let choices): return choices[index]
            case .numbers(let first, let step, _, let width):
                let digits = String(first + index * step)
                return String(repeating: "0", count: max(0, width - digits.count)) + digits
            case .letters(let first, let step, _):
                return String(UnicodeScalar(first + UInt8(index * step)))
            }
        }

        var isBracket: Bool { if case .text = self { false } else { true } }
    }

    private var parts: [Part] = []
    /// How many URLs it stands for, at most `largest`.
    package private(set) var count = 1

    /// - Throws: `.usage` for brackets that mean nothing, or more than `largest` URLs.
    package init(parsing text: String) throws(HaulError) {
        var parser = GlobParser(rest: text[...])
        while let element = try parser.next() {
            let part: Part
            switch element {
            case .text(let text): part = .text(text)
            case .choices(let choices): part = .choices(choices)
            case .range(let body): part = try GlobPattern.range(body)
            }
            let (product, overflow) = count.multipliedReportingOverflow(by: part.count)
            guard !overflow, product <= GlobPattern.largest else {
                throw HaulError(
                    .usage, "--glob: the brackets stand for more than \(GlobPattern.largest) URLs")
            }
            count = product
            parts.append(part)
        }
    }

    /// The URL of that number, from 0, with what each bracket became; the last bracket runs fastest.
    package func expansion(_ index: Int) -> (text: String, captures: [String]) {
        var rest = index
        var values: [String] = []
        for part in parts.reversed() {
            values.append(part.value(rest % part.count))
            rest /= part.count
        }
        values.reverse()
        let captures = zip(parts, values).filter { $0.0.isBracket }.map(\.1)
        return (values.joined(), captures)
    }

    /// `#1` … in an output name replaced by what the brackets became, as in curl; other `#` stay.
    package static func filled(_ output: String, captures: [String]) -> String {
        var result = ""
        var rest = output[...]
        while let character = rest.popFirst() {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            if character == "#", let number = Int(digits), captures.indices.contains(number - 1) {
                result += captures[number - 1]
                rest = rest.dropFirst(digits.count)
            } else {
                result.append(character)
            }
        }
        return result
    }

    /// `1-100`, `001-100`, `a-z`, with `:STEP`.
    private static func range(_ body: Substring) throws(HaulError) -> Part {
        let bad = HaulError(
            .usage, "--glob: [\(body)] is not a range", advice: "[1-100], [001-100], [a-z] or [1-9:2]")
        let pieces = body.split(separator: ":", omittingEmptySubsequences: false)
        let ends = pieces[0].split(separator: "-", omittingEmptySubsequences: false)
        guard pieces.count <= 2, ends.count == 2 else { throw bad }
        guard let step = pieces.count == 2 ? number(pieces[1]) : 1, step > 0 else { throw bad }
        if let first = number(ends[0]), let last = number(ends[1]) {
            guard first <= last else { throw bad }
            let width = ends[0].hasPrefix("0") && ends[0].count > 1 ? ends[0].count : 0
            return .numbers(first: first, step: step, count: (last - first) / step + 1, width: width)
        }
        guard let first = letter(ends[0]), let last = letter(ends[1]), first <= last,
            (first & 0x20) == (last & 0x20)
        else { throw bad }
        return .letters(first: first, step: step, count: Int(last - first) / step + 1)
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 15, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            return nil
        }
        return Int(text)
    }

    private static func letter(_ text: Substring) -> UInt8? {
        guard text.utf8.count == 1, let byte = text.utf8.first, (0x61...0x7A).contains(byte | 0x20) else {
            return nil
        }
        return byte
    }
}

/// Cuts a pattern into plain text and brackets.
private struct GlobParser {
    enum Element {
        case text(String)
        case choices([String])
        case range(Substring)
    }

    var rest: Substring

    mutating func next() throws(HaulError) -> Element? {
        guard let first = rest.first else { return nil }
        if first == "{" { return .choices(try choices()) }
        if first == "[", !startsWithAddress { return .range(try body()) }
        var text = ""
        while let character = rest.first, character != "{", character != "[" || startsWithAddress {
            if startsWithAddress, let end = rest.firstIndex(of: "]") {
                text += rest[...end]
                rest = rest[rest.index(after: end)...]
                continue
            }
            rest.removeFirst()
            if character == "\\", let escaped = rest.popFirst() {
                text.append(escaped)
            } else {
                text.append(character)
            }
        }
        return .text(text)
    }

    /// An IPv6 address in brackets has at least two colons; a range has at most one.
    private var startsWithAddress: Bool {
        guard rest.first == "[", let end = rest.firstIndex(of: "]") else { return false }
        return rest[..<end].utf8.count { $0 == 0x3A } >= 2
    }

    private mutating func body() throws(HaulError) -> Substring {
        guard let end = rest.firstIndex(of: "]") else { throw open("[") }
        let body = rest[rest.index(after: rest.startIndex)..<end]
        rest = rest[rest.index(after: end)...]
        return body
    }

    private mutating func choices() throws(HaulError) -> [String] {
        rest.removeFirst()
        var choices = [""]
        while let character = rest.popFirst() {
            switch character {
            case "}": return choices
            case ",": choices.append("")
            case "\\": choices[choices.count - 1].append(rest.popFirst() ?? "\\")
            case "{", "[":
                throw HaulError(
                    .usage, "--glob: brackets cannot stand inside braces", advice: "\\\(character)")
            default: choices[choices.count - 1].append(character)
            }
        }
        throw open("{")
    }

    private func open(_ bracket: String) -> HaulError {
        HaulError(.usage, "--glob: '\(bracket)' is never closed", advice: "\\\(bracket) for a plain one")
    }
}
