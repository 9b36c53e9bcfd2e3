import HaulCore

/// All options of all commands, in the order of the documentation.
package enum OptionTable {
    package static let all: [OptionDefinition] =
        files + input + speed + request + network + retries + scripts + output + general

    package static func options(of command: CommandName) -> [OptionDefinition] {
        all.filter { $0.commands.contains(command) }
    }

    package static func find(_ name: String) -> OptionDefinition? {
        index[aliases[name] ?? name].map { all[$0] }
    }

    package static func find(short: Character) -> OptionDefinition? {
        all.indices.first { all[$0].short == short }.map { all[$0] }
    }

    private static let index = Dictionary(uniqueKeysWithValues: all.indices.map { (all[$0].name, $0) })

    /// Second names, for people (and lists) coming from other tools.
    package static let aliases = ["out": "output", "output-document": "output", "directory-prefix": "dir"]
}
