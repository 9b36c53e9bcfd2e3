/// What the file system is asked for, so that tests can put a model of one in its place.
///
/// One function is one system call, made on the calling thread, which it may block. `EINTR` never comes out.
/// A name is looked up in the directory given with it; `nil` stands for the working directory. A process that writes
/// files must ignore `SIGXFSZ`; then a file beyond the limit fails with `EFBIG`.
package protocol SystemCalls: Sendable {
    func open(_ name: String, in directory: Descriptor?, _ mode: OpenMode) throws(SystemFailure) -> Descriptor
    /// Closes a descriptor by its number; for `Descriptor` only.
    func close(_ number: Int32)

    /// One `write`; it may take fewer bytes than given. A descriptor that would block is waited for.
    func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor) throws(SystemFailure) -> Int
    /// One `pwrite`; it may take fewer bytes than given.
    func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor, at offset: Int64) throws(SystemFailure)
        -> Int
    /// One `pread`; 0 is the end of the file.
    func read(into bytes: UnsafeMutableRawBufferPointer, from file: Descriptor, at offset: Int64)
        throws(SystemFailure) -> Int
    func truncate(_ file: Descriptor, to length: Int64) throws(SystemFailure)
    /// Reserves blocks up to that length; the size of the file stays (`fallocate` with `FALLOC_FL_KEEP_SIZE`).
    func reserve(_ file: Descriptor, upTo length: Int64) throws(SystemFailure)
    /// Asks for dirty pages to be written soon; a hint that cannot fail (`sync_file_range`).
    func startWriteback(_ file: Descriptor, from offset: Int64, count: Int64)
    /// Waits until data and size are on disk (`fdatasync`).
    func syncData(_ file: Descriptor) throws(SystemFailure)
    /// Waits until data and all metadata are on disk; of a directory: its entries (`fsync`).
    func sync(_ file: Descriptor) throws(SystemFailure)

    /// Renames inside one directory; unless `replacing`, a taken name fails with `EEXIST` (`renameat2`).
    func rename(_ from: String, to name: String, in directory: Descriptor, replacing: Bool)
        throws(SystemFailure)
    /// Gives a file opened with `.unnamed` its name; a taken name fails with `EEXIST` (`linkat`).
    func link(_ file: Descriptor, as name: String, in directory: Descriptor) throws(SystemFailure)
    func unlink(_ name: String, in directory: Descriptor) throws(SystemFailure)
    func makeDirectory(_ name: String, in directory: Descriptor?) throws(SystemFailure)
    /// The names in a directory, without `.` and `..`, in no order.
    func list(_ directory: Descriptor) throws(SystemFailure) -> [String]

    func status(_ file: Descriptor) throws(SystemFailure) -> FileStatus
    /// Bytes of a regular file; cheaper than its status. Moves the position, which nothing here uses.
    func size(_ file: Descriptor) throws(SystemFailure) -> Int64
    /// The status of what the name itself is: a symbolic link is not followed.
    func status(of name: String, in directory: Descriptor?) throws(SystemFailure) -> FileStatus
    func volume(_ file: Descriptor) throws(SystemFailure) -> VolumeStatus

    /// Takes the exclusive `flock` without waiting.
    /// - Returns: false when another open file holds it.
    func lock(_ file: Descriptor) throws(SystemFailure) -> Bool
    func setMode(_ file: Descriptor, _ permissions: UInt32) throws(SystemFailure)
    /// Sets the modification time, seconds since 1970.
    func setModified(_ file: Descriptor, _ seconds: Int64) throws(SystemFailure)
    func setAttribute(_ name: String, _ value: [UInt8], on file: Descriptor) throws(SystemFailure)
    /// An extended attribute's value; `nil` when it is not there or the file system has none.
    func attribute(_ name: String, of file: Descriptor) throws(SystemFailure) -> [UInt8]?

    /// The 16 bytes of the kernel's boot id; empty when it cannot be known.
    var bootID: [UInt8] { get }
    var processID: Int32 { get }
}

