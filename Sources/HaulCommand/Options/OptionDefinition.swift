import HaulCore

/// One option: the only place where its name, its meaning and its documentation stand.
package struct OptionDefinition: Sendable {
    /// The headings of the help, in their order.
    package enum Section: String, Sendable, CaseIterable {
        case files = "Files"
        case input = "What to download"
        case speed = "Speed"
        case request = "Requests and accounts"
        case network = "Network and trust"
        case retries = "Retries and limits"
        case scripts = "Scripts"
        case output = "Output"
        case general = "General"
    }

    /// What an option is about, and so where it may stand.
    package enum Scope: Sendable {
        /// One download: also on a line of an input file.
        case download
        /// One download, but not for an input file to say: it runs programs or reads other files.
        case trustedDownload
        /// All downloads of the process.
        case engine
        /// The command itself.
        case command
    }

    /// Which bytes of the value must not stay visible in the process list.
    package enum Secret: Sendable {
        case none
        case whole
        /// Everything after the first colon.
        case headerValue
        /// The user part and the query.
        case url
    }

    /// What a shell offers for the value.
    package enum Completion: Sendable, Hashable {
        case nothing
        case file
        case directory
        case choices([String])
    }

    typealias Apply = @Sendable (inout GetConfiguration, OptionInput) throws(HaulError) -> Void

    package let name: String
    package let short: Character?
    /// The name of the value in the help; `nil`: a flag, which takes `=yes` and `=no`.
    package let placeholder: String?
    package let section: Section
    package let scope: Scope
    /// One line, without a final period; at most 49 characters.
    package let summary: String
    /// The paragraph of the manual that follows the summary.
    package let manual: String
    package let secret: Secret
    package let completion: Completion
    /// May stand in the configuration file.
    package let isSetting: Bool
    package let commands: [CommandName]
    /// What the option means to commands for which the summary does not fit.
    let summaries: [CommandName: String]
    let apply: Apply

    init(
        _ name: String, _ short: Character? = nil, _ placeholder: String? = nil, in section: Section,
        _ scope: Scope, _ summary: String, manual: String = "", secret: Secret = .none,
        completion: Completion = .nothing, isSetting: Bool = true, commands: [CommandName] = [.get],
        summaries: [CommandName: String] = [:], apply: @escaping Apply
    ) {
        self.name = name
        self.short = short
        self.placeholder = placeholder
        self.section = section
        self.scope = scope
        self.summary = summary
        self.manual = manual
        self.secret = secret
        self.completion = completion
        self.isSetting = isSetting
        self.commands = commands
        self.summaries = summaries
        self.apply = apply
    }

    package var isFlag: Bool { placeholder == nil }

    /// What it means to a command.
    package func summary(for command: CommandName) -> String { summaries[command] ?? summary }

    /// May stand on a line of an input file.
    package var isForLists: Bool { scope == .download }

    /// A flag: sets one Boolean.
    static func flag(
        _ name: String, _ short: Character? = nil, in section: Section, _ scope: Scope, _ summary: String,
        manual: String = "", isSetting: Bool = true, commands: [CommandName] = [.get],
        summaries: [CommandName: String] = [:],
        _ target: @escaping @Sendable (inout GetConfiguration, Bool) -> Void
    ) -> OptionDefinition {
        OptionDefinition(
            name, short, nil, in: section, scope, summary, manual: manual, isSetting: isSetting,
            commands: commands, summaries: summaries
        ) { (configuration, input) throws(HaulError) in
            target(&configuration, try input.yesOrNo())
        }
    }
}
