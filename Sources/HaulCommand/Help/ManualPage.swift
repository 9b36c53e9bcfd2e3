/// `haul help --format man`: haul(1) in man macros.
enum ManualPage {
    static var text: String {
        var page = """
            .\\" Made by `haul help --format man`; do not edit.
            .TH HAUL 1 "" "haul \(VersionCommand.version)" "User commands"
            .SH NAME
            haul \\- download files, surely and fast
            .SH SYNOPSIS

            """
        for command in CommandName.allCases {
            let name = command == .get ? "\\fR[\\fBget\\fR]" : command.rawValue
            page += ".B haul \(name)\n\(escaped(command.synopsis))\n.br\n"
        }
        page += """
            .SH DESCRIPTION
            .B haul
            fetches files over HTTP, HTTPS, FTP and SFTP. A file appears under its name only when every byte is there \
            and, if a checksum is known, right; until then it is \\fINAME.part\\fR, with a journal beside it. Whatever ends \
            a download early, the same command run again continues it.
            .PP
            The paths of the results are printed on standard output, everything else on standard error; where both \
            are the same terminal, a path is printed once, in the line that tells that the file is finished.
            .SH COMMANDS

            """
        page += CommandName.allCases.map(command).joined()
        page += ".SH OPTIONS\n"
        page +=
            "A flag takes \\fB=yes\\fR and \\fB=no\\fR, so that what the settings file says can be undone.\n"
        page += OptionDefinition.Section.allCases.map(section).joined()
        page += ".SH VALUES\n"
        for (name, meaning) in HelpText.quantityMeanings {
            page += ".TP\n.I \(name)\n\(escaped(meaning)).\n"
        }
        page +=
            "."
            + "SH EXIT STATUS\nWith several URLs it is that of the first failure, in the order of the URLs.\n"
        for (status, meaning) in ExitStatus.meanings { page += ".TP\n.B \(status)\n\(escaped(meaning))\n" }
        page += ".SH EXAMPLES\n"
        for example in CommandName.allCases.flatMap(\.examples) {
            let meaning = example.meaning.prefix(1).uppercased() + example.meaning.dropFirst()
            page += ".TP\n.B \(escaped(example.line))\n\(escaped(meaning)).\n"
        }
        return page + ending
    }

    private static func command(_ command: CommandName) -> String {
        let text = command.explanation.split(separator: "\n").joined(separator: " ")
        let summary = command.summary.prefix(1).uppercased() + command.summary.dropFirst()
        return ".TP\n.B \(command.rawValue)\n\(escaped(summary)).\n"
            + (text.isEmpty ? "" : escaped(text) + "\n")
    }

    private static func section(_ section: OptionDefinition.Section) -> String {
        let options = OptionTable.all.filter { $0.section == section }
        return ".SS \(section.rawValue)\n" + options.map(option).joined()
    }

    private static func option(_ option: OptionDefinition) -> String {
        var head = option.short.map { "\\fB\\-\(escaped(String($0)))\\fR, " } ?? ""
        head += "\\fB\\-\\-\(escaped(option.name))\\fR"
        if let placeholder = option.placeholder { head += " \\fI\(escaped(placeholder))\\fR" }
        let first = option.summary.prefix(1).uppercased() + option.summary.dropFirst()
        let more = option.manual.isEmpty ? "" : escaped(option.manual) + "\n"
        let elsewhere = option.commands.contains(.get) ? [] : option.commands.map(\.rawValue)
        let note = elsewhere.isEmpty ? "" : "For \(elsewhere.joined(separator: ", ")).\n"
        return ".TP\n\(head)\n\(escaped(first)).\n\(more)\(note)"
    }

    private static let ending = """
        .SH FILES
        .TP
        .I ~/.config/haul/haul.conf
        Settings: lines of "name = value" or "name value" with the long names of the options, without dashes. Lines that
        start with # are comments. $XDG_CONFIG_HOME takes the place of ~/.config.
        .TP
        .I NAME.part\\fR, \\fINAME.part.haul
        An unfinished download and its journal; both go when it is finished.
        .TP
        .I share/doc/haul
        Below the prefix that haul was installed under (/usr, /usr/local): events.md (the fields of \\-\\-json), options.md,
        exit\\-status.md, known\\-limits.md, on\\-disk\\-format.md (the journal), README.md and CHANGELOG.md.
        .SH ENVIRONMENT
        .TP
        .B HAUL_USER\\fR, \\fBHAUL_BEARER\\fR, \\fBHAUL_PROXY_USER
        As \\-\\-user, \\-\\-bearer and \\-\\-proxy\\-user; the command line wins.
        .TP
        .B http_proxy\\fR, \\fBhttps_proxy\\fR, \\fBall_proxy\\fR, \\fBno_proxy
        Proxies, unless \\-\\-proxy and \\-\\-no\\-proxy say otherwise.
        .TP
        .B NO_COLOR
        When set, nothing is coloured.
        .SH SEE ALSO
        .BR curl (1),
        .BR sha256sum (1)

        """

    /// Backslashes and hyphens as roff wants them, and no line that starts with a control character.
    static func escaped(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing(
            "~", with: "\\(ti"
        ).replacing("\"", with: "\\(dq")
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }
}
