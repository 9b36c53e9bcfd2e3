import HaulCore
import HaulPlatform
import HaulTestSupport
import Testing

@testable import HaulDisk

/// A download as it may go, on a modelled disk; keeps what was promised when.
private struct RecordedRun {
    let system: FakeSystem
    /// From that position of the log on, these bytes of that version must survive, until the next promise.
    var promises: [(position: Int, body: Body, durable: RangeSet)] = []
    /// From that position on the final file must be there.
    var publishedAt: Int?
    var body: Body
    let old: [UInt8]?

    /// Runs the whole thing: segments in any order, syncs, restarts with another version, ends and new starts.
    init(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        system = FakeSystem()
        body = Body(1, length: Int64.random(in: 1...20_000, using: &random))
        old = Bool.random(using: &random) ? Body(99, length: 3000).bytes : nil
        if let old { system.put(old, at: "file.bin") }
        var target = try TargetDirectory.open("/", creating: false, system: system)
        var file = try target.createPartial(name: "file.bin", exactName: true, header: body.header)
        while !file.usable.contains(ByteRange(0, body.length)) {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<13: try file.fill(body, nextRange(file, &random))
            case 13..<16: try promise(file)
            case 16: try file.compact()
            case 17 where body.version < 3: try restart(file, &random)
            case 18:
                file.keep(sync: Bool.random(using: &random))
                target = try TargetDirectory.open("/", creating: false, system: system)
                if let found = try target.findPartial([Body.source]) {
                    file = try target.reopen(found)
                } else {
                    file = try target.createPartial(name: "file.bin", exactName: true, header: body.header)
                }
            default:
                // Bytes that were never committed.
                let range = nextRange(file, &random)
                try system.writeAll(body.bytes(range), to: file.file, at: range.lower)
            }
        }
        _ = try file.publish(
            length: body.length, origin: FileOrigin(sources: [Body.source], validator: Validator()))
        publishedAt = system.log.count
    }

    private func nextRange(_ file: PartialFile, _ random: inout SeededGenerator) -> ByteRange {
        let gaps = file.usable.gaps(in: ByteRange(0, body.length))
        let gap = gaps.randomElement(using: &random) ?? ByteRange(0, body.length)
        let low = Int64.random(in: gap.lower..<gap.upper, using: &random)
        return ByteRange(low, min(gap.upper, low + Int64.random(in: 1...6000, using: &random)))
    }

    private mutating func promise(_ file: PartialFile) throws {
        let durable = file.usable
        try file.makeDurable()
        promises.append((system.log.count, body, durable))
    }

    private mutating func restart(_ file: PartialFile, _ random: inout SeededGenerator) throws {
        promises.append((system.log.count, body, RangeSet()))
        body = Body(body.version + 1, length: Int64.random(in: 1...20_000, using: &random))
        try file.restart(header: body.header)
    }

    /// Looks at what is left when it all stopped there, and goes on with it as the next run would.
    func check(_ left: FakeSystem, stoppedAt position: Int, _ comment: Comment) throws {
        let final = left.contents("file.bin")
        #expect(final == nil || final == old || final == body.bytes, comment)
        if let publishedAt, position >= publishedAt { #expect(final == body.bytes, comment) }
        if old != nil { #expect(final != nil, comment) }
        let target = try TargetDirectory.open("/", creating: false, system: left)
        let found = try target.findPartial([Body.source])
        let promised = promises.last { $0.position <= position }?.durable ?? RangeSet()
        if final != body.bytes, !promised.isEmpty {
            for range in promised.ranges { #expect(found?.usable.contains(range) == true, comment) }
        }
        if let found {
            let claimed = try #require(Body(found.facts), comment)
            expectTrue(found.usable, of: left.contents("file.bin.part") ?? [], claimed, comment)
            #expect(found.usable.prefix(below: claimed.length) == found.usable, comment)
            try finish(try target.reopen(found), claimed, left, comment)
        } else if final != body.bytes {
            try finish(
                try target.createPartial(name: "file.bin", exactName: true, header: body.header), body, left,
                comment)
        }
    }

    private func finish(_ file: PartialFile, _ body: Body, _ left: FakeSystem, _ comment: Comment) throws {
        try file.complete(body)
        _ = try file.publish(length: body.length)
        #expect(left.contents("file.bin") == body.bytes, comment)
    }
}

@Suite("Power cut")
struct PowerCutTests {
    @Test("at any sync, with nothing else kept, leaves no wrong file and no false claim", arguments: 0..<10)
    func prefixes(seed: UInt64) throws {
        let run = try RecordedRun(seed: seed)
        var random = SeededGenerator(seed: seed)
        for position in run.system.positionsAfterSyncs {
            for keeping in [0, 1] as [Double] {
                let left = run.system.afterPowerCut(at: position, keeping: keeping, random: &random)
                try run.check(
                    left, stoppedAt: position, "seed \(seed), after change \(position), keeping \(keeping)")
            }
        }
    }

    @Test("at any moment, whatever unsynced changes survive, does so neither", arguments: 0..<20)
    func anyMoment(seed: UInt64) throws {
        let run = try RecordedRun(seed: 1000 + seed)
        var random = SeededGenerator(seed: seed)
        for state in 0..<50 {
            let position = Int.random(in: 0...run.system.log.count, using: &random)
            let keeping = [0.1, 0.5, 0.9].randomElement(using: &random) ?? 0.5
            let left = run.system.afterPowerCut(at: position, keeping: keeping, random: &random)
            try run.check(left, stoppedAt: position, "seed \(seed), state \(state), after change \(position)")
        }
    }

    @Test("twice in a row leaves no false claim either", arguments: 0..<20)
    func twice(seed: UInt64) throws {
        let run = try RecordedRun(seed: 2000 + seed)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<10 {
            let position = Int.random(in: 0...run.system.log.count, using: &random)
            let first = run.system.afterPowerCut(at: position, keeping: 0.5, random: &random)
            let target = try TargetDirectory.open("/", creating: false, system: first)
            guard let found = try target.findPartial([Body.source]), let body = Body(found.facts) else {
                continue
            }
            let file = try target.reopen(found)
            for gap in file.usable.gaps(in: ByteRange(0, body.length)).prefix(2) { try file.fill(body, gap) }
            let second = first.afterPowerCut(at: first.log.count, boot: 3, keeping: 0.5, random: &random)
            guard
                let again = try TargetDirectory.open("/", creating: false, system: second)
                    .findPartial([Body.source])
            else { continue }
            let bytes = second.contents(again.partialName) ?? []
            expectTrue(again.usable, of: bytes, try #require(Body(again.facts)), "seed \(seed), \(position)")
        }
    }

    @Test("that never came: a killed process loses nothing it committed", arguments: 0..<10)
    func killed(seed: UInt64) throws {
        let run = try RecordedRun(seed: 3000 + seed)
        for position in stride(from: 0, through: run.system.log.count, by: 3) {
            let left = run.system.afterKill(at: position)
            try run.check(left, stoppedAt: position, "seed \(seed), killed after change \(position)")
        }
    }

    @Test("keeps every committed byte when only the process was killed")
    func killKeepsCommitted() throws {
        let system = FakeSystem()
        let body = Body()
        let target = try TargetDirectory.open("/", creating: false, system: system)
        let file = try target.createPartial(name: "file.bin", exactName: true, header: body.header)
        for low in stride(from: Int64(0), to: 10_000, by: 1000) {
            try file.fill(body, ByteRange(low, low + 700))
        }
        let left = system.afterKill()
        let found = try TargetDirectory.open("/", creating: false, system: left).findPartial([Body.source])
        #expect(found?.usable == file.usable)
        var random = SeededGenerator(seed: 1)
        let cut = system.afterPowerCut(at: system.log.count, keeping: 1, random: &random)
        #expect(
            try TargetDirectory.open("/", creating: false, system: cut).findPartial([Body.source])?.usable
                .isEmpty == true)
    }

    @Test(
        "after a small file was published leaves that file whole",
        arguments: [PublishPolicy.replace, .rename])
    func wholeFiles(policy: PublishPolicy) throws {
        let system = FakeSystem()
        system.put([9, 9], at: "file3")
        let target = try TargetDirectory.open("/", creating: false, system: system)
        let files = (0..<5).map {
            WholeFile(bytes: Body($0, length: 6000).bytes, name: "file\($0)", policy: policy)
        }
        let paths = try target.publishWhole(batch: files).map { try $0.get() }
        var random = SeededGenerator(seed: 1)
        for position in 0...system.log.count {
            let left = system.afterPowerCut(at: position, keeping: 0.5, random: &random)
            for (file, path) in zip(files, paths) {
                let bytes = left.contents(path)
                #expect(bytes == nil || bytes == file.bytes || bytes == [9, 9])
                if position == system.log.count { #expect(bytes == file.bytes) }
            }
        }
    }
}
