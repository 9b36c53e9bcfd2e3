import HaulCore
import HaulTestSupport
import Testing

@Suite("URLReference")
struct URLReferenceTests {
    @Test(
        "path and query reach the wire byte for byte; only what may not stand there is coded",
        arguments: [
            ("http://h/x/a+b%2Fc%25?s=A+B%2B/%2f==", "/x/a+b%2Fc%25?s=A+B%2B/%2f=="),
            ("http://h/x/../y/%2e%2e/z", "/x/../y/%2e%2e/z"),
            ("http://h/x/a b", "/x/a%20b"),
            ("http://h/x/ünï", "/x/%C3%BCn%C3%AF"),
            ("http://h/a\tb", "/a%09b"),
            ("http://h", "/"), ("http://h?q", "/?q"), ("http://h/?", "/?"), ("http://h/a?b?c", "/a?b?c"),
            ("http://h/f.bin#/new.pem", "/f.bin"), ("http://h#x", "/"), ("http://h/a?b#c?d", "/a?b"),
            ("http://h/100%", "/100%"), ("http://h/{a}|^`\"<>", "/{a}|^`\"<>"),
            ("  http://h/x  ", "/x"), ("http://h/a@b:c//d", "/a@b:c//d"),
            ("http://h/..%2F..%2Fx", "/..%2F..%2Fx"),
        ])
    func requestTarget(text: String, target: String) throws {
        let url = try URLReference(parsing: text)
        #expect(url.requestTarget == target)
        #expect(url.urlString == "http://h" + target)
    }

    @Test(
        "the parts of an authority are found where browsers find them",
        arguments: [
            ("http://h:8080/", nil, nil, "h", 8080), ("HTTP://H/", nil, nil, "H", nil),
            ("http://u:p@h/", "u", "p", "h", nil), ("http://u@h/", "u", nil, "h", nil),
            ("http://u:@h/", "u", "", "h", nil), ("http://@h/", nil, nil, "h", nil),
            ("http://:p@h/", "", "p", "h", nil), ("http://u:p@ss:w@h/", "u", "p@ss:w", "h", nil),
            ("http://alice:p%40ss%2Fw0rd@h:1/", "alice", "p@ss/w0rd", "h", 1),
            ("http://a%2540:x@h/", "a%40", "x", "h", nil), ("http://u:p%0Aq@h/", "u", "p\nq", "h", nil),
            ("http://[::1]:81/x", nil, nil, "::1", 81),
            ("http://[fe80::1%25eth0]/", nil, nil, "fe80::1%eth0", nil),
            ("http://[::ffff:1.2.3.4]/", nil, nil, "::ffff:1.2.3.4", nil),
            ("http://h:65535", nil, nil, "h", 65535),
            ("http://a_b-c.example./", nil, nil, "a_b-c.example.", nil),
            ("http://ex%61mple/", nil, nil, "example", nil),
            ("http://bücher.example/", nil, nil, "xn--bcher-kva.example", nil),
            ("http://BÜCHER.example/", nil, nil, "xn--bcher-kva.example", nil),
            ("http://例え。テスト/", nil, nil, "xn--r8jz45g.xn--zckzah", nil),
            ("http://faß.de/", nil, nil, "xn--fa-hia.de", nil),
            ("http://münchen.de", nil, nil, "xn--mnchen-3ya.de", nil),
            ("http://ｅxample.com", nil, nil, "example.com", nil),
        ] as [(String, String?, String?, String, Int?)])
    func authority(text: String, user: String?, password: String?, host: String, port: Int?) throws {
        let url = try URLReference(parsing: text)
        #expect(url.scheme == "http")
        #expect(url.user == user)
        #expect(url.password == password)
        #expect(url.host == host)
        #expect(url.port == port)
    }

