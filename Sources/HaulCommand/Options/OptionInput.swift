import HaulCore

/// The value of one option as it was written, with where it was written.
package struct OptionInput: Sendable {
    package enum Source: Hashable, Sendable {
        case commandLine
        case environment
        case configuration
        case list
    }

    /// `--name`, or the name alone where options have no dashes.
    package let label: String
    package let text: String
    package let source: Source
    /// Gives the bytes of a file, for values written as `@FILE`.
    let readFile: @Sendable (String) throws(HaulError) -> [UInt8]

    init(
        name: String, text: String, source: Source,
        readFile: @escaping @Sendable (String) throws(HaulError) -> [UInt8]
    ) {
        label = source == .commandLine || source == .environment ? "--\(name)" : name
        self.text = text
        self.source = source
        self.readFile = readFile
    }

    /// The error for a value that is not understood.
    ///
    /// `shown` is left out where the value may be a secret.
    func bad(_ wanted: String, isSecret: Bool = false) -> HaulError {
        HaulError(.usage, isSecret ? "\(label): \(wanted)" : "\(label): '\(text)' is not \(wanted)")
    }

    func outOfRange(_ range: String) -> HaulError {
        HaulError(.usage, "\(label): '\(text)' is out of range: \(range)")
    }

    // MARK: Plain values

    func yesOrNo() throws(HaulError) -> Bool {
        switch text.lowercased() {
        case "", "yes", "true", "on", "1": return true
        case "no", "false", "off", "0": return false
        default: throw bad("yes or no")
        }
    }

    func nonEmpty() throws(HaulError) -> String {
        if text.isEmpty { throw HaulError(.usage, "\(label): the value is empty") }
        return text
    }

    func choice<Choice: RawRepresentable & CaseIterable>(
        _ type: Choice.Type
    ) throws(HaulError) -> Choice where Choice.RawValue == String {
        if let choice = Choice(rawValue: text.lowercased()) { return choice }
        let names = Choice.allCases.map(\.rawValue)
        var error = bad(names.dropLast().joined(separator: ", ") + " or " + (names.last ?? ""))
        error.advice = NearestName.find(text.lowercased(), among: names).map { "\(label) \($0)" }
        throw error
    }

    func count(_ range: ClosedRange<Int>) throws(HaulError) -> Int {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            throw bad("a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        guard let number = Int(text), range.contains(number) else {
            throw outOfRange("from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// `auto` or a number.
    func autoCount(_ range: ClosedRange<Int>) throws(HaulError) -> Int? {
        if text.lowercased() == "auto" { return nil }
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            throw bad("auto or a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return try count(range)
    }

    // MARK: Secrets and files

    /// The value itself, or the first line of the file when it is written as `@FILE`.
    func textOrFirstLine() throws(HaulError) -> String {
        guard let path = filePath else { return text }
        let bytes = try readFile(path)
        var line = bytes.prefix { $0 != 0x0A }
        if line.last == 0x0D { line.removeLast() }
        guard let text = String(validating: line, as: UTF8.self), !text.isEmpty else {
            throw HaulError(.usage, "\(label): the first line of \(path) is empty or not text")
        }
        return text
    }

    /// The path in `@FILE`; lists may not name other files to be sent somewhere.
    var filePath: String? {
        source != .list && source != .environment && text.hasPrefix("@") && text.utf8.count > 1
            ? String(text.dropFirst()) : nil
    }

    /// `USER:PASSWORD`, `USER`, or `@FILE`.
    func userAndPassword() throws(HaulError) -> (user: String, password: String) {
        let text = try textOrFirstLine()
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw bad("the user or password holds control characters", isSecret: true)
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let user = parts.first, !user.isEmpty else {
            throw bad("give USER:PASSWORD or @FILE", isSecret: true)
        }
        return (String(user), parts.count > 1 ? String(parts[1]) : "")
    }
}
