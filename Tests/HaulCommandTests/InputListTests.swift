import HaulCore
import HaulEngine
import HaulTestSupport
import Testing

@testable import HaulCommand

/// The downloads that a list means, with settings of the command line.
private func specs(
    _ text: String, _ arguments: [String] = [], links: Set<String> = []
) throws -> [DownloadSpec] {
    let (configuration, _, _) = try configured(arguments + ["--no-config"])
    let factory = SpecFactory(
        configuration: configuration, checksums: [],
        files: .init(isDirectory: { _ in false }, isSymbolicLink: { links.contains($0) }), listName: "list")
    var plan = try DownloadPlan(
        factory: factory, operands: [],
        list: InputListReader(file: "list", lines: LineReader(Array(text.utf8))))
    var specs: [DownloadSpec] = []
    while let spec = try plan.next() { specs.append(spec) }
    return specs
}

@Suite("Input files")
struct InputListTests {
    @Test(
        "two downloads into one file are refused before anything starts",
        arguments: ["http://h/a out=g\nhttp://h/b out=g", "http://h/a out=x/g\nhttp://h/b out=./x//g"])
    func sameName(text: String) throws {
        let (configuration, _, _) = try configured(["--no-config"])
        let factory = SpecFactory(
            configuration: configuration, checksums: [],
            files: .init(isDirectory: { _ in false }, isSymbolicLink: { _ in false }), listName: "list")
        var plan = try DownloadPlan(
            factory: factory, operands: [],
            list: InputListReader(file: "list", lines: LineReader(Array(text.utf8))))
        let error = failure { _ = try plan.check() }
        #expect(error?.code == .usage)
        #expect(error?.message.hasPrefix("list line 2: ") == true)
    }

    @Test("a line is a URL; comments and empty lines are not; line ends may be those of Windows")
    func urls() throws {
        let text = "\u{FEFF}# list\nhttp://h/a\r\n\n  # indented comment\n   \nhttps://h/b?x=1&y=2"
        #expect(try specs(text).map(\.urls) == [["http://h/a"], ["https://h/b?x=1&y=2"]])
    }

    @Test("URLs with tabs between them are mirrors; a space belongs to the URL")
    func mirrors() throws {
        #expect(
            try specs("http://h/a b\thttp://m/a\t http://n/a\n").map(\.urls) == [
                ["http://h/a b", "http://m/a", "http://n/a"]
            ])
    }

    @Test("options follow the URL, in quotes where they hold spaces, or stand below it")
    func options() throws {
        let text = """
            http://h/a out=x.iso header="A: b; user=c" limit-rate=1K
            http://h/b
              out = y z.iso
            \theader=Cookie: a=b; user=c
              insecure

              # a comment
              sequential=yes
            http://h/c header=B: one two retries=0
            """
        let specs = try specs(text)
        #expect(specs.map(\.urls) == [["http://h/a"], ["http://h/b"], ["http://h/c"]])
        #expect(specs[0].destination == .file("x.iso"))
        #expect(specs[0].options.headers == [HeaderField("A", "b; user=c")])
        #expect(specs[0].options.rateLimit == 1024)
        #expect(specs[0].options.credentials == nil)
        #expect(specs[1].destination == .file("y z.iso"))
        #expect(specs[1].options.headers == [HeaderField("Cookie", "a=b; user=c")])
        #expect(specs[1].options.connection.isInsecure && specs[1].options.isSequential)
        #expect(specs[2].options.headers == [HeaderField("B", "one two")])
        #expect(specs[2].options.retries == 0)
        #expect(specs[2].options.connection.isInsecure == false)
    }

    @Test("what the command line says holds for all entries that do not say otherwise")
    func inheritance() throws {
        let specs = try specs(
            "http://h/a\nhttp://h/b dir=e connections=2\n", ["-d", "d", "-c", "8", "-H", "A: 1"])
        #expect(specs.map(\.destination) == [.directory("d"), .directory("e")])
        #expect(specs.map(\.options.connections) == [.fixed(8), .fixed(2)])
        #expect(specs.allSatisfy { $0.options.headers == [HeaderField("A", "1")] })
    }

    @Test(
        "a bad line is named, with what is wrong",
        arguments: [
            (
                "http://h/a\nnot a url\n", "list line 2: it does not start with a URL",
                "write the scheme, such as https://"
            ),
            ("  out=x\n", "list line 1: an option stands before the first URL", nil),
            ("http://h/ ouput=x\n", "list line 1: there is no option 'ouput'", "output"),
            ("http://h/\n  ouput=x\n", "list line 2: there is no option 'ouput'", "output"),
            (
                "http://h/\n  connections=x\n",
                "list line 2: connections: 'x' is not auto or a whole number from 1 to 128", nil
            ),
            (
                "http://h/\n\n http://i/\n", "list line 3: there is no option 'http://i/'",
                "URLs start at the margin"
            ),
            ("http://h/\n  out\n", "list line 2: 'out' needs a value", "out=FILE"),
            (
                "http://h/ on-finished=x\n",
                "list line 1: 'on-finished' cannot be said for one download of a list", nil
            ),
            (
                "http://h/ refresh-command=x\n",
                "list line 1: 'refresh-command' cannot be said for one download of a list", nil
            ),
            (
                "http://h/ cookies=/etc/passwd\n",
                "list line 1: 'cookies' cannot be said for one download of a list", nil
            ),
            ("http://h/ out=-\n", "list line 1: a list cannot write to standard output", nil),
            ("http://h/\u{1}\n", "list line 1: it holds control characters", nil),
            ("http://h/a\nhttp://\n", "list line 2: ", nil), ("gopher://h/\n", "list line 1: ", nil),
            (
                "file:///etc/passwd\n", "list line 1: file:///etc/passwd is a file of this machine",
                "--allow-file"
            ),
        ] as [(String, String, String?)])
    func badLines(_ text: String, _ message: String, _ advice: String?) {
        let error = failure { _ = try specs(text) }
        #expect(error?.code == .usage)
        #expect(error?.message.hasPrefix(message) == true)
        if let advice { #expect(error?.advice == advice) }
    }

    @Test("a list cannot have other files sent: @FILE is plain text in it")
    func noFiles() throws {
        #expect(try specs("http://h/ data=@/etc/passwd\n")[0].options.body == Array("@/etc/passwd".utf8))
        #expect(try specs("http://h/ bearer=@x\n")[0].options.bearer == "@x")
    }

    @Test(
        "a name in a list never leaves its directory",
        arguments: [
            ("x", "x"), ("a/b/x", "a/b/x"), ("./a//x", "a/x"), ("../../evil", "evil"), ("/etc/x", "x"),
            ("a/../../x", "x"),
            ("..", "_"), ("a/..", "_"), ("/", "_"), (".", "_"), ("link/x", "x"), ("a/link/x", "x"),
            ("..\\x", "..\\x"),
        ])
    func confined(_ output: String, _ expected: String) {
        let links: Set<String> = ["d/link", "d/a/link"]
        #expect(OutputName.confined(output, in: "d", isSymbolicLink: { links.contains($0) }) == expected)
    }

    @Test("a directory of the command line and a name of the list are joined")
    func joined() throws {
        #expect(try specs("http://h/ out=../x\n", ["-d", "d/"])[0].destination == .file("d/x"))
        #expect(try specs("http://h/ out=a/x\n", ["-d", "d"], links: ["d/a"])[0].destination == .file("d/x"))
    }

    @Test("lines are the same however the bytes come")
    func chunks() throws {
        var random = SeededGenerator(seed: 7)
        let lines = (0..<200).map { _ in
            String(repeating: "x", count: Int.random(in: 0...40, using: &random))
        }
        let bytes = Array(lines.joined(separator: "\n").utf8) + [0x0A]
        for _ in 0..<20 {
            var position = 0
            var sizes = SeededGenerator(seed: random.next())
            var reader = LineReader { (buffer: inout [UInt8]) in
                let count = min(Int.random(in: 1...17, using: &sizes), bytes.count - position)
                buffer.replaceSubrange(0..<count, with: bytes[position..<position + count])
                position += count
                return count
            }
            var found: [String] = []
            while let line = try reader.next() { found.append(String(decoding: line, as: UTF8.self)) }
            #expect(found == lines)
        }
    }

    @Test("a line without an end is no reason to take all memory")
    func endlessLine() {
        var reader = LineReader { (buffer: inout [UInt8]) in
            buffer[0] = 0x61
            return buffer.count
        }
        #expect(failure { _ = try reader.next() }?.message == "line 1 is longer than 1048576 bytes")
    }
}

