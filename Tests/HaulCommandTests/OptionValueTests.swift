import HaulCore
import HaulEngine
import Testing

@testable import HaulCommand

@Suite("Values of options")
struct OptionValueTests {
    private func error(_ arguments: [String]) -> HaulError? {
        failure { _ = try configured(arguments + ["http://h/", "--no-config"]) }
    }

    @Test(
        "sizes and rates have units",
        arguments: [
            ("1", 1), ("500K", 512_000), ("500k", 512_000), ("2M", 2 << 20), ("1.5MiB", 3 << 19),
            ("2Mi", 2 << 20),
            ("1kB", 1000), ("3MB", 3_000_000), ("1G", 1 << 30), ("2.5M", 5 << 19), ("100b", 100),
            ("7K/s", 7168),
        ])
    func rates(_ text: String, _ bytes: Int64) throws {
        #expect(try configured(["--limit-rate", text]).configuration.download.rateLimit == bytes)
    }

    @Test("a rate of 0 is no limit")
    func noLimit() throws {
        #expect(try configured(["--limit-rate", "0"]).configuration.download.rateLimit == nil)
    }

    @Test(
        "what is no rate is refused",
        arguments: ["", "x", "5Q", "-1", "1e3", "1.2.3", ".", "inf", "K", "5 K", "0x10"])
    func badRates(_ text: String) {
        #expect(error(["--limit-rate=\(text)"])?.message.contains("is not a rate") == true)
    }

    @Test(
        "times are seconds, with fractions and units",
        arguments: [
            ("30", 30.0), ("1.5", 1.5), ("500ms", 0.5), ("2m", 120), ("1h", 3600), ("7s", 7), (".5", 0.5),
            ("2d", 172_800),
        ])
    func seconds(_ text: String, _ seconds: Double) throws {
        #expect(try configured(["--max-time", text]).configuration.download.maximumTime == seconds)
    }

    @Test(
        "an error says what would be right",
        arguments: [
            (["-c", "0"], "--connections: '0' is out of range: from 1 to 128"),
            (["-c", "many"], "--connections: 'many' is not auto or a whole number from 1 to 128"),
            (
                ["-j", "99999999999999999999"],
                "--jobs: '99999999999999999999' is out of range: from 1 to 1024"
            ),
            (["--min-split-size", "1K"], "--min-split-size: '1K' is out of range: from 64K to 1T"),
            (["--connect-timeout", "0"], "--connect-timeout: '0' is out of range: from 0.1 to 3600 seconds"),
            (
                ["--stall-timeout", "x"],
                "--stall-timeout: 'x' is not a time such as 30 or 1.5 (seconds), 500ms, 2m, 1h or 7d"
            ),
            (["--limit-rate", "0.5"], "--limit-rate: '0.5' is out of range: it is less than one byte"),
            (["--max-rate", "0.0001K"], "--max-rate: '0.0001K' is out of range: it is less than one byte"),
            (["--max-filesize", ".9"], "--max-filesize: '.9' is out of range: it is less than one byte"),
            (["--mirror", "nonsense"], "--mirror: the value is not a URL"),
            (["--mirror", "http://"], "--mirror: the URL http:// is not valid: the host is missing"),
            (["--retries", "-1"], "--retries: '-1' is not inf or a whole number from 0 to 1000000"),
            (["--resume", "foo"], "--resume: 'foo' is not strict, overlap, length or never"),
            (["--sync", "maybe"], "--sync: 'maybe' is not yes or no"),
            (["--insecure=maybe"], "--insecure: 'maybe' is not yes or no"),
            (["--output="], "--output: the value is empty"),
            (["--range", "5-2"], "--range: '5-2' is not a range: it ends before it starts"),
            (["--range", "-50"], "--range: '-50' is not one range of bytes such as 0-99 or 100-"),
            (
                ["--range", "0-1,5-6"],
                "--range: '0-1,5-6' is not one range of bytes such as 0-99 or 100-"
            ),
            (["--method", "HEAD"], "--method: 'HEAD' is not a method that gives a file: use GET or POST"),
            (["--method", "G T"], "--method: 'G T' is not a method such as GET or POST"),
            (["--resolve", "h:443"], "--resolve: 'h:443' is not HOST:PORT:ADDRESS"),
            (["--on-finished", "a 'b"], "--on-finished: a quote or backslash has no end"),
            (["--on-failed", " "], "--on-failed: there is no program to run"),
            (
                ["--checksum", "sha256:abc"],
                "--checksum: 'sha256:abc' is not a checksum: sha-256 has 64 hexadecimal digits"
            ),
            (
                ["--checksum", "crc32:00"],
                "--checksum: 'crc32:00' is not a checksum: give ALGO:HEX with one of sha-512, sha-256, sha-1, md5"
            ),
        ])
    func messages(_ arguments: [String], _ message: String) {
        #expect(error(arguments)?.message == message)
    }

    @Test("a mistyped choice gets the nearest one as advice")
    func choiceAdvice() {
        #expect(error(["--resume", "overlapp"])?.advice == "--resume overlap")
    }

