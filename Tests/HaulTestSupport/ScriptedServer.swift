import Glibc
package import HaulCore
import HaulPlatform

/// A request as it came to a `ScriptedServer`.
package struct ScriptedRequest: Sendable {
    /// 1 for the first request that the server saw, over all connections.
    package let number: Int
    package let method: String
    package let target: String
    package let headers: HeaderFields

    /// What a single `Range: bytes=a-b` or `a-` asks for, with `.max` for an open end; `nil` for anything else.
    package var range: ByteRange? {
        guard let value = headers["Range"], value.hasPrefix("bytes=") else { return nil }
        let ends = value.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Int64(ends[0]) else { return nil }
        if ends[1].isEmpty { return ByteRange(first, .max) }
        guard let last = Int64(ends[1]), last >= first, last < .max else { return nil }
        return ByteRange(first, last + 1)
    }
}

/// A small HTTP/1.1 server on 127.0.0.1 whose every answer is written by a test.
///
/// The script is called once per request, on the connection's own thread, and may block. A connection that the
/// script leaves open serves the next request.
package final class ScriptedServer: Sendable {
    package typealias Script = @Sendable (ScriptedRequest, ScriptedConnection) -> Void

    package let port: UInt16
    private let core: ServerCore

    package struct Failure: Error {
        package let call: String
        package let code: Int32
    }

    package init(_ script: @escaping Script) throws {
        let (listener, port) = try ScriptedServer.listen()
        self.port = port
        core = ServerCore(listener: listener, script: script)
        core.start()
    }

    deinit { core.stop() }

    /// The requests so far, in the order of their numbers.
    package var requests: [ScriptedRequest] { core.requests }

    /// Connections accepted so far.
    package var connectionCount: Int { core.connectionCount }

    /// `http://127.0.0.1:PORT` + the path.
    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Closes everything and waits for all threads; must not be called from a script.
    package func stop() { core.stop() }

    private static func listen() throws -> (Int32, UInt16) {
        let (listener, port) = try bound()
        guard Glibc.listen(listener, 64) == 0 else {
            close(listener)
            throw Failure(call: "listen", code: errno)
        }
        return (listener, port)
    }

    /// A socket that has a port of its own on 127.0.0.1.
    fileprivate static func bound() throws -> (Int32, UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw Failure(call: "socket", code: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let outcome = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) | getsockname(listener, pointer, &length)
            }
        }
        guard outcome == 0 else {
            close(listener)
            throw Failure(call: "bind", code: errno)
        }
        return (listener, UInt16(bigEndian: address.sin_port))
    }
}

/// A port of 127.0.0.1 where nobody listens, and which nobody else can be given as long as this lives.
///
/// The port of a stopped server would not do: tests run side by side, and another's server may get it next.
package final class ClosedPort: Sendable {
    private let descriptor: Int32
    private let port: UInt16

    package init() throws {
        (descriptor, port) = try ScriptedServer.bound()
    }

    deinit { close(descriptor) }

    /// `http://127.0.0.1:PORT` + the path.
    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
}

/// What the threads of a server share; it lives as long as the longest of them.
private final class ServerCore: Sendable {
    private struct State {
        var requests: [ScriptedRequest] = []
        var connections: [ScriptedConnection] = []
        var threads: [pthread_t] = []
        var isStopped = false
    }

    private let listener: Int32
    private let script: ScriptedServer.Script
    private let state = Guarded(State())

    init(listener: Int32, script: @escaping ScriptedServer.Script) {
        self.listener = listener
        self.script = script
    }

    var requests: [ScriptedRequest] { state.withLock { $0.requests } }
    var connectionCount: Int { state.withLock { $0.connections.count } }

    func start() { spawn { $0.acceptAll() } }

    func stop() {
        let connections = state.withLock { state in
            defer { state.isStopped = true }
            return state.isStopped ? nil : state.connections
        }
        guard let connections else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in connections { connection.interrupt() }
        // A thread that is being joined may still have started another one.
        while let thread = state.withLock({ $0.threads.popLast() }) { pthread_join(thread, nil) }
        close(listener)
    }

    private func acceptAll() {
        while true {
            let descriptor = accept(listener, nil, nil)
            if descriptor < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                return
            }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            let connection = ScriptedConnection(descriptor)
            let isStopped = state.withLock { state in
                state.connections.append(connection)
                return state.isStopped
            }
            if isStopped { return connection.close() }
            spawn { $0.serve(connection) }
        }
    }

    private func serve(_ connection: ScriptedConnection) {
        while let (method, target, headers) = connection.readRequest() {
            let request = state.withLock { state in
                let request = ScriptedRequest(
                    number: state.requests.count + 1, method: method, target: target, headers: headers)
                state.requests.append(request)
                return request
            }
            script(request, connection)
        }
        connection.close()
    }

    private func spawn(_ body: @escaping @Sendable (ServerCore) -> Void) {
        final class Job {
            let run: () -> Void
            init(_ run: @escaping () -> Void) { self.run = run }
        }
        let job = Unmanaged.passRetained(Job { body(self) })
        state.withLock { state in
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil,
                { pointer in
                    if let pointer { Unmanaged<Job>.fromOpaque(pointer).takeRetainedValue().run() }
                    return nil
                }, job.toOpaque())
            if code == 0 { state.threads.append(thread) } else { job.release() }
        }
    }
}
