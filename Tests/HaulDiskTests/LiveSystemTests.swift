import Foundation
import Testing

@testable import HaulDisk
@testable import HaulPlatform

@Suite("Live system calls")
struct LiveSystemTests {
    @Test("are made again when a signal interrupts them")
    func interrupted() throws {
        var answers: [(Int, Int32)] = [(-1, EINTR), (-1, EINTR), (7, 0), (-1, EIO)]
        let answer = {
            let (value, code) = answers.removeFirst()
            errno = code
            return value
        }
        #expect(try LiveSystem.retrying("read", "x", answer) == 7)
        #expect(throws: SystemFailure(code: EIO, call: "read", path: "x")) {
            try LiveSystem.retrying("read", "x", answer)
        }
    }

    @Test("tell which one failed, why and on what")
    func failure() throws {
        let scratch = try Scratch()
        let target = try scratch.target()
        #expect { try scratch.system.open("absent", in: target.descriptor, .read) } throws: {
            $0 as? SystemFailure == SystemFailure(code: ENOENT, call: "open", path: scratch.path("absent"))
        }
    }

    @Test("know the boot id, and the same one every time")
    func bootID() {
        #expect(LiveSystem().bootID.count == 16)
        #expect(LiveSystem().bootID == LiveSystem().bootID)
    }

    @Test("on a closed descriptor fail and reach no other file")
    func closed() throws {
        let scratch = try Scratch()
        try scratch.put("a", [1])
        let file = try scratch.system.open(scratch.path("a"), in: nil, .update)
        file.close()
        file.close()
        #expect { try scratch.system.truncate(file, to: 0) } throws: { ($0 as? SystemFailure)?.code == EBADF }
        #expect(scratch.bytes("a") == [1])
    }

    @Test("do not wait for the other end of a pipe, and follow no link")
    func oddFiles() throws {
        let scratch = try Scratch()
        #expect(mkfifo(scratch.path("fifo"), 0o600) == 0)
        let target = try scratch.target()
        let fifo = try scratch.system.open("fifo", in: target.descriptor, .read)
        #expect(try scratch.system.status(fifo).kind == .other)
        try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: "fifo")
        #expect { try scratch.system.open("link", in: target.descriptor, .read) } throws: {
            ($0 as? SystemFailure)?.code == ELOOP
        }
    }
}
