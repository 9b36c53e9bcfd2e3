import HaulCore
import HaulEngine

extension OptionTable {
    /// What to run and write beside the downloads.
    static let scripts: [OptionDefinition] = [
        OptionDefinition(
            "refresh-command", nil, "CMD", in: .scripts, .trustedDownload,
            "prints a fresh URL when a link expired",
            manual: """
                Run without a shell, with HAUL_URL in its environment; its first line of output is used. The bytes \
                on disk are kept.
                """,
            secret: .whole
        ) { (configuration, input) throws(HaulError) in
            configuration.download.refreshCommand = try CommandLineWords.split(input.text, label: input.label)
        },
        OptionDefinition(
            "on-finished", nil, "CMD", in: .scripts, .command, "run after each download that went well",
            manual: """
                Without a shell: words are split at spaces, quotes group them. The program gets HAUL_EVENT, HAUL_URL \
                (without secrets), HAUL_PATH and HAUL_LENGTH. That it fails is a warning.
                """
        ) { (configuration, input) throws(HaulError) in
            _ = try CommandLineWords.split(input.text, label: input.label)
            configuration.onFinished = input.text
        },
        OptionDefinition(
            "on-failed", nil, "CMD", in: .scripts, .command, "run after each download that failed",
            manual: "As --on-finished, with HAUL_CODE, HAUL_ERROR and HAUL_STATUS instead of the length."
        ) { (configuration, input) throws(HaulError) in
            _ = try CommandLineWords.split(input.text, label: input.label)
            configuration.onFailed = input.text
        },
        .flag(
            "fail-early", in: .scripts, .command, "stop everything at the first failure"
        ) { $0.failsEarly = $1 },
        OptionDefinition(
            "dump-header", nil, "FILE", in: .scripts, .command, "write the answers' header fields to FILE",
            manual: "Readable by you alone: cookies may be in it.", completion: .file, isSetting: false
        ) { (configuration, input) throws(HaulError) in
            configuration.dumpHeader = try input.nonEmpty()
        },
        .flag(
            "dry-run", in: .scripts, .command, "say what would be fetched to where, and stop",
            isSetting: false
        ) { $0.isDryRun = $1 },
    ]

    /// What is said.
    static let output: [OptionDefinition] = [
        OptionDefinition(
            "progress", nil, "MODE", in: .output, .command, "show progress as bar, plain, json or none",
            manual: """
                The default is bar on a terminal and plain elsewhere: a line at the start and the end, and at most one in \
                ten seconds. json writes the lines of --json to standard error.
                """,
            completion: .choices(ProgressMode.allCases.map(\.rawValue))
        ) { (configuration, input) throws(HaulError) in
            configuration.progress = try input.choice(ProgressMode.self)
        },
        .flag(
            "json", in: .output, .command, "events as JSON lines on standard output",
            manual:
                "Instead of paths and messages. events.md, installed in share/doc/haul, tells the fields.",
            isSetting: false, commands: [.get, .verify, .inspect, .version],
            summaries: [
                .verify: "results as JSON lines on standard output", .inspect: "one JSON line for each file",
                .version: "as one JSON line",
            ]
        ) { $0.writesJSON = $1 },
        .flag(
            "quiet", "q", in: .output, .command, "only errors, and the paths of the results",
            commands: [.get, .verify], summaries: [.verify: "only what is not as it should be"]
        ) { $0.isQuiet = $1 },
        .flag("verbose", "v", in: .output, .command, "say more about what happens") { $0.isVerbose = $1 },
    ]

    /// About the settings themselves.
    static let general: [OptionDefinition] = [
        OptionDefinition(
            "config", nil, "FILE", in: .general, .command, "settings file (default ~/.config/haul/haul.conf)",
            manual:
                "Lines of 'name = value' or 'name value' with the names of these options, without dashes.",
            completion: .file, isSetting: false, commands: [.get, .verify]
        ) { (configuration, input) throws(HaulError) in
            configuration.configFile = try input.nonEmpty()
        },
        .flag(
            "no-config", in: .general, .command, "do not read a settings file", isSetting: false,
            commands: [.get, .verify]
        ) { $0.usesConfig = !$1 },
        .flag(
            "help", "h", in: .general, .command, "print help", isSetting: false,
            commands: CommandName.allCases
        ) { $0.wantsHelp = $1 },
        .flag(
            "version", "V", in: .general, .command, "print the version", isSetting: false,
            commands: CommandName.allCases
        ) { $0.wantsVersion = $1 },
        OptionDefinition(
            "format", nil, "FORMAT", in: .general, .command, "print the man page, options or completions",
            manual: "man, markdown, or completions for bash, zsh or fish.",
            completion: .choices(HelpFormat.allCases.map(\.rawValue)), isSetting: false, commands: [.help]
        ) { (configuration, input) throws(HaulError) in
            configuration.helpFormat = try input.choice(HelpFormat.self).rawValue
        },
    ]
}
