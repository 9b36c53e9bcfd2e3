package import HaulPlatform

/// A file system as values: what every change does to it, one by one.
package struct FakeModel: Sendable {
    package typealias Node = Int

    /// One change, as the disk may keep or lose it.
    package enum Change: Hashable, Sendable {
        case make(Node, FileStatus.Kind)
        case write(Node, offset: Int, bytes: [UInt8])
        case truncate(Node, length: Int)
        case attribute(Node, name: String, value: [UInt8])
        case link(directory: Node, name: String, Node)
        case unlink(directory: Node, name: String)
        case rename(directory: Node, from: String, to: String)
        /// Everything before it that concerns the node is on disk.
        case sync(Node, dataOnly: Bool)
    }

    package struct Entry: Hashable, Sendable {
        package var kind: FileStatus.Kind
        package var bytes: [UInt8] = []
        package var names: [String: Node] = [:]
        package var attributes: [String: [UInt8]] = [:]
        package var permissions: UInt32 = 0o644
        package var modified: Int64 = 1
    }

    package static let root: Node = 0
    package private(set) var nodes: [Node: Entry] = [root: Entry(kind: .directory)]

    package init() {}

    /// Does a change; one that has lost what it builds on does nothing.
    package mutating func apply(_ change: Change) {
        switch change {
        case .make(let node, let kind):
            nodes[node] = Entry(kind: kind)
        case .write(let node, let offset, let bytes):
            nodes[node]?.write(bytes, at: offset)
        case .truncate(let node, let length):
            nodes[node]?.resize(length)
        case .attribute(let node, let name, let value):
            nodes[node]?.attributes[name] = value
        case .link(let directory, let name, let node):
            nodes[directory]?.names[name] = node
        case .unlink(let directory, let name):
            nodes[directory]?.names[name] = nil
        case .rename(let directory, let from, let to):
            guard let node = nodes[directory]?.names.removeValue(forKey: from) else { return }
            nodes[directory]?.names[to] = node
        case .sync:
            break
        }
    }

    package mutating func change(_ node: Node, _ body: (inout Entry) -> Void) {
        guard var entry = nodes[node] else { return }
        body(&entry)
        nodes[node] = entry
    }

    /// The node at the end of a path of directories and one last name.
    package func find(_ path: String, from directory: Node) -> Node? {
        path.split(separator: "/").reduce(path.hasPrefix("/") ? Self.root : directory) { node, name in
            node.flatMap { name == "." ? $0 : nodes[$0]?.names[String(name)] }
        }
    }

    package func links(to node: Node) -> Int {
        nodes.values.reduce(0) { $0 + $1.names.values.count { $0 == node } }
    }

    package var usedBytes: Int { nodes.values.reduce(0) { $0 + $1.bytes.count } }
}

extension FakeModel.Entry {
    fileprivate mutating func write(_ new: [UInt8], at offset: Int) {
        if bytes.count < offset + new.count { resize(offset + new.count) }
        bytes.replaceSubrange(offset..<offset + new.count, with: new)
        modified += 1
    }

    fileprivate mutating func resize(_ length: Int) {
        if length < bytes.count {
            bytes.removeLast(bytes.count - length)
        } else {
            bytes += [UInt8](repeating: 0, count: length - bytes.count)
        }
        modified += 1
    }
}

extension FakeModel.Change {
    /// The node whose sync makes it certain; for a name that is the directory.
    var node: FakeModel.Node {
        switch self {
        case .make(let node, _), .write(let node, _, _), .truncate(let node, _), .attribute(let node, _, _),
            .link(let node, _, _), .unlink(let node, _), .rename(let node, _, _), .sync(let node, _):
            node
        }
    }

    /// Syncing the data alone does not bring it to the disk.
    var isMetadata: Bool {
        if case .attribute = self { true } else { false }
    }
}
