import Glibc
import HaulPlatform

/// A file system in memory behind `SystemCalls`: records every change, fails and cuts short on demand, and tells what a
/// disk may hold after a power cut (`FakeSystemCrash.swift`).
package final class FakeSystem: SystemCalls {
    struct State {
        /// What the model held before the first change of the log.
        var start: FakeModel
        var model: FakeModel
        var log: [FakeModel.Change] = []
        var open: [Int32: FakeModel.Node] = [:]
        var locks: [FakeModel.Node: Int32] = [:]
        var nextNumber: Int32 = 3
        var nextNode: FakeModel.Node
        var calls: [String] = []
        var faults: [Fault] = []
        var hooks: [String: @Sendable () -> Void] = [:]
        var capacity: Int?
        var largestFile = Int64.max
        var hasUnnamedFiles = true

        mutating func change(_ change: FakeModel.Change) {
            log.append(change)
            model.apply(change)
        }
    }

    struct Fault {
        /// The name of the call, or "" for any.
        var call: String
        /// How many such calls still go well.
        var after: Int
        var code: Int32
        /// It stays like that.
        var isLasting: Bool
    }

    let state: Guarded<State>
    package let bootID: [UInt8]
    package let processID: Int32

    package init(model: FakeModel = FakeModel(), boot: UInt8 = 1, process: Int32 = 100) {
        bootID = [UInt8](repeating: boot, count: 16)
        processID = process
        state = Guarded(State(start: model, model: model, nextNode: (model.nodes.keys.max() ?? 0) + 1))
    }

    /// The names of the calls that were made, in order.
    package var calls: [String] { state.withLock { $0.calls } }
    /// The changes that were made, in order.
    package var log: [FakeModel.Change] { state.withLock { $0.log } }
    package var model: FakeModel { state.withLock { $0.model } }

    /// Bytes the disk has room for.
    package func setCapacity(_ bytes: Int?) { state.withLock { $0.capacity = bytes } }

    /// The largest file the disk can hold, bytes.
    package func setLargestFile(_ bytes: Int64) { state.withLock { $0.largestFile = bytes } }

    /// Whether files without a name are supported.
    package func setUnnamedFiles(_ supported: Bool) { state.withLock { $0.hasUnnamedFiles = supported } }

    /// Makes a later call fail: the one after `after` more of that name ("" for any), or all from there on.
    package func fail(_ call: String, after: Int = 0, code: Int32, lasting: Bool = false) {
        state.withLock {
            $0.faults.append(Fault(call: call, after: after, code: code, isLasting: lasting))
        }
    }

    /// Runs something just before the next call of that name: what another thread may do in that moment.
    package func beforeNext(_ call: String, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.hooks[call] = body }
    }

    /// The bytes of a file, or `nil` when there is none.
    package func contents(_ path: String) -> [UInt8]? {
        let model = model
        return model.find(path, from: FakeModel.root).flatMap { model.nodes[$0] }?.bytes
    }

    /// Puts a file there as if it had always been: no change of the log.
    package func put(_ bytes: [UInt8], at name: String) {
        state.withLock { state in
            let node = state.nextNode
            state.nextNode += 1
            let changes: [FakeModel.Change] = [
                .make(node, .file), .write(node, offset: 0, bytes: bytes),
                .link(directory: FakeModel.root, name: name, node),
            ]
            for change in changes {
                state.start.apply(change)
                state.model.apply(change)
            }
        }
    }

    /// The names in the root directory.
    package var names: [String] { (model.nodes[FakeModel.root]?.names.keys).map { $0.sorted() } ?? [] }

    /// Notes a call, and fails it if that was ordered.
    func call<Value>(
        _ call: String, _ path: String, _ body: (inout State) throws(Errno) -> Value
    )
        throws(SystemFailure) -> Value
    {
        let hook = state.withLock { $0.hooks.removeValue(forKey: call) }
        hook?()
        do {
            return try state.withLock { (state) throws(Errno) in
                state.calls.append(call)
                try state.checkFault(call)
                return try body(&state)
            }
        } catch {
            throw SystemFailure(code: error.code, call: call, path: path)
        }
    }

    struct Errno: Error {
        var code: Int32
        init(_ code: Int32) { self.code = code }
    }
}

extension FakeSystem.State {
    fileprivate mutating func checkFault(_ call: String) throws(FakeSystem.Errno) {
        for index in faults.indices where faults[index].call.isEmpty || faults[index].call == call {
            let fault = faults[index]
            guard fault.after > 0 else {
                if !fault.isLasting { faults.remove(at: index) }
                throw FakeSystem.Errno(fault.code)
            }
            faults[index].after -= 1
        }
    }

    func node(_ file: Descriptor) throws(FakeSystem.Errno) -> FakeModel.Node {
        guard let node = open[file.number] else { throw FakeSystem.Errno(EBADF) }
        return node
    }

    func directory(_ file: Descriptor?) throws(FakeSystem.Errno) -> FakeModel.Node {
        guard let file else { return FakeModel.root }
        return try node(file)
    }

    func entry(_ node: FakeModel.Node) throws(FakeSystem.Errno) -> FakeModel.Entry {
        guard let entry = model.nodes[node] else { throw FakeSystem.Errno(ENOENT) }
        return entry
    }
}
