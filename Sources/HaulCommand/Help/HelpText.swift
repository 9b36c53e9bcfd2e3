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
        let options = OptionTable.options(of: command)
        for section in OptionDefinition.Section.allCases {
            let own = options.filter { $0.section == section }
            if own.isEmpty { continue }
            text += "\n\(section.rawValue):\n" + own.map(line).joined()
        }
        if command == .get {
            text += "\n" + exitStatuses + "\nThe manual, haul(1), tells more of each option.\n"
        }
        return text
    }

    /// `  -o, --output FILE            write to FILE`; a long head gets a line of its own.
    private static func line(_ option: OptionDefinition) -> String {
        let head = "  " + (option.short.map { "-\($0), " } ?? "    ") + head(of: option)
        let gap = 31 - head.count
        let separator =
            gap > 0 ? String(repeating: " ", count: gap) : "\n" + String(repeating: " ", count: 31)
        return head + separator + option.summary + "\n"
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