    @Test(
        "schemes have their own ports, and a missing one is guessed as curl does",
        arguments: [
            ("example.com/x", "http", 80), ("ftp.example.com/x", "ftp", 21), ("localhost:8080", "http", 8080),
            ("1.2.3.4:81/x", "http", 81), ("user:pw@host", "http", 80), ("https://h", "https", 443),
            ("ftp://h", "ftp", 21), ("ftps://h", "ftps", 990), ("sftp://h", "sftp", 22),
            ("SFTP://h:23", "sftp", 23),
            ("example.com/?u=http://x:y", "http", 80), ("file:///a/b", "file", 0),
            ("file://localhost/a/b", "file", 0),
            ("file:/a/b", "file", 0),
        ])
    func schemes(text: String, scheme: String, port: Int) throws {
        let url = try URLReference(parsing: text)
        #expect(url.scheme == scheme)
        #expect(url.effectivePort == port)
        if scheme == "file" { #expect(url.path == "/a/b") }
    }

    @Test(
        "what is not a URL is refused with a code, before any connection",
        arguments: [
            ("", "invalid-url"), ("   ", "invalid-url"), ("http://", "invalid-url"),
            ("http:///x", "invalid-url"),
            ("http://h:0/", "invalid-url"), ("http://h:99999/", "invalid-url"), ("http://h:/", "invalid-url"),
            ("http://h:65536", "invalid-url"), ("http://h:-1", "invalid-url"), ("http://h:8o", "invalid-url"),
            ("http://h:99999999999999999999", "invalid-url"), ("http://a:b:c/", "invalid-url"),
            ("http://::1/", "invalid-url"), ("http://[::1/", "invalid-url"),
            ("http://[::1]x/", "invalid-url"),
            ("http://[g::1]/", "invalid-url"), ("http://[1:2]/", "invalid-url"),
            ("http://[1::2::3]/", "invalid-url"),
            ("http://[::1%25]/", "invalid-url"), ("http://[1:2:3:4:5:6:7:8:9]/", "invalid-url"),
            ("http://h/\r\nX: y", "invalid-url"), ("http://h/\0", "invalid-url"),
            ("http://h/a\nb", "invalid-url"),
            ("http://a b/", "invalid-url"), ("http://good\\@evil/", "invalid-url"),
            ("http://a\\b/", "invalid-url"),
            ("http://h%00/", "invalid-url"), ("http://h%2Fx/", "invalid-url"), ("http://.h/", "invalid-url"),
            ("http://u%00:p@h", "invalid-url"), ("ftp://u%0d%0aDELE:p@h", "invalid-url"),
            ("http:h/x", "invalid-url"),
            ("http://u:%FF@h", "invalid-url"), ("file://host/x", "invalid-url"), ("http:/h/x", "invalid-url"),
            ("scp://h/x", "unsupported-scheme"), ("gopher://h", "unsupported-scheme"),
            ("htp://h", "unsupported-scheme"),
            ("magnet:?xt=urn:btih:0", "unsupported-scheme"), ("mailto:a@b", "unsupported-scheme"),
            ("javascript:alert(1)", "unsupported-scheme"), ("data:,x", "unsupported-scheme"),
        ])
    func refused(text: String, code: String) {
        #expect {
            try URLReference(parsing: text)
        } throws: { error in
            (error as? HaulError)?.code.rawValue == code
        }
    }

    @Test(
        "no message and no printed form shows user, password or query",
        arguments: [
            "http://alice:S3CR3T@h/x?k=S3CR3T", "http://S3CR3T@h:99999/?S3CR3T", "http://u:S3CR3T@/x",
            "u:S3CR3T@h:x/",
            "http://a:b/S3CR3T@h:0/", "ftp://S3CR3T%0d:S3CR3T@h", "http://h:0/#S3CR3T", "u:S3CR3T@a b",
        ])
    func secrets(text: String) {
        do {
            let url = try URLReference(parsing: text)
            var dumped = ""
            dump(url, to: &dumped)
            for shown in [url.redacted, "\(url)", String(reflecting: url), dumped, url.origin.description] {
                #expect(!shown.contains("S3CR3T"))
            }
        } catch {
            #expect(!error.description.contains("S3CR3T"))
        }
    }

