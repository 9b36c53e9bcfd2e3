import Glibc
package import HaulPlatform

/// Calls on open files.
extension FakeSystem {
    package func close(_ number: Int32) {
        state.withLock { state in
            guard let node = state.open.removeValue(forKey: number) else { return }
            if state.locks[node] == number { state.locks[node] = nil }
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor) throws(SystemFailure) -> Int {
        let copy = Array(bytes)
        return try call("write", file.path) { state throws(Errno) in
            let node = try state.node(file)
            return try state.write(copy, to: node, at: state.entry(node).bytes.count)
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to file: Descriptor, at offset: Int64)
        throws(SystemFailure) -> Int
    {
        let copy = Array(bytes)
        return try call("pwrite", file.path) { state throws(Errno) in
            try state.write(copy, to: state.node(file), at: Int(offset))
        }
    }

    package func read(into bytes: UnsafeMutableRawBufferPointer, from file: Descriptor, at offset: Int64)
        throws(SystemFailure) -> Int
    {
        let wanted = bytes.count
        let found = try call("pread", file.path) { state throws(Errno) in
            let entry = try state.entry(state.node(file))
            return Array(entry.bytes.dropFirst(Int(offset)).prefix(wanted))
        }
        bytes.copyBytes(from: found)
        return found.count
    }

    package func truncate(_ file: Descriptor, to length: Int64) throws(SystemFailure) {
        try call("ftruncate", file.path) { state throws(Errno) in
            state.change(.truncate(try state.node(file), length: Int(length)))
        }
    }

    package func reserve(_ file: Descriptor, upTo length: Int64) throws(SystemFailure) {
        try call("fallocate", file.path) { _ throws(Errno) in }
    }

    package func startWriteback(_ file: Descriptor, from offset: Int64, count: Int64) {}

    package func syncData(_ file: Descriptor) throws(SystemFailure) {
        try call("fdatasync", file.path) { state throws(Errno) in
            state.change(.sync(try state.node(file), dataOnly: true))
        }
    }

    package func sync(_ file: Descriptor) throws(SystemFailure) {
        try call("fsync", file.path) { state throws(Errno) in
            state.change(.sync(try state.node(file), dataOnly: false))
        }
    }

    package func status(_ file: Descriptor) throws(SystemFailure) -> FileStatus {
        try call("fstat", file.path) { state throws(Errno) in try state.status(state.node(file)) }
    }

    package func size(_ file: Descriptor) throws(SystemFailure) -> Int64 {
        try call("lseek", file.path) { state throws(Errno) in try state.status(state.node(file)).size }
    }

    package func volume(_ file: Descriptor) throws(SystemFailure) -> VolumeStatus {
        try call("fstatfs", file.path) { state throws(Errno) in
            let free = state.capacity.map { Int64(max(0, $0 - state.model.usedBytes)) } ?? .max
            return VolumeStatus(free: free, largestFile: state.largestFile, reservesCheaply: true)
        }
    }

    package func lock(_ file: Descriptor) throws(SystemFailure) -> Bool {
        try call("flock", file.path) { state throws(Errno) in
            let node = try state.node(file)
            guard state.locks[node] == nil || state.locks[node] == file.number else { return false }
            state.locks[node] = file.number
            return true
        }
    }

    package func setMode(_ file: Descriptor, _ permissions: UInt32) throws(SystemFailure) {
        try call("fchmod", file.path) { state throws(Errno) in
            state.model.change(try state.node(file)) { $0.permissions = permissions }
        }
    }

    package func setModified(_ file: Descriptor, _ seconds: Int64) throws(SystemFailure) {
        try call("futimens", file.path) { state throws(Errno) in
            state.model.change(try state.node(file)) { $0.modified = seconds * 1_000_000_000 }
        }
    }

    package func setAttribute(_ name: String, _ value: [UInt8], on file: Descriptor) throws(SystemFailure) {
        try call("fsetxattr", file.path) { state throws(Errno) in
            state.change(.attribute(try state.node(file), name: name, value: value))
        }
    }

    package func attribute(_ name: String, of file: Descriptor) throws(SystemFailure) -> [UInt8]? {
        try call("fgetxattr", file.path) { state throws(Errno) in
            try state.entry(state.node(file)).attributes[name]
        }
    }
}

extension FakeSystem.State {
    /// Takes what there is room for; every call takes at most 4096 bytes, so that callers meet short writes.
    fileprivate mutating func write(_ bytes: [UInt8], to node: FakeModel.Node, at offset: Int)
        throws(FakeSystem.Errno) -> Int
    {
        var count = min(bytes.count, 4096)
        if let capacity {
            let size = try entry(node).bytes.count
            let room = max(0, capacity - model.usedBytes)
            count = min(count, max(0, size + room - offset))
            if count == 0 && !bytes.isEmpty { throw FakeSystem.Errno(ENOSPC) }
        }
        change(.write(node, offset: offset, bytes: Array(bytes.prefix(count))))
        return count
    }

    func status(_ node: FakeModel.Node) throws(FakeSystem.Errno) -> FileStatus {
        let entry = try entry(node)
        return FileStatus(
            kind: entry.kind, identity: FileIdentity(device: 1, inode: UInt64(node)),
            size: Int64(entry.bytes.count),
            allocated: Int64(entry.bytes.count), modified: entry.modified, permissions: entry.permissions,
            links: UInt64(model.links(to: node)))
    }
}
