import HaulCore
import Testing

@testable import HaulCommand

@Suite("Checksum lists")
struct ChecksumListTests {
    static let md5 = "d41d8cd98f00b204e9800998ecf8427e"
    static let sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    static let sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    static let sha512 = String(repeating: "cf83e135", count: 16)

    private func list(_ text: String) throws -> ChecksumList {
        try ChecksumList(parsing: Array(text.utf8), file: "SUMS")
    }

    @Test(
        "each way to write a line is understood",
        arguments: [
            ("\(sha256)  x.iso", "x.iso", "sha-256:\(sha256)"),
            ("\(sha256) *x.iso", "x.iso", "sha-256:\(sha256)"),
            ("\(sha256.uppercased())  x.iso\r", "x.iso", "sha-256:\(sha256)"),
            ("\(md5)  x y.iso", "x y.iso", "md5:\(md5)"),
            ("\(sha1)  ./x.iso", "./x.iso", "sha-1:\(sha1)"),
            ("\(sha512)  d/x.iso", "d/x.iso", "sha-512:\(sha512)"),
            ("SHA256 (x.iso) = \(sha256)", "x.iso", "sha-256:\(sha256)"),
            ("MD5 (a (1).iso) = \(md5)", "a (1).iso", "md5:\(md5)"),
            ("SHA2-256(x.iso)= \(sha256)", nil, nil),
            ("SHA256(x.iso)= \(sha256)", "x.iso", "sha-256:\(sha256)"),
            (#"\\#(sha256)  a\\b\nc"#, "a\\b\nc", "sha-256:\(sha256)"),
            (#"\SHA256 (a\nb) = \#(sha256)"#, "a\nb", "sha-256:\(sha256)"),
            ("\(sha256)\tx.iso", "x.iso", "sha-256:\(sha256)"), ("# \(sha256)  x.iso", nil, nil),
            ("\(sha256)x  x.iso", nil, nil), ("\(String(repeating: "g", count: 64))  x", nil, nil),
            ("SHA256 (x) = 00", nil, nil),
        ] as [(String, String?, String?)])
    func lines(_ line: String, _ name: String?, _ value: String?) throws {
        let entries = try? list(line).entries
        #expect(entries?.first?.name == name)
        #expect(entries?.first?.value.description == value)
    }

    @Test("signatures, comments and other digests around the lines are passed over")
    func realList() throws {
        let list = try list(
            """
            -----BEGIN PGP SIGNED MESSAGE-----
            Hash: SHA256

            # Fedora-Everything-netinst-x86_64.iso: 700000000 bytes
            SHA256 (Fedora-netinst.iso) = \(Self.sha256)
            -----BEGIN PGP SIGNATURE-----

            iQIzBAEBCAAdFiEE
            -----END PGP SIGNATURE-----
            """)
        #expect(list.entries.map(\.name) == ["Fedora-netinst.iso"])
    }

    @Test(
        "a list that holds nothing usable is an error", arguments: ["", "\n\n", "hello", "<html>404</html>"])
    func empty(_ text: String) {
        #expect(failure { _ = try list(text) }?.message == "SUMS holds no checksums that can be used")
    }

    @Test("files are found by the last component of their path")
    func lookup() throws {
        let list = try list("\(Self.sha256)  pool/x.iso\n\(Self.md5)  x.iso\n\(Self.sha1)  y.iso\n")
        #expect(try list.values(for: "/pub/x.iso", file: "SUMS").map(\.algorithm) == [.md5])
        #expect(try list.values(for: "/pool/x.iso", file: "SUMS").map(\.algorithm) == [.sha256, .md5])
        #expect(try list.values(for: "y.iso", file: "SUMS").map(\.algorithm) == [.sha1])
        let error = failure { _ = try list.values(for: "/z.iso", file: "SUMS") }
        #expect(error?.message == "SUMS has no checksum for 'z.iso'")
        #expect(error?.code == .usage)
        #expect(failure { _ = try list.values(for: "/", file: "SUMS") } != nil)
    }

    @Test("one name with two digests is told apart by its directory, or refused")
    func ambiguous() throws {
        let other = String(repeating: "0", count: 64)
        let list = try list("\(Self.sha256)  a/x.iso\n\(other)  b/x.iso\n")
        #expect(try list.values(for: "/pub/b/x.iso", file: "SUMS").map(\.hex) == [other])
        let error = failure { _ = try list.values(for: "/pub/x.iso", file: "SUMS") }
        #expect(error?.message == "SUMS has two different checksums for 'x.iso'")
    }

    @Test("a file of one bare digest is of whatever is downloaded")
    func bareDigest() throws {
        #expect(
            try list("\(Self.sha256)\n").values(for: "/anything", file: "SUMS").map(\.hex) == [Self.sha256])
        #expect(
            failure { _ = try list("\(Self.sha256)\n\(Self.md5)\n").values(for: "/x", file: "SUMS") } != nil)
    }
}

@Suite("Cookie files")
struct CookieFileTests {
    static let line = ".h.example\tTRUE\t/\tFALSE\t0\tname\tsecret"

    @Test("lines with seven fields are cookies, with the mark of HttpOnly ones")
    func parsed() throws {
        let text =
            "# Netscape HTTP Cookie File\n\n\(Self.line)\r\n#HttpOnly_h\tFALSE\t/\tTRUE\t1900000000.5\tn\t\n"
        let cookies = try CookieFile.parse(Array(text.utf8), file: "c")
        #expect(cookies == [Self.line, "#HttpOnly_h\tFALSE\t/\tTRUE\t1900000000.5\tn\t"])
    }

    @Test(
        "anything else is an error that names the line and not the secret",
        arguments: [
            "name=secret", "[{\"secret\": 1}]", "h\tTRUE\t/\tFALSE\t0\tsecret",
            "h\tMAYBE\t/\tFALSE\t0\tn\tsecret",
            "h\tTRUE\t/\tFALSE\tsoon\tn\tsecret", "\tTRUE\t/\tFALSE\t0\tn\tsecret",
            "h\tTRUE\t/\tFALSE\t0\tn\tsecret\u{1}",
        ])
    func refused(_ text: String) {
        let error = failure { _ = try CookieFile.parse(Array("#\n\(text)\n".utf8), file: "c") }
        #expect(error?.message.hasPrefix("c line 2 is not a cookie") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("a newer cookie takes the place of an older one of the same domain, path and name")
    func merged() {
        var lines = CookieLines()
        lines.add(["h\tTRUE\t/\tFALSE\t0\ta\t1", "h\tTRUE\t/\tFALSE\t0\tb\t1", "garbage"])
        lines.add(["h\tTRUE\t/\tFALSE\t9\ta\t2", "h\tTRUE\t/x\tFALSE\t0\ta\t3"])
        #expect(
            lines.lines == [
                "h\tTRUE\t/\tFALSE\t9\ta\t2", "h\tTRUE\t/\tFALSE\t0\tb\t1", "h\tTRUE\t/x\tFALSE\t0\ta\t3",
            ])
    }
}
