package import HaulCore
package import HaulEngine

/// What a command that may need the engine starts from.
package struct CommandContext<Engine: DownloadEngine>: Sendable {
    package var configuration: GetConfiguration
    package var operands: [String]
    package var world: World
    package var makeEngine: @Sendable (EngineOptions) throws -> Engine

    package init(
        _ configuration: GetConfiguration, operands: [String], world: World,
        makeEngine: @escaping @Sendable (EngineOptions) throws -> Engine
    ) {
        self.configuration = configuration
        self.operands = operands
        self.world = world
        self.makeEngine = makeEngine
    }

    /// The session that is open, or a new one, which ends on a signal; at most one in a process.
    package func session(_ open: EngineSession<Engine>?) throws(HaulError) -> EngineSession<Engine> {
        if let open { return open }
        do {
            var options = configuration.engine
            options.reportsHeads = configuration.dumpHeader != nil
            return EngineSession(engine: try makeEngine(options), signals: world.listen())
        } catch let error as HaulError {
            throw error
        } catch {
            throw HaulError(.bug, "the engine could not start: \(error)")
        }
    }

    /// Fetches a list of checksums; `operand`: the URL for which credentials were given.
    func fetchList(
        _ url: String, for operand: String?, session: inout EngineSession<Engine>
    ) async throws(HaulError) -> SpecFactory.NamedList {
        try await ChecksumLoader.fetch(
            url, configuration, for: operand, temporaryDirectory: world.environment("TMPDIR"),
            session: &session)
    }

    /// Says what failed.
    ///
    /// - Returns: the exit status for it.
    package func report(_ error: HaulError) -> Int32 {
        world.console.error(Messages.error(error) + "\n")
        return ExitStatus.of(error.code)
    }
}
