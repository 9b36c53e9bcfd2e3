/// `haul help --format bash`: share/completions/haul.bash.
enum BashCompletion {
    static var text: String {
        var script = """
            # Made by `haul help --format bash`; do not edit.
            _haul() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=get word
                for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                    case $word in
                    \(CommandName.allCases.map(\.rawValue).joined(separator: " | "))) command=$word; break ;;
                    esac
                done
                case $previous in

            """
        for option in OptionTable.all where !option.isFlag {
            let names = (option.short.map { "-\($0) | " } ?? "") + "--\(option.name)"
            script += "    \(names)) \(value(option.completion)); return ;;\n"
        }
        script += "    esac\n    if [[ $current == -* ]]; then\n        case $command in\n"
        for command in CommandName.allCases {
            let names = OptionTable.options(of: command).map { "--\($0.name)" }.joined(separator: " ")
            script += "        \(command.rawValue)) COMPREPLY=($(compgen -W '\(names)' -- \"$current\")) ;;\n"
        }
        script += "        esac\n    elif [[ $command == verify || $command == inspect ]]; then\n"
        script += "        COMPREPLY=($(compgen -f -- \"$current\"))\n"
        let commands = CommandName.allCases.map(\.rawValue).joined(separator: " ")
        script += "    elif [[ $COMP_CWORD -eq 1 || $command == help ]]; then\n"
        script += "        COMPREPLY=($(compgen -W '\(commands)' -- \"$current\"))\n    fi\n}\n"
        return script + "complete -o filenames -F _haul haul\n"
    }

    private static func value(_ completion: OptionDefinition.Completion) -> String {
        switch completion {
        case .nothing: "COMPREPLY=()"
        case .file: "COMPREPLY=($(compgen -f -- \"$current\"))"
        case .directory: "COMPREPLY=($(compgen -d -- \"$current\"))"
        case .choices(let choices):
            "COMPREPLY=($(compgen -W '\(choices.joined(separator: " "))' -- \"$current\"))"
        }
    }
}

/// `haul help --format zsh`: share/completions/_haul.
enum ZshCompletion {
    static var text: String {
        var script = "#compdef haul\n# Made by `haul help --format zsh`; do not edit.\n\n_haul() {\n"
        script += "    local -a commands\n    commands=(\n"
        for command in CommandName.allCases {
            script += "        \(quoted("\(command.rawValue):\(command.summary)"))\n"
        }
        script += "    )\n    local command=get word\n    for word in ${words[2,CURRENT-1]}; do\n"
        script += "        if (( ${commands[(I)$word:*]} )); then command=$word; break; fi\n    done\n"
        script += "    case $command in\n"
        for command in CommandName.allCases {
            script += "    \(command.rawValue)) _arguments -s \\\n"
            let options = OptionTable.options(of: command)
            script += options.map { "        \(specification($0, command)) \\\n" }.joined()
            script += "        \(operands(command)) ;;\n"
        }
        return script + "    esac\n}\n\n_haul \"$@\"\n"
    }

    private static func specification(_ option: OptionDefinition, _ command: CommandName) -> String {
        let summary = option.summary(for: command).replacing("[", with: "\\[").replacing("]", with: "\\]")
            .replacing(
                ":", with: "\\:")
        let value =
            option.placeholder.map { "=:\($0.replacing(":", with: "\\:")):\(action(option.completion))" }
            ?? ""
        let equals = option.placeholder == nil ? "" : "="
        let rest = quoted("\(equals)[\(summary)]\(value.dropFirst(equals.isEmpty ? 0 : 1))")
        guard let short = option.short else { return "'*'--\(option.name)\(rest)" }
        let shortRest = quoted(
            "\(equals.isEmpty ? "" : "+")[\(summary)]\(value.dropFirst(equals.isEmpty ? 0 : 1))")
        return "'*'-\(short)\(shortRest) '*'--\(option.name)\(rest)"
    }

    private static func action(_ completion: OptionDefinition.Completion) -> String {
        switch completion {
        case .nothing: " "
        case .file: "_files"
        case .directory: "_files -/"
        case .choices(let choices): "(\(choices.joined(separator: " ")))"
        }
    }

    private static func operands(_ command: CommandName) -> String {
        switch command {
        case .get: "'1: :{_describe command commands}' '*:URL:_urls'"
        case .verify, .inspect: "'*:file:_files'"
        case .help: "'1: : ' '2: :{_describe command commands}'"
        case .version: "'*: : '"
        }
    }

    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}

/// `haul help --format fish`: share/completions/haul.fish.
enum FishCompletion {
    static var text: String {
        let commands = CommandName.allCases.map(\.rawValue)
        var script = "# Made by `haul help --format fish`; do not edit.\ncomplete -c haul -f\n"
        for command in CommandName.allCases {
            script +=
                "complete -c haul -n __fish_use_subcommand -a \(command.rawValue) -d \(quoted(command.summary))\n"
        }
        script += "complete -c haul -n '__fish_seen_subcommand_from verify inspect' -F\n"
        let others = commands.filter { $0 != "get" }.joined(separator: " ")
        for option in OptionTable.all {
            let names = option.commands.map(\.rawValue)
            let condition =
                names.contains("get") && names.count == 1
                ? "not __fish_seen_subcommand_from \(others)"
                : names.contains("get") ? nil : "__fish_seen_subcommand_from \(names.joined(separator: " "))"
            script += "complete -c haul" + (condition.map { " -n \(quoted($0))" } ?? "")
            script += (option.short.map { " -s \($0)" } ?? "") + " -l \(option.name)"
            script += value(option) + " -d \(quoted(option.summary))\n"
        }
        return script
    }

    private static func value(_ option: OptionDefinition) -> String {
        guard !option.isFlag else { return "" }
        switch option.completion {
        case .nothing: return " -x"
        case .file: return " -r -F"
        case .directory: return " -x -a '(__fish_complete_directories)'"
        case .choices(let choices): return " -x -a \(quoted(choices.joined(separator: " ")))"
        }
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}
