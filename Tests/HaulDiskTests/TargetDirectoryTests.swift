import Foundation
import HaulCore
import HaulPlatform
import Testing

@testable import HaulDisk

@Suite("Target directory")
struct TargetDirectoryTests {
    let scratch: Scratch
    let body = Body()

    init() throws { scratch = try Scratch() }

    private func start(_ bytes: Int64 = 0, exactName: Bool = false) throws -> PartialFile {
        let file = try scratch.target().createPartial(
            name: "file.bin", exactName: exactName, header: body.header)
        if bytes > 0 { try file.fill(body, ByteRange(0, bytes)) }
        return file
    }

    @Test("makes what is missing of its path")
    func makesParents() throws {
        let deep = scratch.path("a/b/c/")
        #expect(throws: SystemFailure.self) {
            try TargetDirectory.open(deep, creating: false, system: scratch.system)
        }
        let target = try TargetDirectory.open(deep, creating: true, system: scratch.system)
        _ = try target.createPartial(name: "x", exactName: true, header: body.header)
        #expect(FileManager.default.fileExists(atPath: scratch.path("a/b/c/x.part.haul")))
    }

    @Test("says what stands in the way when its path leads through a file")
    func fileInTheWay() throws {
        try scratch.put("a", [1])
        #expect(throws: SystemFailure(code: ENOTDIR, call: "open", path: scratch.path("a/b"))) {
            try TargetDirectory.open(scratch.path("a/b"), creating: true, system: scratch.system)
        }
    }

    @Test("finds a partial file by its source, whatever its name")
    func findsBySource() throws {
        try start(1000).keep()
        let target = try scratch.target()
        let found = try #require(try target.findPartial([Body.otherSource, Body.source]))
        #expect(found.partialName == "file.bin.part" && found.finalName == "file.bin")
        #expect(found.usable == RangeSet([ByteRange(0, 1000)]))
        #expect(found.facts == body.header.file && found.matchesURL && !found.isComplete)
        #expect(try target.findPartial([Body.otherSource]) == nil)
    }

    @Test("finds a partial file by its final name, whatever its source")
    func findsByName() throws {
        try start(1000).keep()
        let found = try #require(
            try scratch.target().partial(forExplicitName: "file.bin", digests: [Body.otherSource]))
        #expect(!found.matchesURL && found.usable.count == 1000)
        #expect(try scratch.target().partial(forExplicitName: "other.bin") == nil)
    }

    @Test("finds what this process made and forgets what it removed, listing the directory once")
    func index() throws {
        let target = try scratch.target()
        #expect(try target.findPartial([Body.source]) == nil)
        let file = try target.createPartial(name: "file.bin", exactName: false, header: body.header)
        try file.fill(body, ByteRange(0, 10))
        #expect(try target.findPartial([Body.source])?.usable.count == 10)
        file.discard()
        #expect(try target.findPartial([Body.source]) == nil)
        #expect(scratch.names == [])
    }

    @Test("takes the next number for a second download of the same name")
    func namesakes() throws {
        let files = try (0..<3).map { try start(source: "https://host.example/\($0)") }
        #expect(files.map(\.header.finalName) == ["file.bin", "file (1).bin", "file (2).bin"])
        #expect(Set(files.map(\.name)).count == 3)
        try scratch.put("file (3).bin", [1])
        #expect(try start(source: "https://host.example/4").header.finalName == "file (4).bin")
    }

    private func start(source: String) throws -> PartialFile {
        var header = body.header
        header.sources = [SourceDigest.of(source)]
        return try scratch.target().createPartial(name: "file.bin", exactName: false, header: header)
    }

    @Test("is busy for a second download of the same source, whatever the name")
    func sameSource() throws {
        let first = try scratch.target().createPartial(
            name: "file.bin", exactName: false, header: body.header)
        #expect(throws: PartialFailure.busy(pid: getpid())) {
            try scratch.target().createPartial(name: "file.bin", exactName: false, header: body.header)
        }
        first.discard()
    }

    @Test("one of many that ask at once for the same source gets the file, and the others hear who has it")
    func sameSourceAtOnce() async throws {
        let header = body.header
        for round in 0..<20 {
            let targets = try (0..<3).map { _ in try scratch.target() }
            let outcomes = await withTaskGroup(of: Result<PartialFile, PartialFailure>.self) { group in
                for target in targets {
                    group.addTask {
                        Result { () throws(PartialFailure) in
                            try target.createPartial(name: "\(round).bin", exactName: false, header: header)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let files = outcomes.compactMap { try? $0.get() }
            #expect(files.map(\.name) == ["\(round).bin.part"], "\(outcomes)")
            files.forEach { $0.discard() }
        }
        #expect(scratch.names == [])
    }

    @Test("gives no name twice when many ask at once")
    func concurrentNames() async throws {
        let targets = try (0..<4).map { _ in try scratch.target() }
        let header = body.header
        let files = try await withThrowingTaskGroup(of: PartialFile.self) { group in
            for index in 0..<40 {
                group.addTask {
                    var own = header
                    own.sources = [SourceDigest.of("https://host.example/\(index)")]
                    return try targets[index % 4].createPartial(
                        name: "same.bin", exactName: false, header: own)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(files.map(\.header.finalName)).count == 40)
        #expect(Set(files.map(\.name)).count == 40)
    }

    @Test("never touches a file that ends in .part and has no journal", arguments: [false, true])
    func usersOwnPart(exactName: Bool) throws {
        try scratch.put("file.bin.part", [1, 2, 3])
        let file = try start(10, exactName: exactName)
        #expect(file.name == "file (1).bin.part")
        #expect(file.header.finalName == (exactName ? "file.bin" : "file (1).bin"))
        #expect(scratch.bytes("file.bin.part") == [1, 2, 3])
        #expect(
            try scratch.target().partial(forExplicitName: file.header.finalName)?.partialName == file.name)
        file.discard()
        #expect(scratch.names == ["file.bin.part"])
    }

    @Test("follows no symbolic link at the name of a partial file or journal")
    func symbolicLinks() throws {
        try scratch.put("victim", [1, 2, 3])
        for name in ["file.bin.part", "file (1).bin.part.haul"] {
            try FileManager.default.createSymbolicLink(
                atPath: scratch.path(name), withDestinationPath: "victim")
        }
        let file = try start(100)
        #expect(scratch.bytes("victim") == [1, 2, 3])
        #expect(try scratch.target().findPartial([Body.source])?.partialName == file.name)
    }

    @Test("names the process that holds the partial file")
    func busy() throws {
        let file = try start(1000, exactName: true)
        let second = try scratch.target()
        let found = try #require(try second.findPartial([Body.source]))
        #expect(throws: PartialFailure.busy(pid: getpid())) { try second.reopen(found) }
        #expect(throws: PartialFailure.busy(pid: getpid())) {
            try second.createPartial(name: "file.bin", exactName: true, header: body.header)
        }
        file.keep()
        #expect(try second.reopen(found).usable.count == 1000)
    }

    @Test("refuses to start an exact name anew while a good partial file stands there")
    func exactNameTaken() throws {
        try start(10, exactName: true).keep()
        #expect(throws: PartialFailure.nameTaken(path: scratch.path("file.bin.part"))) {
            try start(exactName: true)
        }
    }

    @Test(
        "goes on with what is really there of a partial file that was cut or deleted",
        arguments: [(Int64?.none, Int64(0)), (0, 0), (500, 500), (1500, 1000)])
    func shorterThanClaimed(size: Int64?, usable: Int64) throws {
        try start(1000).keep()
        if let size { scratch.cut("file.bin.part", to: size) } else { try scratch.remove("file.bin.part") }
        let target = try scratch.target()
        let found = try #require(try target.findPartial([Body.source]))
        #expect(found.usable.count == usable)
        let file = try target.reopen(found)
        #expect(file.usable.count == usable)
        // Bytes at the end make the file long again: what was lost must not look true now.
        try file.fill(body, ByteRange(39_000, 40_000))
        file.keep()
        let again = try #require(try scratch.target().findPartial([Body.source]))
        #expect(again.usable.count == usable + 1000)
        let last = try scratch.target().reopen(again)
        try last.complete(body)
        #expect(try last.publish(length: body.length) == scratch.path("file.bin"))
        #expect(scratch.bytes("file.bin") == body.bytes)
    }

    @Test("starts over where the journal is damaged, under the same name", arguments: [0, 3, 30, 4096])
    func damagedJournal(size: Int64) throws {
        try start(1000).keep()
        scratch.cut("file.bin.part.haul", to: 0)
        scratch.cut("file.bin.part.haul", to: size)
        let found = try #require(try scratch.target().partial(forExplicitName: "file.bin"))
        #expect(found.isDamaged && found.usable.isEmpty && !found.matchesURL)
        let file = try start()
        #expect(file.name == "file.bin.part" && file.usable.isEmpty)
        try file.complete(body)
        _ = try file.publish(.rename, length: body.length)
        #expect(scratch.bytes("file.bin") == body.bytes)
        #expect(scratch.names == ["file.bin"])
    }

    @Test("empties a damaged partial file that is taken by its name")
    func reopenDamaged() throws {
        try start(1000).keep()
        try scratch.put("file.bin.part.haul", [UInt8](repeating: 0, count: 100))
        let target = try scratch.target()
        let file = try target.reopen(try #require(try target.partial(forExplicitName: "file.bin")))
        #expect(scratch.bytes("file.bin.part") == [])
        try file.restart(header: body.header)
        try file.fill(body, ByteRange(0, 10))
        file.keep()
        #expect(try scratch.target().findPartial([Body.source])?.usable.count == 10)
    }

    @Test("goes on behind a torn record as if it had never been begun")
    func tornJournal() throws {
        try start(1000).keep()
        let whole = try #require(scratch.bytes("file.bin.part.haul"))
        try scratch.put("file.bin.part.haul", whole + [16, 0, 0, 0, 1, 2, 3])
        let target = try scratch.target()
        let file = try target.reopen(try #require(try target.findPartial([Body.source])))
        try file.fill(body, ByteRange(1000, 2000))
        file.keep()
        #expect(try scratch.target().findPartial([Body.source])?.usable.count == 2000)
    }

    @Test("clears a journal that was left when the file was published already")
    func publishedButJournalLeft() throws {
        try start(1000).keep()
        try scratch.remove("file.bin.part")
        try scratch.put("file.bin", [1])
        #expect(try scratch.target().findPartial([Body.source]) == nil)
        #expect(scratch.names == ["file.bin"])
    }

    @Test("does not resurrect a download that ended elsewhere between finding and taking")
    func endedElsewhere() throws {
        let file = try start(1000)
        let target = try scratch.target()
        let found = try #require(try target.findPartial([Body.source]))
        file.discard()
        #expect(throws: PartialFailure.removedUnderUs(path: scratch.path("file.bin.part"))) {
            try target.reopen(found)
        }
        #expect(scratch.names == [])
    }

    @Test(
        "refuses names that are not one",
        arguments: ["", "..", "a/b", "../x", String(repeating: "x", count: 256)])
    func badNames(name: String) throws {
        let target = try scratch.target()
        #expect(throws: PartialFailure.badName(name)) {
            try target.createPartial(name: name, exactName: false, header: body.header)
        }
        #expect(throws: PartialFailure.badName(name)) {
            try target.publishWhole([1], as: name, policy: .rename, origin: nil, modified: nil, sync: false)
        }
    }

    @Test("takes a name of 255 bytes, all of which the finished file gets")
    func longName() throws {
        let name = String(repeating: "y", count: 251) + ".bin"
        let file = try scratch.target().createPartial(name: name, exactName: true, header: body.header)
        try file.complete(body)
        #expect(try file.publish(length: body.length) == scratch.path(name))
    }

    @Test("takes over an empty partial file whose journal was never made", arguments: [false, true])
    func emptyWithoutJournal(exactName: Bool) throws {
        try scratch.put("file.bin.part", [])
        let file = try start(10, exactName: exactName)
        #expect(file.name == "file.bin.part" && file.header.finalName == "file.bin")
        #expect(scratch.names == ["file.bin.part", "file.bin.part.haul"])
    }

    @Test("does not take over an empty partial file that another download is just making")
    func emptyAndHeld() throws {
        try scratch.put("file.bin.part", [])
        let held = try scratch.system.open(scratch.path("file.bin.part"), in: nil, .update)
        #expect(try scratch.system.lock(held))
        #expect(throws: PartialFailure.busy(pid: nil)) { try start(10, exactName: true) }
        #expect(scratch.names == ["file.bin.part"])
    }

    @Test(
        "passes by a directory that has the name of a journal, and leaves nothing beside it",
        arguments: [false, true])
    func directoryAsJournal(exactName: Bool) throws {
        try FileManager.default.createDirectory(
            atPath: scratch.path("file.bin.part.haul"), withIntermediateDirectories: false)
        #expect(try scratch.target().partial(forExplicitName: "file.bin") == nil)
        let file = try start(10, exactName: exactName)
        #expect(file.name == "file (1).bin.part")
        file.discard()
        #expect(scratch.names == ["file.bin.part.haul"])
    }

    @Test("takes over what was started over and never said for what", arguments: [false, true])
    func startedOverForNobody(exactName: Bool) throws {
        try start(1000, exactName: exactName).keep()
        scratch.cut("file.bin.part.haul", to: 0)
        do {
            let found = try #require(try scratch.target().partial(forExplicitName: "file.bin"))
            let file = try scratch.target().reopen(found)
            #expect(file.header.sources.isEmpty)
        }
        let file = try start(10, exactName: exactName)
        #expect(file.name == "file.bin.part" && file.usable.count == 10)
        #expect(scratch.names == ["file.bin.part", "file.bin.part.haul"])
    }
}
