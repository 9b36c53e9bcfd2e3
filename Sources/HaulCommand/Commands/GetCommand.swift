import HaulCore
import HaulEngine

/// `haul get`: checks everything, then does the downloads.
package struct GetCommand<Engine: DownloadEngine>: Sendable {
    private let context: CommandContext<Engine>

    package init(_ context: CommandContext<Engine>) { self.context = context }

    private var configuration: GetConfiguration { context.configuration }
    private var operands: [String] { context.operands }
    private var world: World { context.world }

    /// - Returns: the exit status; what failed was said.
    package func run() async -> Int32 {
        var session: EngineSession<Engine>?
        do throws(HaulError) {
            return try await attempt(&session)
        } catch {
            let signal = session?.signal
            await session?.close(because: error)
            if let signal {
                world.console.error(Messages.interrupted() + "\n")
                return ExitStatus.of(signal: signal)
            }
            return context.report(error)
        }
    }

    private func attempt(_ session: inout EngineSession<Engine>?) async throws(HaulError) -> Int32 {
        var configuration = self.configuration
        try checkTogether(configuration)
        try checkFiles(configuration.download.connection)
        for path in configuration.cookieFiles {
            guard let file = try SmallFile.read(path) else {
                throw HaulError(.usage, "there is no cookie file \(path)")
            }
            configuration.download.cookies += try CookieFile.parse(file.bytes, file: path)
        }
        let input = try configuration.inputFile.map { (path: String) throws(HaulError) in
            try InputFile(path, temporaryDirectory: world.environment("TMPDIR"))
        }
        let factory = SpecFactory(
            configuration: configuration, checksums: try await lists(configuration, &session),
            files: .init(isDirectory: SmallFile.isDirectory, isSymbolicLink: SmallFile.isSymbolicLink),
            listName: input?.name ?? "")
        let plan = { () throws(HaulError) -> DownloadPlan in
            let list = input.map { InputListReader(file: $0.name, lines: $0.lines()) }
            return try DownloadPlan(factory: factory, operands: operands, list: list)
        }
        var rehearsal = try plan()
        let total = try rehearsal.check()
        guard total > 0 else { throw HaulError(.usage, "\(input?.name ?? "the list") holds no URLs") }
        if configuration.isDryRun { return try rehearse(try plan()) }

        let dump = try configuration.dumpHeader.map { (path: String) throws(HaulError) in try HeaderDump(path)
        }
        let open = try context.session(session)
        session = open
        var run = GetRun(
            session: open, plan: try plan(), total: total, configuration: configuration, world: world,
            dump: dump)
        return await run.toTheEnd()
    }

    private func lists(
        _ configuration: GetConfiguration, _ session: inout EngineSession<Engine>?
    ) async throws(HaulError) -> [SpecFactory.NamedList] {
        var lists: [SpecFactory.NamedList] = []
        for name in configuration.checksumLists {
            guard ChecksumLoader.isURL(name) else {
                lists.append(try ChecksumLoader.file(name))
                continue
            }
            var open = try context.session(session)
            session = open
            lists.append(try await context.fetchList(name, for: operands.first, session: &open))
            session = open
        }
        return lists
    }

    /// What contradicts itself, whatever the URLs are.
    private func checkTogether(_ configuration: GetConfiguration) throws(HaulError) {
        guard !operands.isEmpty || configuration.inputFile != nil else {
            throw HaulError(.usage, "there is no URL", advice: "haul https://..., or haul --help")
        }
        if operands.contains("-") {
            throw HaulError(
                .usage, "'-' is not a URL", advice: "--input-file - to read URLs from standard input")
        }
        if configuration.writesJSON, configuration.outputs.contains("-") || configuration.dumpHeader == "-" {
            throw HaulError(
                .usage, "--json needs standard output for itself",
                advice: "--progress json, on standard error")
        }
        if configuration.download.range != nil, !configuration.download.checksums.isEmpty {
            throw HaulError(.usage, "--checksum is of the whole file and --range asks for a part of it")
        }
    }

    /// What options name is looked for before anything starts; the transfers read it.
    private func checkFiles(_ connection: ConnectionOptions) throws(HaulError) {
        let pinned = connection.pinnedPublicKey.flatMap { $0.hasPrefix("sha256//") ? nil : $0 }
        let named = [
            ("netrc", connection.netrcFile), ("cacert", connection.caFile),
            ("cert", connection.clientCertificate),
            ("key", connection.clientKey), ("pinned-pubkey", pinned), ("ssh-key", connection.sshKey),
        ]
        for (name, path) in named {
            if let path, SmallFile.isMissing(path) {
                throw HaulError(.usage, "--\(name): there is no file \(path)")
            }
        }
    }

    private func rehearse(_ plan: DownloadPlan) throws(HaulError) -> Int32 {
        var plan = plan
        var index = 0
        var problem: Int32 = 0
        while let spec = try plan.next() {
            index += 1
            let subject = EventJSON.Subject(index: index, url: spec.redactedURL)
            let line =
                configuration.writesJSON
                ? EventJSON.planned(subject, spec.destination).text
                : Messages.planned(subject.url, spec.destination)
            let written = world.console.output(line + "\n")
            problem = problem == 0 ? written : problem
        }
        return world.console.concluded(ExitStatus.done, outputProblem: problem)
    }
}

extension DownloadSpec {
    /// The first URL without secrets.
    var redactedURL: String {
        references?.first?.redacted ?? "(no URL)"
    }
}
