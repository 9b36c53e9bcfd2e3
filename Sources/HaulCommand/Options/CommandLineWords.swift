package import HaulCore

/// Splits a command as a shell's first step would, and does nothing else that a shell does.
package enum CommandLineWords {
    /// Words are separated by spaces and tabs; single quotes keep everything, double quotes everything but
    /// `\"` and `\\`; a backslash outside quotes keeps the next character.
    package static func split(_ text: String, label: String) throws(HaulError) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in text {
            if isEscaped {
                if quote == "\"", character != "\"", character != "\\" { word = (word ?? "") + "\\" }
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character == " " || character == "\t" {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil, !isEscaped else {
            throw HaulError(.usage, "\(label): a quote or backslash has no end")
        }
        if let word { words.append(word) }
        guard let program = words.first, !program.isEmpty else {
            throw HaulError(.usage, "\(label): there is no program to run")
        }
        return words
    }
}
