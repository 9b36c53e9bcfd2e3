import Glibc
import HaulCore
import HaulEngine
import HaulPlatform

@testable import HaulCommand

/// What a command wrote.
final class Captured: Sendable {
    private let texts = Guarded<(output: String, error: String)>(("", ""))

    var output: String { texts.withLock { $0.output } }
    var error: String { texts.withLock { $0.error } }

    /// `terminal`: both streams are one.
    func console(outputWorks: Bool = true, terminal: Bool = false) -> Console {
        Console(
            output: { text in
                self.texts.withLock { $0.output += text }
                return outputWorks ? 0 : ENOSPC
            },
            error: { text in self.texts.withLock { $0.error += text } }, hasBars: terminal,
            outputIsTerminal: terminal)
    }

    func world(
        environment: [String: String] = [:], signals: AsyncStream<Int32> = AsyncStream { $0.finish() },
        outputWorks: Bool = true, terminal: Bool = false
    ) -> World {
        World(
            environment: { environment[$0] }, console: console(outputWorks: outputWorks, terminal: terminal),
            listen: { signals }, now: { 0 })
    }
}

/// An engine that does what a script says; a download whose script has no end ends when the engine is shut down.
actor FakeEngine: DownloadEngine {
    typealias Script = @Sendable (DownloadID, DownloadSpec) -> [EngineEvent]

    nonisolated let events: AsyncStream<[EngineEvent]>
    private let continuation: AsyncStream<[EngineEvent]>.Continuation
    private let script: Script
    private var open: [DownloadID] = []
    private(set) var specs: [DownloadSpec] = []
    private(set) var mostOpen = 0
    private(set) var reasons: [HaulError] = []

    init(_ script: @escaping Script) {
        (events, continuation) = AsyncStream.makeStream()
        self.script = script
    }

    func add(_ specs: [DownloadSpec]) -> [DownloadID] { specs.map(add) }

    private func add(_ spec: DownloadSpec) -> DownloadID {
        specs.append(spec)
        let id = DownloadID(UInt64(specs.count))
        let events = script(id, spec)
        let hasEnd = events.contains { event in
            switch event {
            case .finished, .failed: true
            default: false
            }
        }
        if !hasEnd { open.append(id) }
        mostOpen = max(mostOpen, open.count)
        continuation.yield(events)
        return id
    }

    func samples() -> [DownloadSample] { [] }

    func shutdown(because error: HaulError) {
        reasons.append(error)
        continuation.yield(open.map { .failed($0, error) })
        open = []
        continuation.finish()
    }

    /// A script in which everything goes well.
    static let good: Script = { id, _ in [.finished(id, result("/d/\(id)"))] }

    static func result(_ path: String?, verified: [ChecksumValue] = []) -> DownloadResult {
        DownloadResult(
            path: path, length: 2048, received: 1024, seconds: 2, wasThere: false, verified: verified)
    }
}

/// The configuration that arguments mean, with files and variables of the test.
func configured(
    _ arguments: [String], environment: [String: String] = [:], files: [String: String] = [:],
    privateFiles: Bool = true
) throws(HaulError) -> (configuration: GetConfiguration, operands: [String], warnings: [String]) {
    var builder = ConfigurationBuilder(environment: { environment[$0] }) { (path: String) in
        files[path].map { .init(bytes: Array($0.utf8), isPrivate: privateFiles) }
    }
    let parsed = try ArgumentParser.parse(arguments)
    let configuration = try builder.build(parsed)
    return (configuration, parsed.operands, builder.warnings)
}

/// Runs `haul get` with a fake engine.
func get(
    _ arguments: [String], engine: FakeEngine, captured: Captured, environment: [String: String] = [:],
    signals: AsyncStream<Int32> = AsyncStream { $0.finish() }, outputWorks: Bool = true,
    terminal: Bool = false
) async throws -> Int32 {
    let (configuration, operands, _) = try configured(arguments + ["--no-config"])
    let world = captured.world(
        environment: environment, signals: signals, outputWorks: outputWorks, terminal: terminal)
    let context = CommandContext(configuration, operands: operands, world: world) { _ in engine }
    return await GetCommand(context).run()
}

/// The error that the work throws.
func failure(_ work: () throws -> Void) -> HaulError? {
    do {
        try work()
        return nil
    } catch {
        return error as? HaulError
    }
}
