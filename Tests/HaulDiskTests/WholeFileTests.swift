import Foundation
import HaulCore
import HaulPlatform
import HaulTestSupport
import Testing

@testable import HaulDisk

@Suite("Whole small files")
struct WholeFileTests {
    private func publish(_ target: TargetDirectory, _ bytes: [UInt8], _ policy: PublishPolicy) throws
        -> String
    {
        try target.publishWhole(
            bytes, as: "a.txt", policy: policy, origin: nil, modified: 1_000_000_000, sync: true)
    }

    @Test("are published under the name that the policy gives", arguments: [true, false])
    func policies(hasUnnamedFiles: Bool) throws {
        let system = FakeSystem()
        system.setUnnamedFiles(hasUnnamedFiles)
        let target = try TargetDirectory.open("/", creating: false, system: system)
        #expect(try publish(target, [1], .fail) == "/a.txt")
        #expect(throws: PartialFailure.nameTaken(path: "/a.txt")) { try publish(target, [2], .fail) }
        #expect(try publish(target, [3], .rename) == "/a (1).txt")
        #expect(system.contents("/a.txt") == [1])
        #expect(try publish(target, [4], .replace) == "/a.txt")
        #expect(try publish(target, [], .rename) == "/a (2).txt")
        #expect(system.contents("/a.txt") == [4] && system.contents("/a (1).txt") == [3])
        #expect(system.names == ["a (1).txt", "a (2).txt", "a.txt"])
    }

    @Test("keep time, origin and the permissions of what they replace on a real file system")
    func realFiles() throws {
        let scratch = try Scratch()
        let target = try scratch.target()
        try scratch.put("a.txt", [9])
        #expect(chmod(scratch.path("a.txt"), 0o640) == 0)
        let origin = FileOrigin(sources: [Body.source], validator: Validator(lastModified: 5))
        let file = WholeFile(
            bytes: [1, 2], name: "a.txt", policy: .replace, origin: origin, modified: 1_000_000_000)
        #expect(target.publishWhole(batch: [file]) == [.success(scratch.path("a.txt"))])
        let there = try #require(try target.existing("a.txt"))
        #expect(there.origin == origin && there.modified == 1_000_000_000)
        #expect(try scratch.system.status(of: scratch.path("a.txt"), in: nil).permissions == 0o640)
        #expect(scratch.bytes("a.txt") == [1, 2] && scratch.names == ["a.txt"])
    }

    @Test("never replace a directory", arguments: [PublishPolicy.replace, .fail, .yield, .rename])
    func directory(policy: PublishPolicy) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.txt")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let result = Result { try publish(scratch.target(), [1], policy) }
        switch policy {
        case .replace: #expect(throws: PartialFailure.isDirectory(path: path)) { try result.get() }
        case .fail, .yield: #expect(throws: PartialFailure.nameTaken(path: path)) { try result.get() }
        case .rename: #expect(try result.get() == scratch.path("a (1).txt"))
        }
        #expect(scratch.names.filter { $0.contains("part") } == [])
    }

    @Test("leave alone the name that a download still going on has in mind")
    func reservedName() throws {
        let target = try TargetDirectory.open("/", creating: false, system: FakeSystem())
        let header = JournalHeader(sources: [], file: RemoteFile(), finalName: "a.txt")
        let file = try target.createPartial(name: "a.txt", exactName: false, header: header)
        #expect(throws: PartialFailure.nameTaken(path: "/a.txt")) { try publish(target, [1], .yield) }
        #expect(try publish(target, [1], .rename) == "/a (1).txt")
        #expect(file.header.finalName == "a.txt")
    }

    @Test("share one sync of the directory, and each is synced before it has its name")
    func batchOrder() throws {
        let system = FakeSystem()
        let target = try TargetDirectory.open("/", creating: false, system: system)
        let files = (0..<50).map { WholeFile(bytes: [UInt8($0)], name: "f\($0)", policy: .fail) }
        #expect(target.publishWhole(batch: files).allSatisfy { (try? $0.get()) != nil })
        let directorySyncs = system.log.filter { $0 == .sync(FakeModel.root, dataOnly: false) }
        #expect(directorySyncs.count == 1)
        #expect(system.log.last == .sync(FakeModel.root, dataOnly: false))
        let calls = system.calls
        let lastSync = calls.dropLast().lastIndex(of: "fsync")
        #expect(try #require(lastSync) < #require(calls.firstIndex(of: "link")))
    }

    @Test("fail one by one, not all together")
    func partialFailure() throws {
        let system = FakeSystem()
        let target = try TargetDirectory.open("/", creating: false, system: system)
        let files = (0..<3).map { WholeFile(bytes: [1], name: "f\($0)", policy: .fail) }
        system.fail("pwrite", after: 1, code: ENOSPC)
        let results = target.publishWhole(batch: files)
        #expect(results.map { (try? $0.get()) != nil } == [true, false, true])
        #expect(results[1] == .failure(.system(SystemFailure(code: ENOSPC, call: "pwrite", path: "/f1"))))
        #expect(system.names == ["f0", "f2"])
    }

    @Test("are none of them called durable when the directory's sync fails")
    func directorySyncFails() throws {
        let system = FakeSystem()
        let target = try TargetDirectory.open("/", creating: false, system: system)
        system.fail("fsync", after: 3, code: EIO)
        let files = (0..<3).map { WholeFile(bytes: [1], name: "f\($0)", policy: .fail) }
        #expect(target.publishWhole(batch: files).allSatisfy { (try? $0.get()) == nil })
    }

    @Test("by the thousand, from several threads, are all there and right")
    func many() async throws {
        let scratch = try Scratch()
        let target = try scratch.target()
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    for batch in 0..<5 {
                        let files = (0..<50).map { index in
                            WholeFile(
                                bytes: Body(UInt64(thread * 1000 + batch * 50 + index), length: 100).bytes,
                                name: "same.bin", policy: .rename)
                        }
                        #expect(target.publishWhole(batch: files).allSatisfy { (try? $0.get()) != nil })
                    }
                }
            }
        }
        #expect(scratch.names.count == 1000)
        #expect(Set(scratch.names.compactMap(scratch.bytes)).count == 1000)
    }
}
