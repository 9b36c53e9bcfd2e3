import HaulCore
import HaulTestSupport
import Testing

/// Promise P5, as far as a name alone can keep it.
enum SafeName {
    static func check(_ name: String) {
        #expect(!name.isEmpty && name.utf8.count <= 231)
        #expect(
            !name.hasPrefix(".") && !name.hasPrefix("-") && !name.hasSuffix(".") && !name.hasSuffix(" ")
                && !name.hasPrefix(" "))
        #expect(!name.unicodeScalars.contains(where: isForbidden))
        #expect(
            FileName.sanitized(name)?.utf8.elementsEqual(name.utf8) == true,
            "once safe, a name stays as it is")
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x2F, 0x5C, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069,
            0xFEFF:
            true
        default: false
        }
    }
}

@Suite("FileName")
struct FileNameTests {
    @Test(
        "names from servers are made safe",
        arguments: [
            ("report.bin", "report.bin"), ("../../evil.bin", "evil.bin"), ("..\\..\\evil.bin", "evil.bin"),
            ("/etc/x", "x"),
            ("a\\b", "b"), ("C:\\dir\\f.txt", "f.txt"), ("a/b/", "b"), ("x\u{1B}[2Jy.txt", "x[2Jy.txt"),
            ("a\rDone.txt", "aDone.txt"),
            ("good.bin\0.exe", "good.bin.exe"), ("a\nb\tc", "abc"), ("txt.\u{202E}exe", "txt.exe"),
            ("\u{9B}31mx", "31mx"),
            (".bashrc", "_.bashrc"), ("..x", "_..x"), (" .x", "_.x"), ("\u{200D}.x", "_.x"),
            ("trail.txt. ", "trail.txt"),
            ("  a  ", "a"), ("a\u{3000}", "a"), ("AUX.TXT", "_AUX.TXT"), ("con", "_con"),
            ("nul .txt", "_nul .txt"), ("com1", "_com1"),
            ("COM¹.x", "_COM¹.x"), ("com", "com"), ("com10", "com10"), ("console.log", "console.log"),
            ("a:b?.txt", "a:b?.txt"),
            ("x<y>|.txt", "x<y>|.txt"), ("-rf", "_-rf"), (" -o", "_-o"), ("\u{200B}-x y", "_-x y"),
            ("a-b", "a-b"), ("e\u{301}.txt", "\u{E9}.txt"), ("👨‍👩‍👧.png", "👨‍👩‍👧.png"),
            ("x.part.haul", "x.part.haul_"), ("a\u{AD}b\u{200B}c", "abc"), ("テ.txt", "テ.txt"),
            ("a \u{2028}b", "a b"), ("a.b.", "a.b"),
        ])
    func sanitized(raw: String, expected: String) {
        let name = FileName.sanitized(raw)
        #expect(name?.utf8.elementsEqual(expected.utf8) == true, "\(String(describing: name))")
        SafeName.check(expected)
    }

    @Test(
        "nothing usable is nothing",
        arguments: [
            "", ".", "..", "...", "/", "\\", "../", "a/..", " ", "\0", "\u{1B}", "\u{202E}", "\u{200D}",
            "\u{3164}", ". .", "\u{301}",
        ])
    func nothing(raw: String) {
        #expect(FileName.sanitized(raw) == nil)
    }

    @Test("long names are cut in bytes at a grapheme border, the compound extension kept")
    func cut() {
        let accents = FileName.sanitized(String(repeating: "é", count: 150) + ".tar.gz") ?? ""
        SafeName.check(accents)
        #expect(accents.hasSuffix("é.tar.gz") && accents.utf8.count > 220)
        let family = FileName.sanitized(String(repeating: "👨‍👩‍👧", count: 30) + ".png") ?? ""
        SafeName.check(family)
        #expect(family.dropLast(4).allSatisfy { $0 == "👨‍👩‍👧" } && family.hasSuffix(".png"))
        let plain = FileName.sanitized(String(repeating: "x", count: 300)) ?? ""
        #expect(plain.utf8.count > 225)
        SafeName.check(plain)
        SafeName.check(FileName.sanitized("a" + String(repeating: "\u{301}", count: 500)) ?? "")
        SafeName.check(
            FileName.sanitized(
                String(repeating: "x", count: 224) + ".part" + String(repeating: "y", count: 99) + ".haul")
                ?? "")
        SafeName.check(FileName.sanitized("." + String(repeating: "x", count: 230)) ?? "")
        #expect(FileName.sanitized(String(repeating: "x", count: 231)) == String(repeating: "x", count: 231))
    }

