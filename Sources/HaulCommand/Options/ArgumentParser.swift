package import HaulCore

/// The arguments, cut into what they are; nothing is looked at yet.
package struct ParsedArguments: Sendable {
    package var command = CommandName.get
    /// The word `get` (or another command's) stood there.
    package var isCommandNamed = false
    package var operands: [String] = []
    /// Which bytes of which arguments must not stay visible.
    package var secrets: [SecretArgument] = []
    var assignments: [Assignment] = []

    /// An option with its value, in the order given.
    struct Assignment: Sendable {
        let definition: OptionDefinition
        let text: String
    }

    package init() {}
}

/// A part of an argument that other users of the machine must not see.
package struct SecretArgument: Hashable, Sendable {
    /// Index in the arguments, the program's name not counted.
    package let index: Int
    /// Bytes of the argument before the value.
    package let offset: Int
    package let kind: OptionDefinition.Secret
}

/// Cuts arguments as the GNU tools do: `--long=value`, `--long value`, `-svalue`, `-s value`, `-abc`, `--`.
package struct ArgumentParser {
    private let arguments: [String]
    private var index = 0
    private var onlyOperands = false
    private var result = ParsedArguments()

    private init(_ arguments: [String]) { self.arguments = arguments }

    /// - Throws: `.usage`, for options that do not exist, or have no value where they need one.
    package static func parse(_ arguments: [String]) throws(HaulError) -> ParsedArguments {
        var parser = ArgumentParser(arguments)
        return try parser.run()
    }

    private mutating func run() throws(HaulError) -> ParsedArguments {
        while index < arguments.count {
            let argument = arguments[index]
            if onlyOperands || argument == "-" || !argument.hasPrefix("-") {
                takeOperand(argument)
            } else if argument == "--" {
                onlyOperands = true
            } else if argument.hasPrefix("--") {
                try takeLong(argument.dropFirst(2))
            } else {
                try takeShort(argument.dropFirst())
            }
            index += 1
        }
        try checkCommands()
        return result
    }

    private mutating func takeOperand(_ argument: String) {
        if !onlyOperands, result.operands.isEmpty, !result.isCommandNamed,
            let command = CommandName(rawValue: argument)
        {
            result.command = command
            result.isCommandNamed = true
        } else {
            result.operands.append(argument)
            result.secrets.append(SecretArgument(index: index, offset: 0, kind: .url))
        }
    }

    private mutating func takeLong(_ text: Substring) throws(HaulError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let definition = OptionTable.find(name) else { throw unknown(name) }
        if parts.count == 2 {
            assign(definition, String(parts[1]), offset: 2 + name.utf8.count + 1)
        } else if definition.isFlag {
            assign(definition, "", offset: 0)
        } else {
            try assignNext(definition, shown: "--\(name)")
        }
    }

    private mutating func takeShort(_ text: Substring) throws(HaulError) {
        var rest = text
        while let letter = rest.popFirst() {
            guard let definition = OptionTable.find(short: letter) else {
                throw unknown(short: "\(letter)\(rest)")
            }
            if definition.isFlag {
                assign(definition, "", offset: 0)
            } else if rest.isEmpty {
                try assignNext(definition, shown: "-\(letter)")
            } else {
                let offset = arguments[index].utf8.count - rest.utf8.count
                assign(definition, String(rest), offset: offset)
                return
            }
        }
    }

    private mutating func assignNext(_ definition: OptionDefinition, shown: String) throws(HaulError) {
        guard index + 1 < arguments.count else {
            throw HaulError(
                .usage, "\(shown) needs a value", advice: "\(shown) \(definition.placeholder ?? "")")
        }
        index += 1
        assign(definition, arguments[index], offset: 0)
    }

    private mutating func assign(_ definition: OptionDefinition, _ text: String, offset: Int) {
        result.assignments.append(.init(definition: definition, text: text))
        if definition.secret != .none, !text.hasPrefix("@") {
            result.secrets.append(SecretArgument(index: index, offset: offset, kind: definition.secret))
        }
    }

    // MARK: Errors

    private func unknown(_ name: String) -> HaulError {
        let names = OptionTable.all.map(\.name)
        let near =
            NearestName.find(name, among: names)
            ?? (name.hasPrefix("no-") ? NearestName.find(String(name.dropFirst(3)), among: names) : nil)
        let advice = ForeignOption.find(name)?.advice() ?? near.map { "--\($0)" }
        return HaulError(.usage, "there is no option '--\(name)'", advice: advice ?? "haul help get")
    }

    /// `letters`: What is left of the argument; wget's `-nc` is one option.
    private func unknown(short letters: String) -> HaulError {
        let foreign = ForeignOption.find(letters) ?? ForeignOption.find(letters.prefix(1))
        let shown = foreign?.names.contains(letters) == true ? letters : String(letters.prefix(1))
        return HaulError(
            .usage, "there is no option '-\(shown)'", advice: foreign?.advice() ?? "haul help get")
    }

    /// Options that the command does not have; known only now, as the command may stand after them.
    private func checkCommands() throws(HaulError) {
        for assignment in result.assignments {
            let definition = assignment.definition
            if definition.commands.contains(result.command) { continue }
            if result.command == .help || result.command == .version, definition.isSetting { continue }
            throw HaulError(
                .usage, "'haul \(result.command.rawValue)' has no option '--\(definition.name)'",
                advice: "haul help \(result.command.rawValue)")
        }
    }
}
