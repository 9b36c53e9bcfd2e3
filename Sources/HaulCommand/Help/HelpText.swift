/// What `--help` and `haul help COMMAND` print.
package enum HelpText {
    /// The whole program on one screen of 24 lines and 80 columns.
    package static let short = """
        haul - download files, surely and fast

        usage: haul [get] [options] URL...     download now
               haul verify FILE...             check files against checksums
               haul inspect FILE.part          show what an unfinished file holds
               haul help get                   list all options

          -o, --output FILE       write to FILE; - is standard output
          -d, --dir DIR           put files into DIR
          -i, --input-file FILE   read URLs from FILE, one a line; - is standard input
          -c, --connections N     connections for one file (default auto)
          -j, --jobs N            downloads at the same time (default auto)
              --checksum sha256:HEX  what the file must be
              --limit-rate RATE   bytes a second for each download, such as 2M
          -H, --header 'N: V'     send a header field
          -u, --user USER:PASS    sign in
              --json              events as JSON lines on standard output
          -q, --quiet             only errors, and the paths of the results

        Interrupted? Run the same command again: it continues where it stopped.
        The paths of the files are printed on standard output, all else on standard
        error. Exit status 0: all done. Settings: ~/.config/haul/haul.conf

        """

    /// One command with all its options, by section.
    package static func command(_ command: CommandName) -> String {
        var text = "haul \(command.rawValue) - \(command.summary)\n\n"
        text += "usage: haul \(command.rawValue) \(command.synopsis)\n"
        if !command.explanation.isEmpty { text += "\n" + command.explanation }
        let options = OptionTable.options(of: command)
        for section in OptionDefinition.Section.allCases {
            let own = options.filter { $0.section == section }
            if own.isEmpty { continue }
            let title = command == .verify && section == .input ? "What to compare with" : section.rawValue
            text += "\n\(title):\n" + own.map { line($0, command) }.joined()
        }
        if command == .get { text += "\n" + quantities }
        if !command.examples.isEmpty { text += "\nExamples:\n" + command.examples.map(example).joined() }
        if command == .get {
            text += "\n" + exitStatuses + "\nThe manual, haul(1), tells more of each option.\n"
        }
        return text
    }

    /// `  -o, --output FILE            write to FILE`; a long head gets a line of its own.
    private static func line(_ option: OptionDefinition, _ command: CommandName) -> String {
        let head = "  " + (option.short.map { "-\($0), " } ?? "    ") + head(of: option)
        let gap = 31 - head.count
        let separator =
            gap > 0 ? String(repeating: " ", count: gap) : "\n" + String(repeating: " ", count: 31)
        return head + separator + option.summary(for: command) + "\n"
    }

    /// The meaning stands behind the line, or below it where both are long.
    private static func example(_ line: String, _ meaning: String) -> String {
        let gap = 48 - line.count
        let fits = gap > 1 && meaning.count <= 30
        let separator = fits ? String(repeating: " ", count: gap) : "\n      "
        return "  \(line)\(separator)\(meaning)\n"
    }

    /// How values are written, for the help and the manual.
    static let quantityMeanings: [(placeholder: String, meaning: String)] = [
        ("SIZE", "bytes: 800, 64K, 10M, 1.5G, 1T (powers of 1024), 64kB, 10MB (powers of 1000)"),
        ("RATE", "a SIZE for each second, at least 1; 0 is no limit"),
        ("TIME", "seconds: 30, 1.5; or with a unit: 500ms, 30s, 10m, 1h, 7d"),
    ]

    private static var quantities: String {
        "Values:\n"
            + quantityMeanings.map { name, meaning in
                var lines = [""]
                for word in meaning.split(separator: " ") {
                    let last = lines.count - 1
                    if lines[last].count + word.count > 68 {
                        lines.append(String(word))
                    } else {
                        lines[last] += lines[last].isEmpty ? String(word) : " \(word)"
                    }
                }
                return "  \(name)  " + lines.joined(separator: "\n        ") + "\n"
            }.joined()
    }

    static func head(of option: OptionDefinition) -> String {
        "--\(option.name)" + (option.placeholder.map { " \($0)" } ?? "")
    }

    private static var exitStatuses: String {
        "Exit status (of several URLs: the first failure's):\n"
            + ExitStatus.meanings.map { status, meaning in
                let number = String(status)
                return "  " + String(repeating: " ", count: 3 - number.count) + number + "  " + meaning + "\n"
            }.joined()
    }
}

extension HelpFormat {
    /// The document, made from the option table.
    package var document: String {
        switch self {
        case .man: ManualPage.text
        case .markdown: OptionsPage.text
        case .bash: BashCompletion.text
        case .zsh: ZshCompletion.text
        case .fish: FishCompletion.text
        }
    }
}
