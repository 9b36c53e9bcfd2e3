import Synchronization

/// An open file or directory: closed when the last reference goes, or at once with `close()`.
///
/// Any thread may use it. After `close()` every call on it fails with `EBADF`; nobody may be inside a call on it
/// while it is closed, since the system gives the number away again.
package final class Descriptor: Sendable {
    /// The path it was opened by, for messages.
    package let path: String
    private let value: Atomic<Int32>
    private let system: any SystemCalls

    /// Takes over an open descriptor.
    package init(_ number: Int32, path: String, system: any SystemCalls) {
        self.path = path
        self.system = system
        value = Atomic(number)
    }

    deinit { close() }

    /// The system's number; -1 after `close()`.
    package var number: Int32 { value.load(ordering: .relaxed) }

    package func close() {
        let number = value.exchange(-1, ordering: .acquiringAndReleasing)
        if number >= 0 { system.close(number) }
    }

    /// The path of a name inside this directory.
    package func path(of name: String) -> String {
        if path.isEmpty || path == "." { return name }
        return path.hasSuffix("/") ? path + name : path + "/" + name
    }
}
