import Glibc
import HaulCore
import HaulPlatform
import HaulTestSupport
import Testing

@testable import HaulDisk

@Suite("Failing disks")
struct FaultTests {
    static let codes = [ENOSPC, EDQUOT, EROFS, EACCES, EIO, EFBIG]

    /// One download from start to end; whatever fails is told.
    private func run(_ system: FakeSystem, _ body: Body) throws -> String {
        let target = try TargetDirectory.open("/", creating: false, system: system)
        let file: PartialFile
        if let found = try target.findPartial([Body.source]) {
            file = try target.reopen(found)
        } else if let found = try target.partial(forExplicitName: "file.bin") {
            file = try target.reopen(found)
            try file.restart(header: body.header)
        } else {
            file = try target.createPartial(name: "file.bin", exactName: true, header: body.header)
        }
        do {
            try file.reserve(body.length)
            for low in stride(from: Int64(0), to: body.length, by: 2000) {
                let part = ByteRange(low, min(body.length, low + 2000))
                for gap in file.usable.gaps(in: part) { try file.fill(body, gap) }
                if low == 4000 { try file.makeDurable() }
                if low == 6000 { try file.compact() }
            }
            return try file.publish(length: body.length)
        } catch {
            file.keep()
            throw error
        }
    }

    @Test(
        "at any call fail with the system's reason, harm no old file, and the next run succeeds",
        arguments: codes)
    func everyCall(code: Int32) throws {
        let body = Body(1, length: 10_000)
        let healthy = FakeSystem()
        _ = try run(healthy, body)
        for call in 0..<healthy.calls.count {
            let system = FakeSystem()
            system.put([1, 2, 3], at: "file.bin")
            system.fail("", after: call, code: code)
            let comment: Comment = "call \(call) of \(healthy.calls.count)"
            do {
                _ = try run(system, body)
                #expect(system.contents("/file.bin") == body.bytes, comment)
            } catch {
                #expect(Self.code(of: error) == code || Self.isNoSpace(error), comment)
                let final = system.contents("/file.bin")
                #expect(final == [1, 2, 3] || final == body.bytes, comment)
            }
            let left = system.afterKill()
            try checkClaims(left, body, comment)
            _ = try run(left, body)
            #expect(left.contents("/file.bin") == body.bytes, comment)
        }
    }

    @Test("that stay broken from any call on do no harm either", arguments: codes)
    func lasting(code: Int32) throws {
        let body = Body(1, length: 10_000)
        let healthy = FakeSystem()
        _ = try run(healthy, body)
        for call in 0..<healthy.calls.count {
            let system = FakeSystem()
            system.put([1, 2, 3], at: "file.bin")
            system.fail("", after: call, code: code, lasting: true)
            let succeeded = (try? run(system, body)) != nil
            let left = system.afterKill()
            let final = left.contents("/file.bin")
            #expect(final == body.bytes || !succeeded && final == [1, 2, 3])
            try checkClaims(left, body, "call \(call)")
            _ = try run(left, body)
            #expect(left.contents("/file.bin") == body.bytes)
        }
    }

    private func checkClaims(_ left: FakeSystem, _ body: Body, _ comment: Comment) throws {
        let target = try TargetDirectory.open("/", creating: false, system: left)
        guard let found = try target.findPartial([Body.source]) else { return }
        expectTrue(found.usable, of: left.contents("/" + found.partialName) ?? [], body, comment)
    }

    private static func code(of error: any Error) -> Int32? {
        if let failure = error as? SystemFailure { return failure.code }
        guard case PartialFailure.system(let failure) = error else { return nil }
        return failure.code
    }

    private static func isNoSpace(_ error: any Error) -> Bool {
        switch error as? PartialFailure {
        case .noSpace, .tooLarge: true
        default: false
        }
    }

