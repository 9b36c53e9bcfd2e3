import CHaulShims
import Glibc

/// The real system calls.
package struct LiveSystem: SystemCalls {
    package init() {}

    package func open(_ name: String, in directory: Descriptor?, _ mode: OpenMode) throws(SystemFailure)
        -> Descriptor
    {
        let path = directory?.path(of: name) ?? name
        let parent = directory?.number ?? AT_FDCWD
        let number = try Self.retrying("open", path) {
            switch mode {
            case .directory: haul_openat(parent, name, O_RDONLY | O_DIRECTORY, 0)
            case .read: haul_openat(parent, name, O_RDONLY | Self.guarded, 0)
            case .readFollowing: haul_openat(parent, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0)
            case .update: haul_openat(parent, name, O_RDWR | Self.guarded, 0)
            case .createPrivate: haul_openat(parent, name, O_RDWR | O_CREAT | O_EXCL | Self.guarded, 0o600)
            case .create: haul_openat(parent, name, O_RDWR | O_CREAT | O_EXCL | Self.guarded, 0o666)
            case .unnamed: haul_open_unnamed(parent, 0o666)
            }
        }
        return Descriptor(number, path: path, system: self)
    }

    private static let guarded = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

    // Whatever close(2) answers, the descriptor is gone on Linux: calling it again could close another file.
    package func close(_ number: Int32) { _ = Glibc.close(number) }

    package func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor) throws(SystemFailure) -> Int {
        while true {
            do throws(SystemFailure) {
                return try Self.retrying("write", file.path) {
                    Glibc.write(file.number, bytes.baseAddress, bytes.count)
                }
            } catch {
                // Standard output may have been made non-blocking by whoever shares it.
                guard error.code == EAGAIN else { throw error }
                var wait = pollfd(fd: file.number, events: Int16(POLLOUT), revents: 0)
                _ = try Self.retrying("poll", file.path) { poll(&wait, 1, -1) }
            }
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor, at offset: Int64)
        throws(SystemFailure) -> Int
    {
        try Self.retrying("pwrite", file.path) {
            pwrite(file.number, bytes.baseAddress, bytes.count, off_t(offset))
        }
    }

    package func read(into bytes: UnsafeMutableRawBufferPointer, from file: Descriptor, at offset: Int64)
        throws(SystemFailure) -> Int
    {
        try Self.retrying("pread", file.path) {
            pread(file.number, bytes.baseAddress, bytes.count, off_t(offset))
        }
    }

    package func truncate(_ file: Descriptor, to length: Int64) throws(SystemFailure) {
        _ = try Self.retrying("ftruncate", file.path) { ftruncate(file.number, off_t(length)) }
    }

    package func reserve(_ file: Descriptor, upTo length: Int64) throws(SystemFailure) {
        _ = try Self.retrying("fallocate", file.path) { haul_fallocate(file.number, length) }
    }

    package func startWriteback(_ file: Descriptor, from offset: Int64, count: Int64) {
        _ = haul_start_writeback(file.number, offset, count)
    }

    package func syncData(_ file: Descriptor) throws(SystemFailure) {
        _ = try Self.retrying("fdatasync", file.path) { fdatasync(file.number) }
    }

    package func sync(_ file: Descriptor) throws(SystemFailure) {
        _ = try Self.retrying("fsync", file.path) { fsync(file.number) }
    }

    package func lock(_ file: Descriptor) throws(SystemFailure) -> Bool {
        do throws(SystemFailure) {
            _ = try Self.retrying("flock", file.path) { flock(file.number, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            guard error.code == EWOULDBLOCK else { throw error }
            return false
        }
    }

    /// The boot id never changes while a process runs.
    private static let boot = readBootID()
    package var bootID: [UInt8] { Self.boot }
    package var processID: Int32 { getpid() }

    private static func readBootID() -> [UInt8] {
        let system = LiveSystem()
        guard let file = try? system.open("/proc/sys/kernel/random/boot_id", in: nil, .readFollowing),
            let text = try? system.read(64, from: file, at: 0)
        else { return [] }
        let digits = text.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 32 else { return [] }
        return stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// Makes a call that answers -1 on failure, again and again while a signal interrupts it.
    static func retrying<Number: SignedInteger>(_ call: String, _ path: String, _ body: () -> Number)
        throws(SystemFailure) -> Number
    {
        while true {
            let answer = body()
            if answer != -1 { return answer }
            let code = errno
            if code != EINTR { throw SystemFailure(code: code, call: call, path: path) }
        }
    }
}
