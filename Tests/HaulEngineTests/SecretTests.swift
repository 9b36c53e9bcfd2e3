import HaulCore
import HaulTestSupport
import Testing

@testable import HaulEngine

@Suite("Secrets stay with whom they were given for")
struct SecretTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Fields that carry a secret in these tests.
    private static let fields = ["Authorization", "Cookie", "X-Token"]

    private func secrets(_ options: inout DownloadOptions) {
        options.headers = [HeaderField("X-Token", "t0ken"), HeaderField("Cookie", "session=s3cret")]
        options.bearer = "b3arer"
    }

    private func serving() throws -> ScriptedServer {
        try ScriptedServer { request, connection in
            connection.serve(file: Array("content".utf8), for: request)
        }
    }

    /// The same server under another host name: another origin, and another host for cookies.
    private func elsewhere(_ server: ScriptedServer) -> String { "http://localhost:\(server.port)" }

    private func expectNone(_ server: ScriptedServer) {
        #expect(!server.requests.isEmpty)
        for field in SecretTests.fields {
            #expect(server.fields(field).allSatisfy { $0 == nil }, "\(field)")
        }
    }

    @Test("the origin that was asked gets them")
    func ownOrigin() async throws {
        let server = try serving()
        #expect(try await Downloads.run(.file(server.url("/f"), at: directory, secrets)).result != nil)
        #expect(server.fields("X-Token") == ["t0ken"])
        #expect(server.fields("Cookie") == ["session=s3cret"])
        #expect(server.fields("Authorization") == ["Bearer b3arer"])
    }

    @Test("no redirect takes them to another origin, and back home they are there again")
    func redirects() async throws {
        let home = try ChangingServer { _, _ in }
        let stranger = try ScriptedServer { request, connection in
            connection.respond(status: 307, headers: [("Location", home.url("/back"))])
        }
        let place = elsewhere(stranger)
        home.become { request, connection in
            if request.target == "/f" {
                connection.respond(status: 302, headers: [("Location", place + "/f")])
            } else {
                connection.respond(status: 200, body: [1])
            }
        }
        let outcome = try await Downloads.run(.file(home.url("/f"), at: directory, secrets))
        #expect(outcome.result != nil, "\(outcome.errors)")
        expectNone(stranger)
        #expect(home.requests.map { $0.headers["X-Token"] } == ["t0ken", "t0ken"])
    }

    @Test("a port is an origin of its own")
    func otherPort() async throws {
        let stranger = try serving()
        let home = try ScriptedServer { _, connection in
            connection.respond(status: 302, headers: [("Location", stranger.url("/f"))])
        }
        let outcome = try await Downloads.run(.file(home.url("/f"), at: directory, secrets))
        #expect(outcome.result != nil, "\(outcome.errors)")
        expectNone(stranger)
    }

    @Test("mirrors on other hosts do not get them")
    func mirrors() async throws {
        let dead = try ScriptedServer { _, connection in connection.respond(status: 404) }
        let mirror = try serving()
        let outcome = try await Downloads.run(
            .file(dead.url("/f"), elsewhere(mirror) + "/f", at: directory, secrets))
        #expect(outcome.result != nil, "\(outcome.errors)")
        expectNone(mirror)
        #expect(dead.fields("X-Token") == ["t0ken"])
    }

    @Test("the user of a URL is known to its host alone", arguments: [true, false])
    func userInURL(isRedirected: Bool) async throws {
        let stranger = try serving()
        let place = elsewhere(stranger)
        let home = try ScriptedServer { request, connection in
            if request.headers["Authorization"] == nil {
                connection.respond(status: 401, headers: [("WWW-Authenticate", "Basic realm=\"r\"")])
            } else if isRedirected {
                connection.respond(status: 302, headers: [("Location", place + "/f")])
            } else {
                connection.respond(status: 404)
            }
        }
        let url = "http://me:pa55@127.0.0.1:\(home.port)/f"
        var spec = DownloadSpec.file(url, at: directory)
        if !isRedirected { spec.urls.append(place + "/f") }
        let outcome = try await Downloads.run(spec)
        #expect(outcome.result != nil, "\(outcome.errors)")
        #expect(home.fields("Authorization").contains("Basic bWU6cGE1NQ=="))
        expectNone(stranger)
        #expect(!outcome.warnings.contains { $0.contains("pa55") })
    }

    @Test("a login that was given and refused is called refused", arguments: ["user", "bearer", "none"])
    func refusedLogin(given: String) async throws {
        let server = try ScriptedServer { _, connection in
            connection.respond(status: 401, headers: [("WWW-Authenticate", "Basic realm=\"r\"")])
        }
        let outcome = try await Downloads.run(
            .file(server.url("/f"), at: directory) {
                if given == "user" { $0.credentials = Credentials(user: "me", password: "wrong") }
                if given == "bearer" { $0.bearer = "wrong" }
            })
        let error = try #require(outcome.error)
        #expect(error.code == .authenticationFailed)
        let words = ["user": "refused the user name or password", "bearer": "refused the token"]
        #expect(error.message.contains(words[given] ?? "wants a login"))
    }

    @Test("cookies that one host set are not sent to another")
    func cookieJar() async throws {
        let stranger = try serving()
        let place = elsewhere(stranger)
        let home = try ScriptedServer { request, connection in
            let headers = [("Set-Cookie", "sid=1; Path=/")]
            if request.target == "/f" {
                connection.respond(status: 302, headers: headers + [("Location", "/again")])
            } else {
                connection.respond(status: 302, headers: [("Location", place + "/f")])
            }
        }
        let outcome = try await Downloads.run(.file(home.url("/f"), at: directory))
        #expect(outcome.result != nil, "\(outcome.errors)")
        #expect(home.fields("Cookie") == [nil, "sid=1"])
        expectNone(stranger)
    }

    @Test("what fails is told without the password and without the query")
    func redactedErrors() async throws {
        let server = try ScriptedServer { _, connection in connection.respond(status: 404) }
        let url = "http://me:pa55@127.0.0.1:\(server.port)/f?signature=abc123"
        let error = try #require(try await Downloads.run(.file(url, at: directory)).error)
        #expect(!error.description.contains("pa55"))
        #expect(!error.description.contains("abc123"))
    }
}
