import HaulTestSupport
import Testing

@testable import HaulCore

extension DownloadMachine {
    var phaseName: String {
        "\(phase), \(running.count) running, missing \(plan?.missing.description ?? "no plan")"
    }
}

/// Whole runs against simulated servers; a seed that fails is printed, and plays the same way again.
@Suite("DownloadMachine in simulated worlds")
struct SimulationTests {
    @Test(
        "a run against any servers ends once, in bounded time, and publishes nothing wrong", arguments: 0..<40
    )
    func hostile(block: UInt64) {
        for seed in block * 60..<(block + 1) * 60 {
            var world = SimulatedWorld.hostile(seed: seed)
            world.start()
            world.run()
            report(world, seed)
        }
    }

    @Test("a run that meets only what can be got over ends well", arguments: 0..<20)
    func benign(block: UInt64) {
        for seed in block * 40..<(block + 1) * 40 {
            var world = SimulatedWorld.benign(seed: seed)
            world.start()
            world.run()
            report(world, seed)
            #expect(
                world.isSuccess || world.isBeyondWindow, "seed \(seed): \(String(describing: world.terminal))"
            )
        }
    }

    @Test(
        "killed after any action and begun again with what the journal holds, a run ends well",
        arguments: 0..<20)
    func crashes(block: UInt64) {
        for seed in block * 40..<(block + 1) * 40 {
            var random = SeededGenerator(seed: seed)
            var world = SimulatedWorld.benign(seed: seed)
            world.start()
            for _ in 0..<3 {
                world.run(actionLimit: world.actions + Int.random(in: 1...25, using: &random))
                if world.terminal != nil { break }
                world.crash()
            }
            world.run()
            report(world, seed)
            #expect(
                world.isSuccess || world.isBeyondWindow, "seed \(seed): \(String(describing: world.terminal))"
            )
        }
    }

    @Test("killed at any point of a hostile world, a later run publishes nothing wrong", arguments: 0..<20)
    func hostileCrashes(block: UInt64) {
        for seed in block * 60..<(block + 1) * 60 {
            var random = SeededGenerator(seed: seed &+ 99)
            var world = SimulatedWorld.hostile(seed: seed)
            world.start()
            for _ in 0..<4 {
                world.run(actionLimit: world.actions + Int.random(in: 1...40, using: &random))
                if case .finish = world.terminal { break }
                world.crash()
            }
            world.run()
            report(world, seed)
        }
    }

    private func report(_ world: borrowing SimulatedWorld, _ seed: UInt64) {
        #expect(world.problems.isEmpty, "seed \(seed): \(world.problems.prefix(3))")
        #expect(world.terminals == 1, "seed \(seed) ended \(world.terminals) times")
        #expect(world.requests < 1500, "seed \(seed) made \(world.requests) requests")
    }
}

extension SimulatedWorld {
    var isSuccess: Bool { if case .finish = terminal { true } else { false } }

    /// A part was asked for that begins after the end.
    var isBeyondWindow: Bool {
        configuration.window.map { $0.lower >= servers[0].length } ?? false
    }
}
