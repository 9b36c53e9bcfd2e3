import Glibc
import HaulCore
import HaulTestSupport
import Testing

/// One raw connection, so that the server is not judged by the client it exists to test.
private struct RawClient {
    let descriptor: Int32

    init(_ server: ScriptedServer) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = server.port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let outcome = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(outcome == 0)
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Everything up to the end of the connection, and whether that was a FIN.
    func readAll() -> (text: String, isClean: Bool) {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else {
                close(descriptor)
                return (String(decoding: all, as: UTF8.self), count == 0)
            }
            all += buffer[..<count]
        }
    }
}

@Suite("Test support")
struct ScriptedServerTests {
    private func ask(_ server: ScriptedServer, _ requests: String...) throws -> (text: String, isClean: Bool)
    {
        let client = try RawClient(server)
        for request in requests { client.send(request) }
        return client.readAll()
    }

    @Test("the script sees each request in order and answers on the same connection")
    func keepAlive() throws {
        let server = try ScriptedServer { request, connection in
            connection.respond(status: 200, body: Array("n\(request.number)".utf8))
            if request.number == 2 { connection.close() }
        }
        let post = "POST /a HTTP/1.1\r\nContent-Length: 3\r\nX: y\r\n\r\nabc"
        let (text, isClean) = try ask(server, post, "GET /b HTTP/1.1\r\nRange: bytes=5-9\r\n\r\n")
        #expect(isClean && text.contains("\r\n\r\nn1HTTP/1.1 200") && text.hasSuffix("\r\n\r\nn2"))
        #expect(
            server.requests.map(\.method) == ["POST", "GET"] && server.requests.map(\.target) == ["/a", "/b"])
        #expect(server.requests[0].headers["x"] == "y" && server.requests[1].range == ByteRange(5, 10))
        #expect(server.connectionCount == 1)
    }

    @Test(
        "files are served as ranges and If-Range ask for them",
        arguments: [
            ("", 200, "0123456789"), ("Range: bytes=4-", 206, "456789"), ("Range: bytes=4-5", 206, "45"),
            ("Range: bytes=4-99", 206, "456789"), ("Range: bytes=10-", 416, ""),
            ("Range: bytes=4-\r\nIf-Range: \"a\"", 206, "456789"),
            ("Range: bytes=4-\r\nIf-Range: \"b\"", 200, "0123456789"),
        ])
    func files(fields: String, status: Int, body: String) throws {
        let server = try ScriptedServer { request, connection in
            connection.serve(file: Array("0123456789".utf8), for: request, etag: "\"a\"")
            connection.close()
        }
        let (text, _) = try ask(
            server, "GET / HTTP/1.1\r\n" + fields + (fields.isEmpty ? "\r\n" : "\r\n\r\n"))
        #expect(text.hasPrefix("HTTP/1.1 \(status) ") && text.hasSuffix("\r\n\r\n" + body))
    }

    @Test("a cut body ends early, a reset one is not clean")
    func cuts() throws {
        let server = try ScriptedServer { request, connection in
            if request.target == "/cut" { connection.serve(file: [65, 66, 67], for: request, cut: 2) }
            connection.send("x")
            connection.reset()
        }
        let cut = try ask(server, "GET /cut HTTP/1.1\r\n\r\n")
        #expect(cut.isClean && cut.text.contains("Content-Length: 3") && cut.text.hasSuffix("AB"))
        #expect(try ask(server, "GET /reset HTTP/1.1\r\n\r\n").isClean == false)
    }

    @Test("stopping ends scripts that hold their connection")
    func stops() throws {
        let server = try ScriptedServer { _, connection in
            connection.send("held")
            connection.hold()
        }
        let client = try RawClient(server)
        client.send("GET / HTTP/1.1\r\n\r\n")
        var byte: UInt8 = 0
        #expect(recv(client.descriptor, &byte, 1, 0) == 1)
        server.stop()
        #expect(client.readAll().text == "eld")
    }

    @Test("contents are the same for a seed, and tell where they part")
    func contents() {
        let one = TestContent.bytes(seed: 1, count: 1001)
        #expect(one == Array(TestContent.bytes(seed: 1, count: 2000).prefix(1001)))
        #expect(one != TestContent.bytes(seed: 2, count: 1001))
        var other = one
        other[700] ^= 1
        #expect(TestContent.firstDifference(one, other) == 700)
        #expect(TestContent.firstDifference(one, Array(one.dropLast())) == 1000)
        #expect(TestContent.firstDifference(one, one) == nil)
        #expect(TestContent.checksum(one) != TestContent.checksum(other))
    }

    @Test("a temporary directory goes with all it holds, but not with what its links point to")
    func temporaryDirectories() throws {
        let kept = try TemporaryDirectory()
        try kept.write([1, 2, 3], to: "kept")
        var path = ""
        do {
            let directory = try TemporaryDirectory()
            path = directory.path
            mkdir(directory.file("deep"), 0o700)
            try directory.write([9], to: "deep/file")
            symlink(kept.path, directory.file("link"))
            #expect(directory.names == ["deep", "link"] && directory.contents("deep/file") == [9])
        }
        #expect(access(path, F_OK) != 0)
        #expect(kept.contents("kept") == [1, 2, 3])
    }
}