    @Test("random text always gives a safe name or none", arguments: 0..<40)
    func randomText(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<150 {
            let count = Int.random(in: 0..<80, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            if let name = FileName.sanitized(String(decoding: bytes, as: UTF8.self)) { SafeName.check(name) }
            var scalars = String.UnicodeScalarView()
            let ends: [UInt32] = [0x30, 0x80, 0x400, 0x2100, 0x10000, 0x1FAFF, 0x10FFFF]
            for _ in 0..<(count * 2) {
                let limit = ends.randomElement(using: &random) ?? 0x80
                if let scalar = Unicode.Scalar(UInt32.random(in: 0...limit, using: &random)) {
                    scalars.append(scalar)
                }
            }
            if let name = FileName.sanitized(String(scalars)) { SafeName.check(name) }
        }
    }

    @Test(
        "numbers stand before the extension, also a compound one",
        arguments: [
            ("same.bin", "same (1).bin"), ("a.tar.gz", "a (1).tar.gz"), ("a", "a (1)"),
            ("v1.2.gz", "v1.2 (1).gz"),
            ("a.tar.gz.sig", "a (1).tar.gz.sig"), ("dump.sql.zst", "dump (1).sql.zst"),
            ("_.bashrc", "_ (1).bashrc"),
            ("a. b", "a. b (1)"), ("archive.part1.rar", "archive.part1 (1).rar"), (".hidden", ".hidden (1)"),
        ])
    func numbered(name: String, expected: String) {
        #expect(FileName.numbered(name, 1) == expected)
    }

    @Test("a numbered name is never too long")
    func numberedLength() {
        let name = FileName.numbered(String(repeating: "é", count: 113) + ".tar.gz", 123_456)
        #expect(name.utf8.count <= FileName.maximumBytes && name.hasSuffix("é (123456).tar.gz"))
    }

    private func choose(
        _ first: String, final: String? = nil, user: String? = nil, disposition: String? = nil,
        type: String? = nil
    ) throws -> String {
        FileName.choose(
            user: user, disposition: disposition, finalURL: try final.map { try URLReference(parsing: $0) },
            firstURL: try URLReference(parsing: first), mediaType: type)
    }

    @Test("the best source wins: user, header, final URL, first URL, query, host and type")
    func order() throws {
        let (first, final) = ("http://h/first.bin", "http://h/final.bin")
        #expect(try choose(first, final: final, user: "../.mine", disposition: "cd.bin") == "../.mine")
        #expect(try choose(first, final: final, disposition: "cd.bin") == "cd.bin")
        #expect(try choose(first, final: final, disposition: "..") == "final.bin")
        #expect(try choose(first, final: "http://h/?file=q.bin") == "first.bin")
        #expect(try choose("http://h/?file=q.bin", final: "http://h/") == "q.bin")
        #expect(try choose("http://h/download?p=1", final: "http://h/real-1.2.deb") == "real-1.2.deb")
    }

    @Test(
        "a URL gives its last component, decoded once",
        arguments: [
            ("http://h/my%20file.bin", "my file.bin"), ("http://h/..%2F..%2Fx%2Fy.bin", "y.bin"),
            ("http://h/a%2520b", "a%20b"),
            ("http://h/%FF.bin", "%FF.bin"), ("http://h/f.bin#/new.pem", "f.bin"),
            ("http://h/a?b/c.txt", "a"),
            ("http://h/%1B%5B2Jx", "[2Jx"), ("http://h/a+b", "a+b"), ("ftp://h/x.txt;type=a", "x.txt"),
            ("http://h/x;type=a", "x;type=a"),
            ("http://h/ü", "ü"), ("http://h/%2e%2e", "h"), ("http://h/..%5C..%5Cevil", "evil"),
            ("http://h/.htaccess", "_.htaccess"),
        ])
    func fromURL(url: String, expected: String) throws {
        #expect(try choose(url) == expected)
    }

    @Test(
        "without a path, hints in the query or host and type name the file",
        arguments: [
            ("http://h/?filename=a%2Fb.zip", nil, "b.zip"),
            ("http://h/?response-content-disposition=attachment%3B+filename%3D%22x+y.zip%22", nil, "x y.zip"),
            ("https://h/?product=x&os=l", nil, "h"),
            ("https://h/?product=x&os=l", "application/zip", "h.zip"),
            ("http://h/", "text/html", "index.html"), ("http://h/dir/", "text/html", "index.html"),
            ("http://h", "x/unknown", "h"),
            ("http://[::1]:8/", "application/pdf", "__1.pdf"),
            ("http://h/?file=..", "application/pdf", "h.pdf"),
        ] as [(String, String?, String)])
    func withoutPath(url: String, type: String?, expected: String) throws {
        #expect(try choose(url, type: type) == expected)
    }

    @Test("whatever URL and header say, a suggested name is safe", arguments: 0..<10)
    func randomChoices(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let tail = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                [
                    "%2F", "%5C", "%00", "%1B", "..", ".", "/", "a", "?file=", "%E2%80%AE", "%FF", " ", "é",
                    "&", "=",
                ].randomElement(using: &random) ?? ""
            }
            SafeName.check(try choose("http://h/" + tail.joined()))
        }
    }
}
