import Glibc

/// A system call that failed: which, with what `errno`, on what path.
package struct SystemFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The `errno` value.
    package let code: Int32
    /// The name of the call, as in its manual page.
    package let call: String
    /// The path it was about, or "" when there is none.
    package let path: String

    package init(code: Int32, call: String, path: String = "") {
        self.code = code
        self.call = call
        self.path = path
    }

    /// The system's words for the code, such as "No space left on device".
    package var reason: String {
        var buffer = [CChar](repeating: 0, count: 128)
        guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    package var description: String {
        path.isEmpty ? "\(call): \(reason)" : "\(call) \(path): \(reason)"
    }
}
