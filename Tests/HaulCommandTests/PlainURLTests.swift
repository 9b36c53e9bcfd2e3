import HaulCore
import HaulTestSupport
import Testing

@testable import HaulCommand

@Suite("URLs that are fine at a glance")
struct PlainURLTests {
    @Test(
        "ordinary URLs are",
        arguments: [
            "http://h/", "https://host.example/a/b.iso?x=1&y=%20#f", "http://127.0.0.1:8080/x", "http://h",
            "http://a-b.c1:80",
            "https://1host.example/",
        ])
    func plain(_ url: String) throws {
        #expect(PlainURL.isSurelyValid(url))
        _ = try URLReference(parsing: url)
    }

    @Test(
        "odd ones are looked at closely",
        arguments: [
            "", "http://", "ftp://h/", "HTTP://h/", "http://H/", "http://u@h/", "http://h:0/",
            "http://h:99999/", "http://h:/",
            "http://[::1]/", "http://1.2.3/", "http://256.1.1.1/", "http://01.2.3.4/", "http://0x7f.1/",
            "http://h/a b", "http://h/ü",
            "http://-h/", "http://h-/", "http://a..b/", "http://h./", "http://xn--a/", "http://h?x",
            "http://h#x", "http://ü/",
            "http://h\\x", "http://2130706433/", "http://h/\u{7F}",
        ])
    func odd(_ url: String) {
        #expect(!PlainURL.isSurelyValid(url))
    }

    @Test("whatever is fine at a glance is fine at a close look")
    func agrees() throws {
        var random = SeededGenerator(seed: 11)
        let pieces = [
            "http://", "https://", "h", "a.b", "1", "255", "256", ".", "-", ":", "80", "0", "/", "?", "#",
            "@", "%", "[", "xn--", "x",
        ]
        var plain = 0
        for _ in 0..<20_000 {
            let start = Bool.random(using: &random) ? "http://" : "https://"
            let url =
                start
                + (0..<Int.random(in: 1...8, using: &random)).map { _ in
                    pieces.randomElement(using: &random) ?? ""
                }.joined()
            guard PlainURL.isSurelyValid(url) else { continue }
            plain += 1
            #expect(throws: Never.self) { try URLReference(parsing: url) }
        }
        #expect(plain > 500)
    }
}
