import Foundation
import HaulCore
import HaulPlatform
import Testing

@testable import HaulDisk

@Suite("Partial file")
struct PartialFileTests {
    let scratch: Scratch
    let target: TargetDirectory
    let body = Body()

    init() throws {
        scratch = try Scratch()
        target = try scratch.target()
    }

    private func start() throws -> PartialFile {
        try target.createPartial(name: "file.bin", exactName: true, header: body.header)
    }

    private func whole() throws -> PartialFile {
        let file = try start()
        try file.complete(body)
        return file
    }

    @Test("has nothing at the final name before it is published, and nothing else after")
    func publishes() throws {
        let file = try whole()
        try file.makeDurable()
        #expect(scratch.names == ["file.bin.part", "file.bin.part.haul"])
        #expect(try file.publish(length: body.length) == scratch.path("file.bin"))
        #expect(scratch.names == ["file.bin"])
        #expect(scratch.bytes("file.bin") == body.bytes)
    }

    @Test("is not published while bytes are missing, and stays as it is")
    func incomplete() throws {
        let file = try start()
        try file.fill(body, ByteRange(0, 100))
        try file.fill(body, ByteRange(200, body.length))
        #expect(throws: PartialFailure.incomplete(have: body.length - 100, length: body.length)) {
            try file.publish(length: body.length)
        }
        try file.complete(body)
        _ = try file.publish(length: body.length)
    }

    @Test("replaces, numbers or refuses what has its name, as it is told")
    func policies() throws {
        try scratch.put("file.bin", [1])
        let file = try whole()
        #expect(throws: PartialFailure.nameTaken(path: scratch.path("file.bin"))) {
            try file.publish(.fail, length: body.length)
        }
        #expect(scratch.bytes("file.bin") == [1])
        #expect(try file.publish(.rename, length: body.length) == scratch.path("file (1).bin"))
        #expect(try whole().publish(.replace, length: body.length) == scratch.path("file.bin"))
        #expect(scratch.bytes("file.bin") == body.bytes && scratch.bytes("file (1).bin") == body.bytes)
    }

    @Test("never replaces a directory, and keeps the bytes")
    func directoryInTheWay() throws {
        try FileManager.default.createDirectory(
            atPath: scratch.path("file.bin"), withIntermediateDirectories: false)
        let file = try whole()
        #expect(throws: PartialFailure.isDirectory(path: scratch.path("file.bin"))) {
            try file.publish(.replace, length: body.length)
        }
        file.keep()
        #expect(try scratch.target().findPartial([Body.source])?.isComplete == true)
    }

    @Test("replaces a symbolic link itself, not what it leads to")
    func symbolicLink() throws {
        try scratch.put("victim", [1])
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path("file.bin"), withDestinationPath: "victim")
        #expect(try target.existing("file.bin")?.kind == .symbolicLink)
        _ = try whole().publish(length: body.length)
        #expect(scratch.bytes("victim") == [1])
        #expect(try target.existing("file.bin")?.kind == .file)
    }

    @Test("does not open a private file to everybody by replacing it")
    func permissions() throws {
        try scratch.put("file.bin", [1])
        #expect(chmod(scratch.path("file.bin"), 0o600) == 0)
        _ = try whole().publish(length: body.length)
        let status = try scratch.system.status(of: scratch.path("file.bin"), in: nil)
        #expect(status.permissions == 0o600)
    }

    @Test("notices that it was removed, replaced or cut before it is called a success", arguments: 0..<3)
    func removedUnderUs(how: Int) throws {
        let file = try whole()
        switch how {
        case 0: try scratch.remove("file.bin.part")
        case 1:
            try scratch.remove("file.bin.part")
            try scratch.put("file.bin.part", body.bytes)
        default: scratch.cut("file.bin.part", to: 10)
        }
        #expect(throws: PartialFailure.removedUnderUs(path: scratch.path("file.bin.part"))) {
            try file.publish(length: body.length)
        }
        if how < 2 {
            #expect(throws: PartialFailure.removedUnderUs(path: scratch.path("file.bin.part"))) {
                try file.makeDurable()
            }
        }
        #expect(scratch.bytes("file.bin") == nil)
    }

    @Test("removes only what it made itself")
    func discard() throws {
        let file = try whole()
        try scratch.remove("file.bin.part")
        try scratch.put("file.bin.part", [1])
        try scratch.remove("file.bin.part.haul")
        try scratch.put("file.bin.part.haul", [2])
        file.discard()
        #expect(scratch.bytes("file.bin.part") == [1] && scratch.bytes("file.bin.part.haul") == [2])
    }

    @Test("leaves nothing behind when there is nothing to keep")
    func keepNothing() throws {
        try start().keep()
        #expect(scratch.names == [])
    }

    @Test("keeps what was committed when it is simply let go")
    func letGo() throws {
        do { try start().fill(body, ByteRange(0, 700)) }
        #expect(try scratch.target().findPartial([Body.source])?.usable.count == 700)
    }

    @Test("survives that its journal is removed while it works")
    func journalRemoved() throws {
        let file = try start()
        try file.fill(body, ByteRange(0, 700))
        try scratch.remove("file.bin.part.haul")
        try file.makeDurable()
        try file.fill(body, ByteRange(700, 900))
        file.keep()
        #expect(try scratch.target().findPartial([Body.source])?.usable.count == 900)
    }

    @Test("starts over with other facts, and nothing of the old bytes")
    func restart() throws {
        let other = Body(2, length: 500)
        let file = try start()
        try file.fill(body, ByteRange(0, 5000))
        try file.makeDurable()
        try file.restart(header: other.header)
        #expect(file.usable.isEmpty && scratch.bytes("file.bin.part") == [])
        try file.fill(other, ByteRange(100, 200))
        file.keep()
        let found = try #require(try scratch.target().findPartial([Body.source]))
        #expect(found.facts == other.header.file && found.usable == RangeSet([ByteRange(100, 200)]))
    }

    @Test("tells later runs what was learnt about the file and its mirrors")
    func updatesHeader() throws {
        let file = try start()
        try file.fill(body, ByteRange(0, 10))
        var header = file.header
        header.sources.append(Body.otherSource)
        header.file.mediaType = "text/plain"
        try file.updateHeader(header)
        #expect(try target.findPartial([Body.otherSource])?.usable.count == 10)
        file.keep()
        #expect(try scratch.target().findPartial([Body.otherSource])?.facts?.mediaType == "text/plain")
    }

    @Test("says before the first byte that there is no room")
    func noRoom() throws {
        let free = try scratch.system.volume(target.descriptor).free
        let file = try start()
        #expect {
            try file.reserve(free * 2)
        } throws: { error in
            guard case PartialFailure.noSpace(let needed, let free) = error else { return false }
            return needed > free
        }
        #expect(scratch.bytes("file.bin.part") == [])
    }

    @Test("gives back what was reserved beyond the end")
    func reserves() throws {
        let file = try start()
        try file.reserve(10 << 20)
        #expect(scratch.bytes("file.bin.part") == [])
        try file.complete(body)
        _ = try file.publish(length: body.length)
        let status = try scratch.system.status(of: scratch.path("file.bin"), in: nil)
        #expect(status.size == body.length && status.allocated < 1 << 20)
    }

    @Test("writes a journal that grew too long anew, and loses no claim by it")
    func compaction() async throws {
        let file = try start()
        // Single bytes far apart: each claim stays a claim of its own until the gaps close.
        for offset in stride(from: Int64(0), to: 20_000, by: 2) {
            try file.commit(ByteRange(offset, offset + 1))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 0..<20 { try file.compact() } }
            group.addTask {
                for offset in stride(from: Int64(1), to: 20_000, by: 2) {
                    try file.commit(ByteRange(offset, offset + 1))
                }
            }
            try await group.waitForAll()
        }
        let journal = try #require(scratch.bytes("file.bin.part.haul"))
        let contents = JournalReader.read(journal)
        #expect(contents.written == RangeSet([ByteRange(0, 20_000)]) && !contents.isTorn)
        try file.compact()
        #expect((scratch.bytes("file.bin.part.haul")?.count ?? .max) < 1000)
        #expect(scratch.names == ["file.bin.part", "file.bin.part.haul"])
    }

    @Test("tells on the finished file where it came from, until somebody changes it")
    func origin() throws {
        let origin = FileOrigin(
            sources: [Body.source, Body.otherSource],
            validator: Validator(
                etag: EntityTag(opaque: "\"x y\"", isWeak: true), lastModified: 1_600_000_000,
                lastModifiedIsStrong: true))
        let file = try whole()
        _ = try file.publish(
            policy: .fail, length: body.length, origin: origin, modified: 1_500_000_000, sync: true)
        let there = try #require(try target.existing("file.bin"))
        #expect(there.size == body.length && there.modified == 1_500_000_000 && there.kind == .file)
        #expect(there.origin == origin)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch.path("file.bin")))
        try handle.write(contentsOf: [0])
        try handle.close()
        #expect(try target.existing("file.bin")?.origin == nil)
        try scratch.put("plain", [1])
        #expect(try target.existing("plain")?.origin == nil)
        #expect(try target.existing("absent") == nil)
    }

    @Test(
        "keeps any validator in its attribute",
        arguments: [
            Validator(), Validator(etag: EntityTag(opaque: "\"a\"", isWeak: false)),
            Validator(lastModified: -5), Validator(lastModified: 7, lastModifiedIsStrong: true),
        ])
    func validatorText(validator: Validator) {
        #expect(FileOrigin.validator(FileOrigin.text(validator)) == validator)
    }

    @Test(
        "takes no more bytes once somebody cut it: they would hide the hole",
        arguments: [0, 10, 4999] as [Int64])
    func cutWhileWriting(size: Int64) throws {
        let file = try start()
        try file.fill(body, ByteRange(0, 5000))
        try file.makeDurable()
        scratch.cut("file.bin.part", to: size)
        #expect(throws: SystemFailure.lost(scratch.path("file.bin.part"))) {
            try file.fill(body, ByteRange(5000, 6000))
        }
        #expect(throws: PartialFailure.removedUnderUs(path: scratch.path("file.bin.part"))) {
            try file.makeDurable()
        }
        #expect(scratch.bytes("file.bin.part")?.count == Int(size))
        file.keep()
        let usable = try #require(try scratch.target().partial(forExplicitName: "file.bin")?.usable)
        #expect(usable.ranges.last?.upper ?? 0 == size)
    }

    @Test("vouches no more for a file that somebody put in its place")
    func replacedWhileWriting() throws {
        let file = try start()
        try file.fill(body, ByteRange(0, 5000))
        try file.makeDurable()
        try scratch.remove("file.bin.part")
        try scratch.put("file.bin.part", [UInt8](repeating: 7, count: 5000))
        file.keep()
        #expect(scratch.names == ["file.bin.part"], "theirs stays, our journal goes")
    }

    @Test("may be written in any order, and started over, without being taken for cut")
    func anyOrder() throws {
        let file = try start()
        try file.write(UnsafeRawBufferPointer(start: nil, count: 0), at: 60_000)
        try file.fill(body, ByteRange(30_000, body.length))
        try file.fill(body, ByteRange(0, 1000))
        try file.makeDurable()
        try file.restart(header: body.header)
        try file.fill(body, ByteRange(0, 10))
        try file.complete(body)
        _ = try file.publish(length: body.length)
        #expect(scratch.bytes("file.bin") == body.bytes)
    }
}
