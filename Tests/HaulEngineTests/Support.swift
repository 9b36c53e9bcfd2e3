import HaulCore
import HaulPlatform
import HaulTestSupport
import Testing

@testable import HaulDisk
@testable import HaulEngine

/// What one download told, from the moment it was added to the end of all events.
struct Outcome {
    var states: [DownloadState] = []
    var notices: [Notice] = []
    var path: String?
    var results: [DownloadResult] = []
    var errors: [HaulError] = []

    /// How it went well, if that was its one and only terminal event.
    var result: DownloadResult? { errors.isEmpty && results.count == 1 ? results.first : nil }
    /// How it went wrong, if that was its one and only terminal event.
    var error: HaulError? { results.isEmpty && errors.count == 1 ? errors.first : nil }
    var terminalEvents: Int { results.count + errors.count }

    var resumedFrom: Int64? {
        for case .resumed(let offset) in notices { return offset }
        return nil
    }

    var wasRestarted: Bool {
        notices.contains { if case .restarted = $0 { true } else { false } }
    }

    var warnings: [String] {
        notices.compactMap { if case .warning(let text) = $0 { text } else { nil } }
    }

    mutating func take(_ event: EngineEvent) {
        switch event {
        case .stateChanged(_, let state): states.append(state)
        case .named(_, let path): self.path = path
        case .head: break
        case .notice(_, let notice): notices.append(notice)
        case .finished(_, let result): results.append(result)
        case .failed(_, let error): errors.append(error)
        case .cookies: break
        }
    }
}

extension EngineEvent {
    var id: DownloadID {
        switch self {
        case .stateChanged(let id, _), .named(let id, _), .head(let id, _), .notice(let id, _),
            .finished(let id, _), .failed(let id, _), .cookies(let id, _):
            id
        }
    }

    var isTerminal: Bool {
        switch self {
        case .finished, .failed: true
        default: false
        }
    }
}

extension Engine {
    /// The events one by one.
    nonisolated var singleEvents: some AsyncSequence<EngineEvent, Never> {
        events.flatMap { batch in AsyncStream(batch) }
    }
}

extension AsyncStream where Element: Sendable {
    fileprivate init(_ elements: [Element]) {
        self.init { continuation in
            for element in elements { continuation.yield(element) }
            continuation.finish()
        }
    }
}

/// Runs downloads to their ends, each time in an engine of its own.
enum Downloads {
    /// Everything the downloads told, in the order of the specs; the engine is closed afterwards.
    static func run(_ specs: [DownloadSpec], jobs: AutoCount = .auto) async throws -> [Outcome] {
        var options = EngineOptions()
        options.seed = 7
        options.jobs = jobs
        let engine = try Engine(options: options)
        var ids: [DownloadID] = []
        for spec in specs { ids.append(await engine.add(spec)) }
        var outcomes: [DownloadID: Outcome] = [:]
        var left = specs.count
        for await event in engine.singleEvents {
            outcomes[event.id, default: Outcome()].take(event)
            if event.isTerminal { left -= 1 }
            if left == 0 { break }
        }
        await engine.shutdown(because: HaulError(.cancelled, "the test is over"))
        for await event in engine.singleEvents { outcomes[event.id, default: Outcome()].take(event) }
        return ids.map { outcomes[$0] ?? Outcome() }
    }

    static func run(_ spec: DownloadSpec) async throws -> Outcome {
        try #require(await run([spec]).first)
    }

    /// Stops the download by a shutdown once at least so many bytes are on disk.
    static func interrupt(_ spec: DownloadSpec, after count: Int64) async throws -> Outcome {
        let engine = try Engine(options: EngineOptions())
        await engine.add(spec)
        while await engine.samples().first?.received ?? 0 < count {
            try await Task.sleep(for: .milliseconds(2))
        }
        await engine.shutdown(because: HaulError(.interrupted, "interrupted"))
        var outcome = Outcome()
        for await event in engine.singleEvents { outcome.take(event) }
        return outcome
    }
}

extension DownloadSpec {
    /// Into a file of that name in the directory.
    static func file(
        _ url: String..., at directory: TemporaryDirectory, name: String = "file.bin",
        _ change: (inout DownloadOptions) -> Void = { _ in }
    ) -> DownloadSpec {
        DownloadSpec(urls: url, destination: .file(directory.file(name)), options: options(change))
    }

    /// Into the directory, under the name that is suggested.
    static func into(
        _ directory: TemporaryDirectory, _ url: String..., change: (inout DownloadOptions) -> Void = { _ in }
    ) -> DownloadSpec {
        DownloadSpec(urls: url, destination: .directory(directory.path), options: options(change))
    }

    private static func options(_ change: (inout DownloadOptions) -> Void) -> DownloadOptions {
        var options = DownloadOptions()
        options.connection.proxy = ""
        options.connection.family = .ipv4
        // A slow machine is no failure.
        options.connection.connectTimeout = 3600
        options.connection.stallTimeout = 3600
        options.retryWait = 0.01
        options.connections = .fixed(1)
        options.syncs = false
        change(&options)
        return options
    }
}

extension ScriptedServer {
    /// The header fields of that name in all requests, `nil` where there was none.
    func fields(_ name: String) -> [String?] { requests.map { $0.headers[name] } }
}

extension TemporaryDirectory {
    /// Whether the file holds exactly these bytes; the comparison that is recorded stays readable.
    func holds(_ name: String, _ expected: [UInt8]) -> Bool {
        guard let bytes = contents(name) else { return false }
        return TestContent.firstDifference(bytes, expected) == nil
    }
}

/// A server that can be given another script while its URL stays.
final class ChangingServer: Sendable {
    private let script: Script
    private let server: ScriptedServer
    /// Requests before the last change of the script.
    private let mark = Guarded(0)

    private final class Script: Sendable {
        let current: Guarded<ScriptedServer.Script>
        init(_ first: @escaping ScriptedServer.Script) { current = Guarded(first) }
    }

    init(_ first: @escaping ScriptedServer.Script) throws {
        let script = Script(first)
        self.script = script
        server = try ScriptedServer { request, connection in
            script.current.withLock { $0 }(request, connection)
        }
    }

    func become(_ next: @escaping ScriptedServer.Script) {
        let count = server.requests.count
        mark.withLock { $0 = count }
        script.current.withLock { $0 = next }
    }

    func url(_ path: String) -> String { server.url(path) }

    /// The requests since the last change of the script.
    var requests: [ScriptedRequest] { Array(server.requests.dropFirst(mark.withLock { $0 })) }

    /// The ranges that were asked since then.
    var ranges: [ByteRange] { requests.compactMap(\.range) }
}

/// Checksums for tests, by the engine's own disk layer; its digests are tested against known values elsewhere.
enum Digests {
    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        FileDigest.compute(bytes, algorithms: [.sha256]).first?.bytes ?? []
    }
}

extension Engine {
    @discardableResult
    func add(_ spec: DownloadSpec) -> DownloadID { add([spec])[0] }
}