    @Test("messages of bad URLs hold no control characters")
    func messagesAreSafe() {
        #expect {
            try URLReference(parsing: "http://h\u{1B}[2J\u{202E}/\n")
        } throws: { error in
            !"\(error)".unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E }
        }
    }

    @Test("the identity does not depend on how scheme, host, port, user or fragment were written")
    func identity() throws {
        let one = try URLReference(parsing: "HTTP://u:p@EXAMPLE.com/a%2f?x#f").identity
        let two = try URLReference(parsing: "http://example.com:80/a%2f?x").identity
        #expect(one == two)
        #expect(one == "http://example.com:80/a%2f?x")
        #expect(try URLReference(parsing: "http://example.com/a%2F?x").identity != one)
        #expect(try URLReference(parsing: "http://example.com:81/a%2f?x").identity != one)
        #expect(try URLReference(parsing: "http://example.com/a%2f").identity != one)
        let other = try URLReference(parsing: "http://EXAMPLE.com:8080/a?x").identity
        #expect(try other == URLReference(parsing: "http://example.com:8080/a?x").identity)
        #expect(other == "http://example.com:8080/a?x")
    }

    @Test("origins are equal only for the same scheme, host and port")
    func origins() throws {
        let origin = try URLReference(parsing: "https://Host/a").origin
        #expect(try URLReference(parsing: "https://u@host:443/b?c").origin == origin)
        for other in ["http://host:443", "https://host:444", "https://host.", "https://host2"] {
            #expect(try URLReference(parsing: other).origin != origin)
        }
        #expect(try URLReference(parsing: "http://[::1]:8").origin.description == "http://[::1]:8")
    }

    @Test("the URL for libcurl brings IPv6 brackets and zone, but neither user nor fragment")
    func urlString() throws {
        #expect(
            try URLReference(parsing: "http://u:p@[fe80::1%25e0]:8/x#f").urlString
                == "http://[fe80::1%25e0]:8/x")
        #expect(try URLReference(parsing: "sftp://u@h/~/a b").urlString == "sftp://h/~/a%20b")
        #expect(try URLReference(parsing: "file:///a?b").urlString == "file:///a?b")
    }

    @Test(
        "links that look signed are recognised by their keys, not their values",
        arguments: [
            ("http://h/?X-Amz-Signature=a&b", true), ("http://h/?Expires=1&Key-Pair-Id=2", true),
            ("http://h/?sig=x", true),
            ("http://h/?a=token", false), ("http://h/x", false), ("http://h/?TOKEN=1", true),
            ("http://h/?page=2", false),
        ])
    func signed(text: String, isSigned: Bool) throws {
        #expect(try URLReference(parsing: text).isSigned == isSigned)
    }

    @Test("query values are decoded as forms are")
    func queryValues() throws {
        let url = try URLReference(parsing: "http://h/?a=1&file=x%20y+z%2B.bin&bad=%FF&empty=&none")
        #expect(url.queryValue(named: "FILE") == "x y z+.bin")
        #expect(url.queryValue(named: "bad") == nil)
        #expect(url.queryValue(named: "empty")?.isEmpty == true)
        #expect(url.queryValue(named: "none")?.isEmpty == true)
        #expect(url.queryValue(named: "b") == nil)
    }

    @Test("parsing what a reference prints gives the same reference, for random text", arguments: 0..<40)
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("abcXYZ019/?#@:%&=+-._~ ü\u{202E}[]\\\"'é😀%2F%41")
        for _ in 0..<200 {
            let tail = String(
                (0..<Int.random(in: 0..<24, using: &random)).compactMap { _ in
                    alphabet.randomElement(using: &random)
                })
            guard let url = try? URLReference(parsing: "http://" + tail) else { continue }
            let again = try URLReference(parsing: url.urlString)
            #expect(again.urlString == url.urlString)
            #expect(again == url.withoutUserInfo)
            #expect(url.urlString.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
            #expect(again.user == nil && !url.requestTarget.contains("#") && url.path.hasPrefix("/"))
        }
    }
}
