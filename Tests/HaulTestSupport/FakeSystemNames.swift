import Glibc
package import HaulPlatform

/// Calls on names.
extension FakeSystem {
    package func open(_ name: String, in directory: Descriptor?, _ mode: OpenMode) throws(SystemFailure)
        -> Descriptor
    {
        let path = directory?.path(of: name) ?? name
        let number = try call("open", path) { state throws(Errno) in
            try state.open(name, in: state.directory(directory), mode)
        }
        return Descriptor(number, path: path, system: self)
    }

    package func rename(_ from: String, to name: String, in directory: Descriptor, replacing: Bool)
        throws(SystemFailure)
    {
        try call("rename", directory.path(of: name)) { state throws(Errno) in
            let parent = try state.directory(directory)
            guard state.model.find(from, from: parent) != nil else { throw Errno(ENOENT) }
            if let there = state.model.find(name, from: parent) {
                guard replacing else { throw Errno(EEXIST) }
                if try state.entry(there).kind == .directory { throw Errno(EISDIR) }
            }
            state.change(.rename(directory: parent, from: from, to: name))
        }
    }

    package func link(_ file: Descriptor, as name: String, in directory: Descriptor) throws(SystemFailure) {
        try call("link", directory.path(of: name)) { state throws(Errno) in
            let parent = try state.directory(directory)
            guard state.model.find(name, from: parent) == nil else { throw Errno(EEXIST) }
            state.change(.link(directory: parent, name: name, try state.node(file)))
        }
    }

    package func unlink(_ name: String, in directory: Descriptor) throws(SystemFailure) {
        try call("unlink", directory.path(of: name)) { state throws(Errno) in
            let parent = try state.directory(directory)
            guard state.model.find(name, from: parent) != nil else { throw Errno(ENOENT) }
            state.change(.unlink(directory: parent, name: name))
        }
    }

    package func makeDirectory(_ name: String, in directory: Descriptor?) throws(SystemFailure) {
        try call("mkdir", directory?.path(of: name) ?? name) { state throws(Errno) in
            let parent = try state.directory(directory)
            guard state.model.find(name, from: parent) == nil else { throw Errno(EEXIST) }
            _ = state.make(.directory, name, in: parent)
        }
    }

    package func list(_ directory: Descriptor) throws(SystemFailure) -> [String] {
        try call("list", directory.path) { state throws(Errno) in
            try Array(state.entry(state.node(directory)).names.keys)
        }
    }

    package func status(of name: String, in directory: Descriptor?) throws(SystemFailure) -> FileStatus {
        try call("stat", directory?.path(of: name) ?? name) { state throws(Errno) in
            guard let node = state.model.find(name, from: try state.directory(directory)) else {
                throw Errno(ENOENT)
            }
            return try state.status(node)
        }
    }
}

extension FakeSystem.State {
    fileprivate mutating func open(_ name: String, in directory: FakeModel.Node, _ mode: OpenMode)
        throws(FakeSystem.Errno) -> Int32
    {
        let node: FakeModel.Node
        let found = model.find(name, from: directory)
        switch mode {
        case .create, .createPrivate:
            guard found == nil else { throw FakeSystem.Errno(EEXIST) }
            node = make(.file, name, in: directory)
        case .unnamed:
            guard hasUnnamedFiles else { throw FakeSystem.Errno(EOPNOTSUPP) }
            node = make(.file, nil, in: directory)
        case .directory, .read, .readFollowing, .update:
            guard let found else { throw FakeSystem.Errno(ENOENT) }
            let isDirectory = try entry(found).kind == .directory
            if mode == .directory, !isDirectory { throw FakeSystem.Errno(ENOTDIR) }
            if mode == .update, isDirectory { throw FakeSystem.Errno(EISDIR) }
            node = found
        }
        let number = nextNumber
        nextNumber += 1
        open[number] = node
        return number
    }

    fileprivate mutating func make(_ kind: FileStatus.Kind, _ name: String?, in directory: FakeModel.Node)
        -> FakeModel.Node
    {
        let node = nextNode
        nextNode += 1
        change(.make(node, kind))
        if let name { change(.link(directory: directory, name: name, node)) }
        return node
    }
}
