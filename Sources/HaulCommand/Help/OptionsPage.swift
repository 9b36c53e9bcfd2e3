/// `haul help --format markdown`: docs/options.md.
enum OptionsPage {
    static var text: String {
        var page = """
            # Options

            <!-- Made by `haul help --format markdown`; do not edit. -->

            The long names are also the names in the settings file (`~/.config/haul/haul.conf`) where the column *settings* \
            says so, and on the lines of an input file where the column *list* does. A flag takes `=yes` and `=no`.

            """
        for section in OptionDefinition.Section.allCases {
            let options = OptionTable.all.filter { $0.section == section }
            page +=
                "\n## \(section.rawValue)\n\n| option | meaning | settings | list |\n| --- | --- | --- | --- |\n"
            page += options.map(row).joined()
        }
        page += "\n## Values\n\n| value | meaning |\n| --- | --- |\n"
        page += HelpText.quantityMeanings.map { "| \($0) | \(escaped($1)) |\n" }.joined()
        page += "\n## Exit status\n\n| status | meaning |\n| --- | --- |\n"
        return page + ExitStatus.meanings.map { "| \($0) | \(escaped($1)) |\n" }.joined()
    }

    private static func row(_ option: OptionDefinition) -> String {
        let short = option.short.map { "`-\($0)`, " } ?? ""
        let head = "`\(HelpText.head(of: option))`".replacing("|", with: "\\|")
        let first = option.summary.prefix(1).uppercased() + option.summary.dropFirst()
        let text = escaped(option.manual.isEmpty ? "\(first)." : "\(first). \(option.manual)")
        let elsewhere =
            option.commands.contains(.get)
            ? "" : " (\(option.commands.map(\.rawValue).joined(separator: ", ")))"
        let marks = [option.isSetting, option.isForLists].map { $0 ? "yes" : "" }
        return "| \(short)\(head)\(elsewhere) | \(text) | \(marks[0]) | \(marks[1]) |\n"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("|", with: "\\|").replacing("<", with: "&lt;").replacing("*", with: "\\*")
    }
}