    @Test("that are full are told before the first byte when the length is known")
    func fullBefore() throws {
        let system = FakeSystem()
        system.setCapacity(4000)
        #expect {
            try run(system, Body(1, length: 8000))
        } throws: {
            if case PartialFailure.noSpace(needed: 8000, free: let free) = $0 { free < 4000 } else { false }
        }
        #expect(system.names == [])
    }

    @Test("that hold no file so large say so, and name the limit, before the first byte")
    func tooLarge() throws {
        let system = FakeSystem()
        system.setLargestFile(Int64(UInt32.max))
        let target = try TargetDirectory.open("/", creating: false, system: system)
        let file = try target.createPartial(name: "file.bin", exactName: true, header: Body().header)
        #expect(throws: PartialFailure.tooLarge(limit: Int64(UInt32.max))) { try file.reserve(1 << 32) }
        try file.reserve(1 << 20)
    }

    @Test("that cannot reserve are used without", arguments: [EOPNOTSUPP, ENOSYS, EIO])
    func noReservation(code: Int32) throws {
        let system = FakeSystem()
        system.fail("fallocate", code: code)
        #expect(try run(system, Body()) == "/file.bin")
    }

    @Test(
        "that fill up on the way keep everything, and go on when there is room",
        arguments: [300, 5000, 12_345, 19_999])
    func fillsUp(capacity: Int) throws {
        let body = Body(1, length: 20_000)
        let system = FakeSystem()
        let target = try TargetDirectory.open("/", creating: false, system: system)
        let file = try target.createPartial(name: "file.bin", exactName: true, header: body.header)
        system.setCapacity(capacity)
        #expect {
            for low in stride(from: Int64(0), to: body.length, by: 500) {
                try file.fill(body, ByteRange(low, low + 500))
            }
        } throws: {
            ($0 as? SystemFailure)?.isNoSpace == true
        }
        let had = file.usable.count
        file.keep()
        system.setCapacity(nil)
        let found = try TargetDirectory.open("/", creating: false, system: system).findPartial([Body.source])
        #expect((found?.usable.count ?? 0) >= had - 1000)
        _ = try run(system, body)
        #expect(system.contents("/file.bin") == body.bytes)
    }

    @Test("are slow: what is committed while a journal is written anew is in the new one")
    func commitDuringCompaction() throws {
        let body = Body()
        let system = FakeSystem()
        let target = try TargetDirectory.open("/", creating: false, system: system)
        let file = try target.createPartial(name: "file.bin", exactName: true, header: body.header)
        try file.fill(body, ByteRange(0, 1000))
        system.beforeNext("fdatasync") { try? file.fill(body, ByteRange(5000, 6000)) }
        try file.compact()
        let left = try TargetDirectory.open("/", creating: false, system: system.afterKill())
        #expect(
            try left.findPartial([Body.source])?.usable
                == RangeSet([ByteRange(0, 1000), ByteRange(5000, 6000)]))
    }

    @Test("are slow: what is committed while older bytes are synced is not called durable")
    func commitDuringSync() throws {
        let body = Body()
        let system = FakeSystem()
        let target = try TargetDirectory.open("/", creating: false, system: system)
        let file = try target.createPartial(name: "file.bin", exactName: true, header: body.header)
        try file.fill(body, ByteRange(0, 1000))
        system.beforeNext("fdatasync") { try? file.commit(ByteRange(5000, 6000)) }
        try file.makeDurable()
        let report = try PartialInspector.inspect(path: "/file.bin", system: system)
        #expect(report.durable == RangeSet([ByteRange(0, 1000)]))
        #expect(file.usable == RangeSet([ByteRange(0, 1000), ByteRange(5000, 6000)]))
    }

    @Test("whose sync failed are not believed a second time")
    func failedSync() throws {
        let body = Body()
        let system = FakeSystem()
        let target = try TargetDirectory.open("/", creating: false, system: system)
        let file = try target.createPartial(name: "file.bin", exactName: true, header: body.header)
        try file.fill(body, ByteRange(0, 1000))
        try file.makeDurable()
        try file.fill(body, ByteRange(1000, 2000))
        system.fail("fdatasync", code: EIO)
        let failure = PartialFailure.system(
            SystemFailure(code: EIO, call: "fdatasync", path: "/file.bin.part"))
        #expect(throws: failure) { try file.makeDurable() }
        #expect(throws: failure) { try file.makeDurable() }
        #expect(file.usable == RangeSet([ByteRange(0, 1000)]))
        file.keep()
        #expect(
            try TargetDirectory.open("/", creating: false, system: system).findPartial([Body.source])?.usable
                .count == 1000)
    }

    @Test("that refuse characters of a name get it without them")
    func refusedCharacters() throws {
        let system = FakeSystem()
        let target = try TargetDirectory.open("/", creating: false, system: system)
        system.fail("stat", code: EINVAL)
        let file = try target.createPartial(name: "a:b?.txt", exactName: false, header: Body().header)
        #expect(file.header.finalName == "a_b_.txt")
    }

    @Test("that cannot rename without replacing still replace nothing", arguments: [EINVAL, ENOSYS])
    func noRenameFlag(code: Int32) throws {
        let body = Body()
        let system = FakeSystem()
        let target = try TargetDirectory.open("/", creating: false, system: system)
        let file = try target.createPartial(name: "file.bin", exactName: true, header: body.header)
        try file.complete(body)
        system.put([1], at: "file.bin")
        system.fail("rename", code: code)
        #expect(throws: PartialFailure.nameTaken(path: "/file.bin")) {
            try file.publish(.fail, length: body.length)
        }
        system.fail("rename", code: code)
        #expect(try file.publish(.rename, length: body.length) == "/file (1).bin")
        #expect(system.contents("/file.bin") == [1])
    }
}