@Suite("Output names and numbers of URLs")
struct DownloadPlanTests {
    private func destinations(_ arguments: [String]) throws -> [Destination] {
        let (configuration, operands, _) = try configured(arguments + ["--no-config"])
        let factory = SpecFactory(
            configuration: configuration, checksums: [],
            files: .init(isDirectory: { $0 == "dir" }, isSymbolicLink: { _ in false }), listName: "")
        var check = try DownloadPlan(factory: factory, operands: operands, list: nil)
        _ = try check.check()
        var plan = try DownloadPlan(factory: factory, operands: operands, list: nil)
        var destinations: [Destination] = []
        while let spec = try plan.next() { destinations.append(spec.destination) }
        return destinations
    }

    @Test("where files go")
    func places() throws {
        #expect(try destinations(["http://h/a"]) == [.directory(".")])
        #expect(try destinations(["http://h/a", "-d", "d"]) == [.directory("d")])
        #expect(try destinations(["http://h/a", "-o", "x"]) == [.file("x")])
        #expect(try destinations(["http://h/a", "-o", "x", "-d", "d"]) == [.file("d/x")])
        #expect(try destinations(["http://h/a", "-o", "/x", "-d", "d"]) == [.file("/x")])
        #expect(try destinations(["http://h/a", "-o", "-"]) == [.standardOutput])
        #expect(try destinations(["http://h/a", "http://h/b", "-o", "dir"]) == [.file("dir"), .file("dir")])
        #expect(
            try destinations(["http://h/a", "-o", "x", "http://h/b", "-o", "y"]) == [.file("x"), .file("y")])
        #expect(try destinations(["--glob", "http://h/[1-2]", "-o", "x#1"]) == [.file("x1"), .file("x2")])
    }

    @Test(
        "names and mirrors that do not fit the number of URLs are refused",
        arguments: [
            (["http://h/a", "http://h/b", "-o", "x"], "--output names one file, and there are 2 URLs"),
            (["--glob", "http://h/[1-3]", "-o", "x"], "--output names one file, and there are 3 URLs"),
            (
                ["http://h/a", "http://h/b", "http://h/c", "-o", "x", "-o", "y"],
                "--output was given 2 times for 3 URLs"
            ),
            (
                ["http://h/a", "http://h/b", "--mirror", "http://m/"],
                "--mirror needs exactly one URL, and there are 2"
            ),
        ])
    func mismatches(_ arguments: [String], _ message: String) {
        #expect(failure { _ = try destinations(arguments) }?.message == message)
    }
}
