import HaulCore
import HaulTestSupport

// Worlds drawn by chance.
extension SimulatedWorld {
    /// Everything may go wrong, for ever.
    static func hostile(seed: UInt64) -> SimulatedWorld {
        var random = SeededGenerator(seed: seed)
        let length = length(&random)
        var servers = [
            server([length, length + Int64.random(in: -1...1, using: &random).magnitude.toInt64], &random)
        ]
        servers[0].faults = Int.random(in: 0...40, using: &random)
        servers[0].faultProbability = Double.random(in: 0...0.8, using: &random)
        servers[0].isDead = chance(0.05, &random)
        servers[0].isMissing = chance(0.05, &random)
        servers[0].givenExpires = servers[0].redirects == 0 && chance(0.15, &random)
        if servers[0].givenExpires { servers[0].linkLife = Int.random(in: 1...5, using: &random) }
        if servers[0].showsChanges, chance(0.3, &random) {
            servers[0].changesAt = [Int.random(in: 1...12, using: &random)]
        }
        for index in 1..<Int.random(in: 1...3, using: &random) + 1 where chance(0.6, &random) {
            guard index < 3, servers.count == index else { continue }
            servers.append(mirror(index, length, &random))
        }
        var configuration = configuration(servers.count, &random)
        let mayChange = servers.contains { !$0.changesAt.isEmpty || $0.contentBase != 0 }
        if mayChange, configuration.resume == .length { configuration.resume = .overlap }
        var wanted: Int?
        if configuration.window == nil, chance(0.35, &random) {
            wanted = chance(0.1, &random) ? 7 : chance(0.2, &random) ? 1 : 0
            if wanted == 7 { servers[0].lengths += Array(repeating: length, count: 6) }
            configuration.hasChecksum = true
        }
        // Without a total nobody can tell a part that was cut short from one up to the end.
        if configuration.window?.upper == .max {
            for index in servers.indices { servers[index].knowsLength = true }
        }
        var world = SimulatedWorld(seed: seed, configuration: configuration, servers: servers, wanted: wanted)
        world.hasFreshLinks = chance(0.7, &random)
        world.lossProbability = chance(0.3, &random) ? 0.4 : 0
        if chance(0.1, &random) { world.interruptAfter = Double.random(in: 0..<4, using: &random) }
        return world
    }

    /// What goes wrong is what a patient client gets over: the run must end well.
    static func benign(seed: UInt64) -> SimulatedWorld {
        var random = SeededGenerator(seed: seed ^ 0xBE21)
        let length = length(&random)
        var only = server([length], &random)
        if only.tag == .perNode { only.tag = .none }
        only.linkLife = only.linkLife.map { $0 + 3 }
        // An expired link and a refused offset look the same; both at once is beyond telling apart.
        if only.linkLife != nil { only.forbidsOffsets = false }
        only.faults = Int.random(in: 0...3, using: &random)
        var configuration = configuration(1, &random)
        configuration.isStream = false
        configuration.retry = RetryPolicy()
        var wanted: Int?
        if configuration.window == nil, chance(0.3, &random) {
            wanted = 0
            configuration.hasChecksum = true
        }
        if configuration.window != nil {
            (only.hasRanges, only.cap, only.forbidsOffsets, only.faults) = (true, nil, false, 0)
            only.knowsLength = true
        }
        return SimulatedWorld(seed: seed, configuration: configuration, servers: [only], wanted: wanted)
    }

    static func chance(_ probability: Double, _ random: inout SeededGenerator) -> Bool {
        Double.random(in: 0..<1, using: &random) < probability
    }

    private static func length(_ random: inout SeededGenerator) -> Int64 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: Int64.random(in: 0...2, using: &random)
        case 1: Int64.random(in: 3...32 << 10, using: &random)
        case 2: Int64.random(in: 32 << 10...200 << 10, using: &random)
        default: Int64.random(in: 200 << 10...4 << 20, using: &random)
        }
    }

    private static func server(_ lengths: [Int64], _ random: inout SeededGenerator) -> SimulatedServer {
        var server = SimulatedServer(lengths: lengths)
        server.tag = SimulatedServer.Tag.allCases.randomElement(using: &random) ?? .strong
        server.time = SimulatedServer.Time.allCases.randomElement(using: &random) ?? .strong
        if server.tag == .perNode { server.time = .none }
        server.hasRanges = chance(0.85, &random)
        server.refusesIfRange = chance(0.1, &random)
        server.knowsLength = chance(0.9, &random)
        if chance(0.15, &random) { server.cap = Int64.random(in: 64 << 10...1 << 20, using: &random) }
        if chance(0.3, &random) { server.maximumConnections = Int.random(in: 1...4, using: &random) }
        server.extraRefusal = SimulatedServer.Refusal.allCases.randomElement(using: &random) ?? .throttle
        server.forbidsOffsets = chance(0.07, &random)
        if chance(0.3, &random) { server.redirects = Int.random(in: 1...3, using: &random) }
        if server.redirects > 0, chance(0.5, &random) {
            server.linkLife = Int.random(in: 1...4, using: &random)
        }
        server.expiredStatus = [401, 403, 404, 410].randomElement(using: &random) ?? 403
        server.rate = Double.random(in: 0.3...8, using: &random) * 1_048_576
        server.latency = Double.random(in: 0.001...0.2, using: &random)
        return server
    }

    private static func mirror(_ index: Int, _ length: Int64, _ random: inout SeededGenerator)
        -> SimulatedServer
    {
        var mirror = server([length, length], &random)
        mirror.faults = Int.random(in: 0...10, using: &random)
        mirror.tagPrefix = chance(0.5, &random) ? "v" : "mirror\(index)-"
        switch Int.random(in: 0..<6, using: &random) {
        case 0: mirror.isDead = true
        case 1: mirror.isMissing = true
        case 2: (mirror.contentBase, mirror.tagPrefix, mirror.time) = (1000 * index, "other\(index)-", .none)
        case 3:
            (mirror.contentBase, mirror.tagPrefix, mirror.time) = (1000 * index, "other\(index)-", .none)
            mirror.lengths = [length + 1, length + 1]
        default: break
        }
        return mirror
    }

    private static func configuration(
        _ sources: Int, _ random: inout SeededGenerator
    ) -> DownloadMachine.Configuration {
        var configuration = DownloadMachine.Configuration(sources: (0..<sources).map(SimulatedWorld.source))
        if chance(0.4, &random) { configuration.connections = Int.random(in: 1...8, using: &random) }
        configuration.minimumSplit = Int64.random(in: 64 << 10...512 << 10, using: &random)
        configuration.isSequential = chance(0.1, &random)
        configuration.resume = ResumePolicy.allCases.randomElement(using: &random) ?? .overlap
        configuration.retry = RetryPolicy(
            limit: Int.random(in: 0...6, using: &random), wait: Double.random(in: 0...2, using: &random),
            deadline: chance(0.1, &random)
                ? Instant(nanoseconds: Int64.random(in: 1...60, using: &random) * 1_000_000_000) : nil)
        configuration.isStream = chance(0.07, &random)
        configuration.hasRefresher = chance(0.2, &random)
        if chance(0.05, &random) {
            let lower = Int64.random(in: 0...300 << 10, using: &random)
            let upper = chance(0.5, &random) ? .max : lower + Int64.random(in: 1...1 << 20, using: &random)
            configuration.window = ByteRange(lower, upper)
        }
        return configuration
    }
}

extension UInt64 {
    fileprivate var toInt64: Int64 { Int64(self) }
}
