import Glibc
import HaulTestSupport
import Testing

@testable import HaulPlatform

@Suite("Live system calls")
struct LiveSystemTests {
    private let system = LiveSystem()
    private let scratch: TemporaryDirectory
    private let directory: Descriptor

    init() throws {
        scratch = try TemporaryDirectory()
        directory = try system.open(scratch.path, in: nil, .directory)
    }

    /// The code of the failure of `work`; `nil` when it went well.
    private func code(_ work: () throws -> Void) -> Int32? {
        do {
            try work()
            return nil
        } catch {
            return (error as? SystemFailure)?.code ?? -1
        }
    }

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
    func failure() {
        #expect(throws: SystemFailure(code: ENOENT, call: "open", path: scratch.file("absent"))) {
            try system.open("absent", in: directory, .read)
        }
        #expect(throws: SystemFailure(code: ENOENT, call: "unlink", path: scratch.file("absent"))) {
            try system.unlink("absent", in: directory)
        }
        #expect(throws: SystemFailure(code: ENOENT, call: "stat", path: scratch.file("absent"))) {
            try system.status(of: "absent", in: directory)
        }
    }

    @Test("what is taken, a directory, a link or no directory is told apart")
    func oddNames() throws {
        try scratch.write([1], to: "file")
        #expect(symlink("file", scratch.file("link")) == 0)
        try system.makeDirectory("sub", in: directory)
        #expect(code { _ = try system.open("file", in: directory, .create) } == EEXIST)
        #expect(code { _ = try system.open("file", in: directory, .createPrivate) } == EEXIST)
        #expect(code { _ = try system.open("link", in: directory, .update) } == ELOOP)
        #expect(code { _ = try system.open("link", in: directory, .readFollowing) } == nil)
        #expect(code { _ = try system.open("sub", in: directory, .update) } == EISDIR)
        #expect(code { _ = try system.open("file", in: directory, .directory) } == ENOTDIR)
        #expect(code { try system.makeDirectory("sub", in: directory) } == EEXIST)
        #expect(try system.status(of: "link", in: directory).kind == .symbolicLink)
        #expect(try system.status(of: "sub", in: directory).kind == .directory)
    }

    @Test("do not wait for the other end of a pipe")
    func fifo() throws {
        #expect(mkfifo(scratch.file("fifo"), 0o600) == 0)
        let fifo = try system.open("fifo", in: directory, .read)
        #expect(try system.status(fifo).kind == .other)
    }

    @Test("on a closed descriptor fail and reach no other file")
    func closed() throws {
        try scratch.write([1], to: "a")
        let file = try system.open(scratch.file("a"), in: nil, .update)
        file.close()
        file.close()
        #expect(file.number == -1)
        #expect(code { try system.truncate(file, to: 0) } == EBADF)
        #expect(scratch.contents("a") == [1])
    }

    @Test("bytes go to their offsets, and the end of the file is told by 0")
    func offsets() throws {
        let file = try system.open("a", in: directory, .create)
        #expect(
            try [UInt8]([7, 8]).withUnsafeBytes { bytes in try system.write(bytes, to: file, at: 3) } == 2)
        try system.sync(file)
        #expect(scratch.contents("a") == [0, 0, 0, 7, 8])
        #expect(try system.status(file).size == 5)
        #expect(try system.read(10, from: file, at: 2) == [0, 7, 8])
        #expect(try system.read(10, from: file, at: 5) == [])
        try system.truncate(file, to: 4)
        #expect(scratch.contents("a") == [0, 0, 0, 7])
    }

    @Test("a rename takes a name that is free, and another's only when told to")
    func renames() throws {
        try scratch.write([1], to: "a")
        try scratch.write([2], to: "b")
        #expect(code { try system.rename("a", to: "b", in: directory, replacing: false) } == EEXIST)
        #expect(scratch.contents("b") == [2])
        try system.rename("a", to: "c", in: directory, replacing: false)
        try system.rename("c", to: "b", in: directory, replacing: true)
        #expect(scratch.names == ["b"] && scratch.contents("b") == [1])
        #expect(try system.list(directory) == ["b"])
    }

    @Test("a lock is one open file's, until that is closed")
    func locks() throws {
        let one = try system.open("a", in: directory, .create)
        let other = try system.open("a", in: directory, .update)
        #expect(try system.lock(one))
        #expect(try !system.lock(other))
        one.close()
        #expect(try system.lock(other))
    }

    @Test("a created file keeps to the mode it was asked for")
    func modes() throws {
        let file = try system.open("private", in: directory, .createPrivate)
        #expect(try system.status(file).permissions == 0o600)
        try system.setMode(file, 0o640)
        #expect(try system.status(of: "private", in: directory).permissions == 0o640)
        try system.setModified(file, 1_000_000_000)
        #expect(try system.status(file).modified == 1_000_000_000_000_000_000)
    }

    @Test("know the boot id, and the same one every time")
    func bootID() {
        #expect(LiveSystem().bootID.count == 16)
        #expect(LiveSystem().bootID == LiveSystem().bootID)
        #expect(system.processID == getpid())
    }

    @Test(
        "codes have their meaning, and the system's words",
        arguments: [
            (ENOENT, \SystemFailure.isNoSuchName, "No such file or directory"),
            (EEXIST, \.isNameTaken, "File exists"), (EISDIR, \.isDirectory, "Is a directory"),
            (EFBIG, \.isTooLarge, "File too large"), (EROFS, \.isReadOnly, "Read-only file system"),
            (EACCES, \.isPermissionDenied, "Permission denied"),
            (EPERM, \.isPermissionDenied, "Operation not permitted"), (EPIPE, \.isBrokenPipe, "Broken pipe"),
            (ENOSPC, \.isNoSpace, "No space left on device"), (EDQUOT, \.isNoSpace, "Disk quota exceeded"),
            (EOPNOTSUPP, \.isUnsupported, "Operation not supported"),
        ] as [(Int32, any KeyPath<SystemFailure, Bool> & Sendable, String)])
    func meanings(_ code: Int32, _ meaning: any KeyPath<SystemFailure, Bool> & Sendable, _ words: String) {
        let failure = SystemFailure(code: code, call: "write", path: "/d/x")
        #expect(failure[keyPath: meaning])
        #expect(failure.reason == words)
        #expect(failure.description == "write /d/x: \(words)")
        #expect(SystemFailure(code: code, call: "write").description == "write: \(words)")
        #expect(!SystemFailure(code: EIO, call: "write")[keyPath: meaning])
    }
}