    @Test("ranges of bytes are kept as they were given", arguments: ["0-99", "100-", "7-7"])
    func ranges(_ range: String) throws {
        #expect(try configured(["--range", range]).configuration.download.range == range)
    }

    @Test("checksums are read with and without hyphens, with a colon or an equals sign")
    func checksums() throws {
        let hex = "d41d8cd98f00b204e9800998ecf8427e"
        for text in ["md5:\(hex)", "MD5:\(hex.uppercased())", "md5=\(hex)"] {
            #expect(
                try configured(["--checksum", text]).configuration.download.checksums.map(\.hex) == [hex])
        }
        let sha = String(repeating: "0", count: 40)
        #expect(
            try configured(["--checksum", "sha-1:\(sha)"]).configuration.download.checksums.first?.algorithm
                == .sha1)
    }

    @Test("retries without end are said by inf")
    func retries() throws {
        #expect(try configured(["--retries", "inf"]).configuration.download.retries == nil)
        #expect(try configured(["--retries", "0"]).configuration.download.retries == 0)
    }

    @Test("a body makes the method POST, unless one was given")
    func method() throws {
        #expect(try configured(["--data", "x"]).configuration.download.method == "POST")
        #expect(try configured(["--data", "x", "-X", "put"]).configuration.download.method == "PUT")
        #expect(try configured([]).configuration.download.method == nil)
    }

    @Test(
        "header fields are cut at the first colon",
        arguments: [
            ("Accept: text/html", "Accept", "text/html"), ("X:a:b", "X", "a:b"), ("X-Empty:", "X-Empty", ""),
            ("X:  spaced \t", "X", "spaced"), ("X: ünï", "X", "ünï"),
        ])
    func headers(_ text: String, _ name: String, _ value: String) throws {
        #expect(try configured(["-H", text]).configuration.download.headers == [HeaderField(name, value)])
    }

    @Test(
        "header fields that break a request are refused, and their values are not repeated",
        arguments: [
            "secret", ": secret", "A B: secret", "X: secret\r\nY: z", "X: secret\0", "X\n: secret",
            "Range: secret",
            "content-length: secret", "Ünï: secret", "X: secret\u{7F}",
        ])
    func badHeaders(_ text: String) {
        let error = error(["-H", text])
        #expect(error?.code == .usage)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("fields can be read from a file")
    func headerFile() throws {
        let files = ["/h": "A: 1\r\n\nB: 2\n"]
        let (configuration, _, _) = try configured(["-H", "@/h"], files: files)
        #expect(configuration.download.headers == [HeaderField("A", "1"), HeaderField("B", "2")])
    }

    @Test("user and password come from the option, a file or the environment, and the option wins")
    func users() throws {
        let files = ["/u": "me:p:w\nsecond line\n"]
        let environment = ["HAUL_USER": "env:x", "HAUL_PROXY_USER": "prx:y"]
        let expected = Credentials(user: "me", password: "p:w")
        #expect(try configured(["-u", "me:p:w"]).configuration.download.credentials == expected)
        #expect(try configured(["-u", "@/u"], files: files).configuration.download.credentials == expected)
        let (configuration, _, _) = try configured([], environment: environment)
        #expect(configuration.download.credentials == Credentials(user: "env", password: "x"))
        #expect(configuration.download.connection.proxyCredentials == Credentials(user: "prx", password: "y"))
        let (both, _, _) = try configured(["-u", "me:p:w"], environment: environment)
        #expect(both.download.credentials == expected)
    }

    @Test("errors about secrets do not repeat them", arguments: ["secret\n:x", ":secret", ""])
    func secretErrors(_ text: String) {
        #expect(error(["--user", text])?.description.contains("secret") == false)
        #expect(
            error(["--bearer", text.isEmpty ? text : "secret\n"])?.description.contains("secret") == false)
    }

    @Test("netrc is the file in the home directory, the one the variable names, or the one given")
    func netrc() throws {
        let home = ["HOME": "/home/me"]
        let file = { (arguments: [String], environment: [String: String]) throws in
            try configured(arguments + ["--no-config"], environment: environment).configuration.download
                .connection
                .netrcFile
        }
        #expect(try file([], home) == nil)
        #expect(try file(["--netrc"], home) == "/home/me/.netrc")
        #expect(try file(["--netrc"], ["HOME": "/h", "NETRC": "/n"]) == "/n")
        #expect(try file(["--netrc", "--netrc-file", "/f"], home) == "/f")
    }

    @Test(
        "a command is split like a shell's words, and nothing is replaced",
        arguments: [
            ("a b", ["a", "b"]), ("  a\t b ", ["a", "b"]), ("'a b' c", ["a b", "c"]),
            (#""a \"b\" $X" 'c\d'"#, [#"a "b" $X"#, #"c\d"#]), (#"a\ b"#, ["a b"]),
            ("a''b \"\"", ["ab", ""]),
            (#""a\nb""#, [#"a\nb"#]), ("sh -c 'x; y > z'", ["sh", "-c", "x; y > z"]),
        ])
    func words(_ text: String, _ words: [String]) throws {
        #expect(try CommandLineWords.split(text, label: "") == words)
    }
}
