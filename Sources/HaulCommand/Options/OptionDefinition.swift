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
    let apply: Apply

    init(
        _ name: String, _ short: Character? = nil, _ placeholder: String? = nil, in section: Section,
        _ scope: Scope, _ summary: String, manual: String = "", secret: Secret = .none,
        completion: Completion = .nothing, isSetting: Bool = true, commands: [CommandName] = [.get],
        apply: @escaping Apply
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
        self.apply = apply
    }

    package var isFlag: Bool { placeholder == nil }

    /// May stand on a line of an input file.
    package var isForLists: Bool { scope == .download }

    /// A flag: sets one Boolean.
    static func flag(
        _ name: String, _ short: Character? = nil, in section: Section, _ scope: Scope, _ summary: String,
        manual: String = "", isSetting: Bool = true, commands: [CommandName] = [.get],
        _ target: @escaping @Sendable (inout GetConfiguration, Bool) -> Void
    ) -> OptionDefinition {
        OptionDefinition(
            name, short, nil, in: section, scope, summary, manual: manual, isSetting: isSetting,
            commands: commands
        ) { (configuration, input) throws(HaulError) in
            target(&configuration, try input.yesOrNo())
        }
    }
}

/// The commands there are.
package enum CommandName: String, Sendable, CaseIterable {
    case get
    case verify
    case inspect
    case help
    case version

    /// One line for the help.
    package var summary: String {
        switch self {
        case .get: "download URLs (the word 'get' may be left out)"
        case .verify: "check files against checksums"
        case .inspect: "show what an unfinished NAME.part holds"
        case .help: "explain a command, or list all options"
        case .version: "print the version"
        }
    }

    /// What follows the name.
    package var synopsis: String {
        switch self {
        case .get: "[options] URL..."
        case .verify: "[options] [FILE...]"
        case .inspect: "[--json] FILE.part..."
        case .help: "[COMMAND] [--format man|markdown|bash|zsh|fish]"
        case .version: "[--json]"
        }
    }
}
