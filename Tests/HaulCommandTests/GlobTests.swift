import HaulCore
import Testing

@testable import HaulCommand

@Suite("URL patterns")
struct GlobTests {
    private func all(_ pattern: String) throws -> [String] {
        let glob = try GlobPattern(parsing: pattern)
        return (0..<glob.count).map { glob.expansion($0).text }
    }

    @Test(
        "brackets stand for all their values, the last one runs fastest",
        arguments: [
            ("http://h/x", ["http://h/x"]), ("a[1-3]", ["a1", "a2", "a3"]),
            ("[08-11]", ["08", "09", "10", "11"]),
            ("[0-2]", ["0", "1", "2"]), ("[001-003]b", ["001b", "002b", "003b"]), ("[a-c]", ["a", "b", "c"]),
            ("[1-9:4]", ["1", "5", "9"]), ("[a-g:3]", ["a", "d", "g"]), ("[X-Z]", ["X", "Y", "Z"]),
            ("{a,bc,}", ["a", "bc", ""]), ("{a,b}[1-2]", ["a1", "a2", "b1", "b2"]), ("[5-5]", ["5"]),
            (#"\[1-3\]\{x\}"#, ["[1-3]{x}"]), (#"{a\,b,c}"#, ["a,b", "c"]),
            ("http://[::1]/[1-2]", ["http://[::1]/1", "http://[::1]/2"]),
            ("http://[fe80::1%25eth0]:80/", ["http://[fe80::1%25eth0]:80/"]), ("a]b}c", ["a]b}c"]),
        ])
    func expansions(_ pattern: String, _ expected: [String]) throws {
        #expect(try all(pattern) == expected)
    }

    @Test(
        "what is no pattern is refused",
        arguments: [
            "[", "{", "[1-", "{a", "[]", "[1]", "[3-1]", "[a-]", "[a-9]", "[a-Z]", "[1-5:0]", "[1-5:x]",
            "[1-2-3]", "{a[1-2]}",
            "{{a}}", "[1-2:1:1:1", "[-1-2]", "[1-99999999999999999999]",
        ])
    func refused(_ pattern: String) {
        #expect(failure { _ = try GlobPattern(parsing: pattern) }?.code == .usage)
    }

    @Test("more than a million URLs are refused before any is made")
    func bounded() throws {
        #expect(try GlobPattern(parsing: "[1-1000]x[1-1000]").count == 1_000_000)
        let error = failure { _ = try GlobPattern(parsing: "[1-1000][1-1001]") }
        #expect(error?.message == "--glob: the brackets stand for more than 1000000 URLs")
        #expect(failure { _ = try GlobPattern(parsing: "[0-999999999999999]") } != nil)
        let many = String(repeating: "[1-1000]", count: 20)
        #expect(failure { _ = try GlobPattern(parsing: many) } != nil)
    }

    @Test(
        "#1 in an output name is what the first bracket became",
        arguments: [
            ("x#1.iso", "x07.iso"), ("#2_#1", "b_07"), ("#3", "#3"), ("#", "#"), ("a#b", "a#b"),
            ("#1#2", "07b"),
            ("#0", "#0"), ("#11", "#11"),
        ])
    func captures(_ output: String, _ expected: String) {
        #expect(GlobPattern.filled(output, captures: ["07", "b"]) == expected)
    }

    @Test("every bracket gives one capture")
    func captureValues() throws {
        let glob = try GlobPattern(parsing: "http://h/{a,b}/[01-10].iso")
        #expect(glob.expansion(12).captures == ["b", "03"])
        #expect(glob.expansion(12).text == "http://h/b/03.iso")
    }
}
