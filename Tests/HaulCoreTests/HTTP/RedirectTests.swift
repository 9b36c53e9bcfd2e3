import HaulCore
import Testing

@Suite("Redirects")
struct RedirectTests {
    @Test(
        "a Location is resolved as RFC 3986 §5.4 shows",
        arguments: [
            ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"),
            ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"),
            ("", "/b/c/d;p?q"),
            (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"), ("../..", "/"),
            ("../../../g", "/g"), ("g..", "/b/c/g.."), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"),
            ("g/../h", "/b/c/h"),
            ("g?y/../x", "/b/c/g?y/../x"), ("/x/../%2e%2e/y", "/x/../%2e%2e/y"),
            ("/ok/a b.bin", "/ok/a%20b.bin"),
            ("/ok/ü.bin", "/ok/%C3%BC.bin"), ("  /x\t", "/x"), ("/a?u=http://b/c", "/a?u=http://b/c"),
            ("x/y:z", "/b/c/x/y:z"),
        ])
    func resolves(location: String, target: String) throws {
        let base = try URLReference(parsing: "http://u:p@a:81/b/c/d;p?q")
        let url = try base.resolving(location)
        #expect(url.urlString == "http://a:81" + target)
        #expect(url.user == nil && url.password == nil, "user and password are never inherited")
    }

    @Test("absolute and scheme-relative places keep only what they say themselves")
    func absolute() throws {
        let base = try URLReference(parsing: "https://u:p@a/b?c")
        #expect(try base.resolving("//h:8/x").urlString == "https://h:8/x")
        #expect(try base.resolving("HTTP://h?q#f").urlString == "http://h/?q")
        #expect(try base.resolving("http://v:w@h/").user == "v")
    }

    @Test(
        "places that cannot be followed are refused",
        arguments: [
            ("http://", "bad-redirect"), ("//", "bad-redirect"), ("http://h:99999/", "bad-redirect"),
            ("http:g", "bad-redirect"), ("/a\r\nX: y", "bad-redirect"), ("//a b/", "bad-redirect"),
            ("mailto:x@y", "bad-redirect"), ("gopher://h/", "bad-redirect"),
            ("javascript:alert(1)", "bad-redirect"),
        ])
    func refused(location: String, code: String) throws {
        let base = try URLReference(parsing: "http://a/b")
        #expect {
            try base.resolving(location)
        } throws: { error in
            (error as? HaulError)?.code.rawValue == code
        }
    }

    private func next(
        _ from: String, _ to: String, hop: Int = 1, status: Int = 302, method: String = "GET",
        downgrade: Bool = false
    ) throws -> RedirectPolicy.NextRequest {
        try RedirectPolicy.next(
            from: URLReference(parsing: from), to: URLReference(parsing: to), hop: hop, status: status,
            method: method,
            allowsDowngrade: downgrade)
    }

    @Test(
        "the method and body of the next request follow the status",
        arguments: [
            (301, "POST", "GET", false), (302, "POST", "GET", false), (303, "POST", "GET", false),
            (307, "POST", "POST", true), (308, "POST", "POST", true), (301, "PUT", "PUT", true),
            (303, "PUT", "GET", false), (303, "HEAD", "HEAD", false), (302, "GET", "GET", true),
        ])
    func methods(status: Int, method: String, expected: String, keepsBody: Bool) throws {
        let request = try next("http://a/", "http://a/b", status: status, method: method)
        #expect(request.method == expected)
        #expect(request.keepsBody == keepsBody)
    }

    @Test("twenty hops are followed, the twenty-first is refused")
    func hops() throws {
        _ = try next("http://a/", "http://a/", hop: 20)
        #expect { try next("http://a/", "http://a/", hop: 21) } throws: {
            ($0 as? HaulError)?.code == .tooManyRedirects
        }
    }

    @Test("https becomes http only when allowed, and the message shows both URLs without their queries")
    func downgrade() throws {
        #expect {
            try next("https://a/x?S3CR3T", "http://b/y?S3CR3T")
        } throws: { error in
            let text = "\(error)"
            return (error as? HaulError)?.code == .downgradeRefused && text.contains("https://a/x?…")
                && text.contains("http://b/y?…") && !text.contains("S3CR3T")
        }
        #expect(try next("https://a/", "http://a/", downgrade: true).keepsSecrets == false)
        #expect(try next("http://a/", "https://a/").keepsSecrets == false)
    }

    @Test(
        "another kind of place is never followed",
        arguments: [
            ("http://a/", "file:///etc/passwd"), ("https://a/", "ftp://a/"), ("http://a/", "sftp://a/"),
            ("ftp://a/", "http://a/"), ("file:///a", "file:///b"),
        ])
    func kinds(from: String, to: String) {
        #expect { try next(from, to) } throws: { ($0 as? HaulError)?.code == .badRedirect }
    }

    @Test("secrets go along only to the same scheme, host and port")
    func secrets() throws {
        #expect(try next("http://A:80/", "http://a/x").keepsSecrets)
        #expect(try next("http://127.0.0.1:8000/", "http://localhost:8000/").keepsSecrets == false)
        #expect(try next("http://a:8000/", "http://a:8001/").keepsSecrets == false)
    }
}
