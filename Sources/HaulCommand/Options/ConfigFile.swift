package import HaulCore

/// The settings file: `name = value` or `name value` lines, with the long names of the options.
package enum ConfigFile {
    struct Setting: Sendable {
        let definition: OptionDefinition
        let text: String
        /// Counted from 1.
        let line: Int
    }

    /// Names of the settings in the file whose values are secrets: the file should be readable by nobody else.
    package static func secrets(in text: String, file: String) throws(HaulError) -> [String] {
        try parse(text, file: file).filter { $0.definition.secret == .whole && !$0.text.hasPrefix("@") }
            .map(\.definition.name)
    }

    /// - Throws: `.usage`, naming file, line and the nearest name.
    static func parse(_ text: String, file: String) throws(HaulError) -> [Setting] {
        var settings: [Setting] = []
        var number = 0
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            number += 1
            let line = trimmed(line)
            if line.isEmpty || line.hasPrefix("#") { continue }
            let name = String(line.prefix { !isSpace($0) && $0 != "=" })
            var value = trimmed(line.dropFirst(name.count))
            if value.hasPrefix("=") { value = trimmed(value.dropFirst()) }
            let definition = try find(name, file: file, line: number)
            if value.isEmpty, !definition.isFlag, definition.name != "proxy" {
                throw HaulError(.usage, "\(file) line \(number): '\(name)' needs a value")
            }
            settings.append(Setting(definition: definition, text: unquoted(value), line: number))
        }
        return settings
    }

    private static func find(
        _ name: String, file: String, line: Int
    ) throws(HaulError) -> OptionDefinition {
        let place = "\(file) line \(line)"
        if let definition = OptionTable.find(name) {
            guard definition.isSetting else {
                throw HaulError(.usage, "\(place): '\(name)' has no place in a settings file")
            }
            return definition
        }
        let names = OptionTable.all.filter(\.isSetting).map(\.name)
        let bare = name.hasPrefix("--") ? String(name.dropFirst(2)) : name
        let foreign = ForeignOption.find(bare)?.advice(dashes: false)
        let near = names.contains(bare) ? bare : foreign ?? NearestName.find(bare, among: names)
        throw HaulError(.usage, "\(place): there is no setting '\(name)'", advice: near)
    }

    /// The text between double quotes, where `\"` and `\\` stand for themselves; anything else as it is.
    private static func unquoted(_ value: Substring) -> String {
        guard value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") else { return String(value) }
        var text = ""
        var isEscaped = false
        for character in value.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
                continue
            }
            if isEscaped, character != "\"", character != "\\" { text.append("\\") }
            text.append(character)
            isEscaped = false
        }
        return text
    }

    private static func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }
}
