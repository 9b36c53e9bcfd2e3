import Glibc
import HaulCore
import HaulPlatform

/// One connection to a `ScriptedServer`; used by the thread of its script, interrupted by `stop()`.
package final class ScriptedConnection: Sendable {
    private struct State {
        /// -1 once closed.
        var descriptor: Int32
        /// Bytes that came behind the last request's head.
        var pending: [UInt8] = []
    }

    private let state: Guarded<State>

    init(_ descriptor: Int32) {
        state = Guarded(State(descriptor: descriptor))
        // Small answers must leave at once, or tests wait for the other side's delayed acknowledgement.
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    private var descriptor: Int32 { state.withLock { $0.descriptor } }

    package var isOpen: Bool { descriptor >= 0 }

    /// Sends all bytes, waiting as long as the peer does.
    ///
    /// - Returns: `false` when the connection is or gets broken.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// A whole answer; `Content-Length` is added unless the headers frame the body themselves.
    @discardableResult
    package func respond(status: Int, headers: [(String, String)] = [], body: [UInt8] = []) -> Bool {
        let framing = ["content-length", "transfer-encoding"]
        let isFramed =
            headers.contains { framing.contains($0.0.lowercased()) } || status < 200 || status == 204
        let length = isFramed || status == 304 ? [] : [("Content-Length", "\(body.count)")]
        return head(status: status, headers: headers + length) && send(body)
    }

    /// Only a status line and header fields.
    @discardableResult
    package func head(status: Int, headers: [(String, String)]) -> Bool {
        send("HTTP/1.1 \(status) Scripted\r\n" + headers.map { "\($0): \($1)\r\n" }.joined() + "\r\n")
    }

    /// Answers as an honest server does that knows ranges, `If-Range` and `HEAD`.
    ///
    /// With `cut`, the connection is closed after so many bytes of the body. Without `honoursIfRange`, a range is
    /// served whatever `If-Range` says.
    @discardableResult
    package func serve(
        file: [UInt8], for request: ScriptedRequest, etag: String? = nil, honoursIfRange: Bool = true,
        cut: Int? = nil,
        headers: [(String, String)] = []
    ) -> Bool {
        var fields = headers + [("Accept-Ranges", "bytes")]
        if let etag { fields.append(("ETag", etag)) }
        let total = Int64(file.count)
        var part = ByteRange(0, total)
        var status = 200
        let condition = request.headers["If-Range"]
        if let asked = request.range, !honoursIfRange || condition == nil || condition == etag {
            guard asked.lower < total else {
                return respond(status: 416, headers: fields + [("Content-Range", "bytes */\(total)")])
            }
            part = ByteRange(asked.lower, min(asked.upper, total))
            status = 206
            fields.append(("Content-Range", "bytes \(part.lower)-\(part.upper - 1)/\(total)"))
        }
        fields.append(("Content-Length", "\(part.count)"))
        guard head(status: status, headers: fields), request.method != "HEAD" else { return isOpen }
        let body = Array(file[Int(part.lower)..<Int(part.upper)])
        guard let cut, cut < body.count else { return send(body) }
        let isSent = send(Array(body[..<cut]))
        close()
        return isSent
    }

    /// Ends the connection with a FIN.
    package func close() {
        state.withLock { state in
            guard state.descriptor >= 0 else { return }
            shutdown(state.descriptor, Int32(SHUT_RDWR))
            Glibc.close(state.descriptor)
            state.descriptor = -1
        }
    }

    /// Ends the connection with a RST; what the peer has not read yet is lost.
    package func reset() {
        state.withLock { state in
            guard state.descriptor >= 0 else { return }
            var now = linger(l_onoff: 1, l_linger: 0)
            setsockopt(state.descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
            Glibc.close(state.descriptor)
            state.descriptor = -1
        }
    }

    /// Says nothing more until the peer goes away or the server stops.
    package func hold() {
        while receive() {}
        close()
    }

    /// Makes every call of the script's thread on this connection return.
    func interrupt() {
        state.withLock { state in
            if state.descriptor >= 0 { shutdown(state.descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Waits for the next request's head and reads its body away; `nil` at the end of the connection.
    func readRequest() -> (method: String, target: String, headers: HeaderFields)? {
        while true {
            let pending = state.withLock { $0.pending }
            if let end = headEnd(pending) {
                let lines = String(decoding: pending[..<end], as: UTF8.self).split(separator: "\r\n")
                let fields = lines.dropFirst().compactMap { line -> HeaderField? in
                    guard let colon = line.firstIndex(of: ":") else { return nil }
                    return HeaderField(
                        String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " }))
                }
                let headers = HeaderFields(fields)
                let bodyEnd = end + 4 + (headers["Content-Length"].flatMap { Int($0) } ?? 0)
                while state.withLock({ $0.pending.count }) < bodyEnd { guard receive() else { return nil } }
                state.withLock { $0.pending.removeFirst(bodyEnd) }
                let words = (lines.first ?? "").split(separator: " ")
                guard words.count == 3 else { return nil }
                return (String(words[0]), String(words[1]), headers)
            }
            guard receive() else { return nil }
        }
    }

    private func headEnd(_ bytes: [UInt8]) -> Int? {
        let end = Array("\r\n\r\n".utf8)
        guard bytes.count >= 4 else { return nil }
        return (0...(bytes.count - 4)).first { bytes[$0] == 0x0D && Array(bytes[$0..<($0 + 4)]) == end }
    }

    /// Waits for bytes and keeps them; `false` at the end.
    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            state.withLock { $0.pending += buffer[..<count] }
            return true
        }
    }
}