/// The ways in which Haul opens things.
///
/// Only directories and `.readFollowing` follow a symbolic link in the last
/// component; no way makes a terminal the controlling one or waits for the other end of a pipe.
package enum OpenMode: Hashable, Sendable {
    /// A directory, to look names up in.
    case directory
    /// To read.
    case read
    /// To read what a person named, through symbolic links.
    case readFollowing
    /// To read and write.
    case update
    /// To read and write; the name must be free (`O_EXCL`); mode 0666 less the umask.
    case create
    /// As `create`, for the owner alone: mode 0600.
    case createPrivate
    /// To read and write, without a name (`O_TMPFILE`) in the directory; the name given is for messages only.
    case unnamed
}

/// What `fstat` and `fstatat` tell, as far as it matters here.
package struct FileStatus: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case file, directory, symbolicLink, other }

    package var kind: Kind
    package var identity: FileIdentity
    /// Bytes.
    package var size: Int64
    /// Bytes that disk blocks are held for.
    package var allocated: Int64
    /// Nanoseconds since 1970.
    package var modified: Int64
    /// The permission bits, at most 0o7777.
    package var permissions: UInt32
    /// Names that lead to it; 0 once it was removed.
    package var links: UInt64

    package init(
        kind: Kind, identity: FileIdentity, size: Int64, allocated: Int64, modified: Int64,
        permissions: UInt32,
        links: UInt64
    ) {
        self.kind = kind
        self.identity = identity
        self.size = size
        self.allocated = allocated
        self.modified = modified
        self.permissions = permissions
        self.links = links
    }
}

/// What makes two names or descriptors the same file.
package struct FileIdentity: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// How the file system stands.
package struct VolumeStatus: Hashable, Sendable {
    /// Bytes an ordinary user may still take.
    package var free: Int64
    /// The largest file that is possible here: the file system's own limit or the process's, bytes.
    package var largestFile: Int64
    /// Reserving blocks costs no time and no memory here.
    package var reservesCheaply: Bool

    package init(free: Int64, largestFile: Int64, reservesCheaply: Bool) {
        self.free = free
        self.largestFile = largestFile
        self.reservesCheaply = reservesCheaply
    }
}

extension SystemCalls {
    /// Writes all the bytes at that offset, in as many calls as it takes.
    package func writeAll(_ bytes: UnsafeRawBufferPointer, to file: Descriptor, at offset: Int64)
        throws(SystemFailure)
    {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            done += try write(rest, to: file, at: offset + Int64(done))
        }
    }

    package func writeAll(_ bytes: [UInt8], to file: Descriptor, at offset: Int64) throws(SystemFailure) {
        // Typed errors do not go through `withUnsafeBytes` of an array, hence the result value.
        let outcome = bytes.withUnsafeBytes { buffer in
            Result { () throws(SystemFailure) in try writeAll(buffer, to: file, at: offset) }
        }
        try outcome.get()
    }

    /// Reads until the buffer is full or the file ends.
    /// - Returns: the number of bytes read.
    package func readAll(into bytes: UnsafeMutableRawBufferPointer, from file: Descriptor, at offset: Int64)
        throws(SystemFailure) -> Int
    {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
            let count = try read(into: rest, from: file, at: offset + Int64(done))
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// The bytes from that offset on; fewer than `count` when the file ends before.
    package func read(_ count: Int, from file: Descriptor, at offset: Int64) throws(SystemFailure) -> [UInt8]
    {
        var bytes = [UInt8](repeating: 0, count: count)
        let outcome = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemFailure) in try readAll(into: buffer, from: file, at: offset) }
        }
        bytes.removeSubrange(try outcome.get()...)
        return bytes
    }

    /// The status of a name, or `nil` when there is none.
    package func statusIfThere(of name: String, in directory: Descriptor?) throws(SystemFailure)
        -> FileStatus?
    {
        do {
            return try status(of: name, in: directory)
        } catch {
            guard error.isNoSuchName else { throw error }
            return nil
        }
    }
}
