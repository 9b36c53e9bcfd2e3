import Glibc
import HaulCore
import HaulEngine
import HaulPlatform

/// The whole command, from arguments to exit status.
package enum HaulMain {
    /// Runs the process.
    ///
    /// The calling thread, which must be the first one, waits for signals to its end.
    package static func main() -> Never {
        openStandardDescriptors()
        ProcessMemory.keepFreed(upTo: 32 << 20)
        ProcessScheduling.preferThroughput()
        let set = Signals.block()
        let signals = Signals()
        let arguments = Array(CommandLine.arguments.dropFirst())
        Task.detached {
            let status = await run(arguments, world: .live(signals: signals), isProcess: true)
            // Handlers of `exit` would take libraries away from under threads that still use them.
            _exit(status)
        }
        signals.serve(set)
    }

    /// `arguments`: Without the program's name.
    ///
    /// `isProcess`: The arguments and variables are those of this process, and secrets in them are
    /// overwritten.
    /// - Returns: the exit status.
    package static func run(_ arguments: [String], world: World, isProcess: Bool = false) async -> Int32 {
        do throws(HaulError) {
            return try await attempt(arguments, world, isProcess)
        } catch {
            world.console.error(Messages.error(error) + "\n")
            return ExitStatus.of(error.code)
        }
    }

    private static func attempt(
        _ arguments: [String], _ world: World, _ isProcess: Bool
    ) async throws(HaulError) -> Int32 {
        let parsed = try ArgumentParser.parse(arguments)
        if isProcess { SecretScrubber.scrubArguments(parsed.secrets) }
        var builder = ConfigurationBuilder(environment: world.environment, read: SmallFile.read)
        let named = parsed.assignments.map(\.definition.name)
        // These must work whatever the settings file says.
        if named.contains("help") || parsed.command == .help { return try help(parsed, arguments, world) }
        if named.contains("version") || parsed.command == .version {
            return said(VersionCommand.text(json: named.contains("json")), world)
        }
        if parsed.command == .inspect {
            return await InspectCommand.run(
                parsed.operands, json: named.contains("json"), console: world.console)
        }
        try checkForMistypedCommand(parsed)
        let configuration = try builder.build(parsed)
        if isProcess { SecretScrubber.scrubEnvironment(ConfigurationBuilder.secretVariables.keys) }
        if !configuration.isQuiet, !configuration.writesJSON {
            for warning in builder.warnings { world.console.error(Messages.warning(warning) + "\n") }
        }
        let context = CommandContext(configuration, operands: parsed.operands, world: world) {
            try Engine(options: $0)
        }
        return parsed.command == .verify
            ? await VerifyCommand(context).run() : await GetCommand(context).run()
    }

    private static func help(_ parsed: ParsedArguments, _ arguments: [String], _ world: World)
        throws(HaulError) -> Int32
    {
        var configuration = GetConfiguration()
        for assignment in parsed.assignments where assignment.definition.name == "format" {
            let input = OptionInput(name: "format", text: assignment.text, source: .commandLine) {
                (path) throws(HaulError) in throw HaulError(.usage, "there is no file \(path)")
            }
            try assignment.definition.apply(&configuration, input)
        }
        if let format = configuration.helpFormat.flatMap(HelpFormat.init) {
            return said(format.document, world)
        }
        guard parsed.command == .help else {
            return said(parsed.isCommandNamed ? HelpText.command(parsed.command) : HelpText.short, world)
        }
        guard let topic = parsed.operands.first else { return said(HelpText.short, world) }
        guard let command = CommandName(rawValue: topic) else { throw unknownCommand(topic) }
        return said(HelpText.command(command), world)
    }

    private static func said(_ text: String, _ world: World) -> Int32 {
        world.console.concluded(ExitStatus.done, outputProblem: world.console.output(text))
    }

    /// A single word where a URL or command could stand is more likely a mistyped command than a host.
    private static func checkForMistypedCommand(_ parsed: ParsedArguments) throws(HaulError) {
        guard !parsed.isCommandNamed, let word = parsed.operands.first, word != "localhost" else { return }
        let isWord = word.utf8.allSatisfy { ($0 >= 0x61 && $0 <= 0x7A) || $0 == 0x2D }
        if isWord, word != "-" { throw unknownCommand(word) }
    }

    private static func unknownCommand(_ word: String) -> HaulError {
        let near = NearestName.find(word, among: CommandName.allCases.map(\.rawValue))
        return HaulError(
            .usage, "there is no command '\(word)'", advice: near.map { "haul \($0)" } ?? "haul help")
    }

    /// A file opened later must not become standard output because that was closed.
    ///
    /// What is then written there fails as it did before: a script waits for it.
    private static func openStandardDescriptors() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY)
        }
    }
}
