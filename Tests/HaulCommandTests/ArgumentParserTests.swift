import HaulCore
import HaulEngine
import Testing

@testable import HaulCommand

@Suite("Arguments")
struct ArgumentParserTests {
    @Test(
        "values come after a space, an equals sign, or right after a letter",
        arguments: [
            ["--output", "x"], ["--output=x"], ["-o", "x"], ["-ox"], ["-qox"], ["-qo", "x"], ["--out", "x"],
        ])
    func values(_ arguments: [String]) throws {
        let (configuration, operands, _) = try configured(arguments + ["http://h/"])
        #expect(configuration.outputs == ["x"])
        #expect(operands == ["http://h/"])
    }

    @Test("letters of flags can be joined")
    func joinedFlags() throws {
        let (configuration, _, _) = try configured(["-qv4k", "http://h/"])
        #expect(configuration.isQuiet && configuration.isVerbose)
        #expect(configuration.download.connection.family == .ipv4)
        #expect(configuration.download.connection.isInsecure)
    }

    @Test("everything after -- is a URL")
    func doubleDash() throws {
        let parsed = try ArgumentParser.parse(["-q", "--", "get", "--output"])
        #expect(parsed.operands == ["get", "--output"])
        #expect(!parsed.isCommandNamed)
    }

    @Test(
        "the command may be left out, and may stand after options",
        arguments: [
            (["http://h/"], CommandName.get, ["http://h/"]), (["get", "http://h/"], .get, ["http://h/"]),
            (["-q", "verify", "x"], .verify, ["x"]), (["version"], .version, []),
            (["help", "get"], .help, ["get"]), (["get", "get"], .get, ["get"]),
        ])
    func commands(_ arguments: [String], _ command: CommandName, _ operands: [String]) throws {
        let parsed = try ArgumentParser.parse(arguments)
        #expect(parsed.command == command)
        #expect(parsed.operands == operands)
    }

    @Test(
        "a mistake is an error with the way out",
        arguments: [
            (["--limitrate", "3"], "there is no option '--limitrate'", "--limit-rate"),
            (["--conections=3"], "there is no option '--conections'", "--connections"),
            (["--no-sequential"], "there is no option '--no-sequential'", "--sequential"),
            (["--frobnicate"], "there is no option '--frobnicate'", "haul help get"),
            (["-W"], "there is no option '-W'", "haul help get"),
            (["--output"], "--output needs a value", "--output FILE"),
            (["http://h/", "-c"], "-c needs a value", "-c auto|N"),
            (
                ["verify", "--limit-rate", "3"], "'haul verify' has no option '--limit-rate'",
                "haul help verify"
            ),
            (["inspect", "-q"], "'haul inspect' has no option '--quiet'", "haul help inspect"),
        ])
    func mistakes(_ arguments: [String], _ message: String, _ advice: String) {
        let error = failure { _ = try ArgumentParser.parse(arguments) }
        #expect(error?.code == .usage)
        #expect(error?.message == message)
        #expect(error?.advice == advice)
    }

    @Test(
        "an option of another tool is answered with Haul's own way",
        arguments: [
            (["-L"], "-L", "leave it out: Haul follows redirects by itself"),
            (["--location"], "--location", "leave it out: Haul follows redirects by itself"),
            (["-C", "-"], "-C", "leave it out: Haul continues by itself what was cut off"),
            (["--continue=true"], "--continue", "leave it out: Haul continues by itself what was cut off"),
            (["-sSL"], "-s", "--quiet, or for connections -c N"),
            (["-s5"], "-s", "--quiet, or for connections -c N"),
            (["-qf"], "-f", "leave it out: Haul never takes an error page for the file"),
            (["-nc"], "-nc", "--if-exists skip"), (["-nd"], "-n", "--netrc"),
            (["--retry", "3"], "--retry", "--retries N"), (["--max-tries=3"], "--max-tries", "--retries N"),
            (["--split", "5"], "--split", "--connections N"),
            (["--load-cookies", "c"], "--load-cookies", "--cookies FILE"),
            (["--no-check-certificate"], "--no-check-certificate", "--insecure"),
            (["-P", "dir"], "-P", "--dir DIR"),
            (["--timeout=3"], "--timeout", "--stall-timeout TIME, and --connect-timeout TIME"),
        ])
    func foreign(_ arguments: [String], _ shown: String, _ advice: String) {
        let error = failure { _ = try ArgumentParser.parse(arguments + ["http://h/"]) }
        #expect(error?.code == .usage)
        #expect(error?.message == "there is no option '\(shown)'")
        #expect(error?.advice == advice)
    }

    @Test("what stands for an option of another tool is an option, and Haul has none of that name")
    func foreignTable() throws {
        for option in ForeignOption.all {
            for word in (option.use.map { "--\($0)" } ?? option.why ?? "").split(separator: " ")
            where word.hasPrefix("--") {
                let found = try #require(OptionTable.find(String(word.dropFirst(2))), "\(word)")
                #expect(option.use == nil || found.isFlag != option.use?.contains(" "), "\(word)")
            }
            for name in option.names {
                #expect(OptionTable.find(name) == nil, "\(name)")
                if name.count == 1 { #expect(OptionTable.find(short: Character(name)) == nil, "\(name)") }
            }
        }
    }

    @Test("-c without a number tells that nothing need be said to continue")
    func wgetContinue() {
        let error = failure { _ = try configured(["-c", "http://h/x"]) }
        #expect(error?.message == "--connections: 'http://h/x' is not auto or a whole number from 1 to 128")
        #expect(error?.advice == "-c N; to continue, leave -c out: Haul does that by itself")
        #expect(failure { _ = try configured(["-c", "999"]) }?.advice == nil)
    }

    @Test("a flag can be said to be off, so that a settings file can be overruled")
    func flagsOff() throws {
        let files = ["/c": "insecure\nsequential = yes\n"]
        let (on, _, _) = try configured(["--config", "/c"], files: files)
        #expect(on.download.connection.isInsecure && on.download.isSequential)
        let (off, _, _) = try configured(["--config", "/c", "--insecure=no"], files: files)
        #expect(!off.download.connection.isInsecure && off.download.isSequential)
    }

    @Test("the arguments that hold secrets are known by index and offset")
    func secrets() throws {
        let arguments = ["-u", "me:pw", "--bearer=tok", "-Hname: v", "--user", "@file", "http://u:p@h/?q"]
        let parsed = try ArgumentParser.parse(arguments)
        #expect(
            parsed.secrets == [
                SecretArgument(index: 1, offset: 0, kind: .whole),
                SecretArgument(index: 2, offset: 9, kind: .whole),
                SecretArgument(index: 3, offset: 2, kind: .headerValue),
                SecretArgument(index: 6, offset: 0, kind: .url),
            ])
    }
}

@Suite("Secrets in the process list")
struct SecretScrubberTests {
    @Test(
        "exactly the secret bytes are overwritten",
        arguments: [
            ("--bearer=tok", 9, OptionDefinition.Secret.whole, "--bearer=xxx"), ("me:pw", 0, .whole, "xxxxx"),
            ("Authorization: Bearer t", 0, .headerValue, "Authorization: xxxxxxxx"),
            ("Name", 0, .headerValue, "Name"),
            ("Name:", 0, .headerValue, "Name:"), ("https://u:p@h/a?k=v#f", 0, .url, "https://xxx@h/a?xxxxx"),
            ("https://h/a@b", 0, .url, "https://h/a@b"), ("u:p@h/a", 0, .url, "xxx@h/a"),
            ("https://h/?", 0, .url, "https://h/?"),
            ("--proxy=http://u:p@h:1", 8, .url, "--proxy=http://xxx@h:1"),
            ("https://a@b@h/", 0, .url, "https://xxx@h/"), ("x", 0, .none, "x"), ("", 0, .url, ""),
        ])
    func hidden(_ argument: String, _ offset: Int, _ kind: OptionDefinition.Secret, _ expected: String) {
        var bytes = Array(argument.utf8)
        for range in SecretScrubber.hidden(bytes, SecretArgument(index: 0, offset: offset, kind: kind)) {
            for index in range { bytes[index] = UInt8(ascii: "x") }
        }
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }
}

@Suite("Nearest names")
struct NearestNameTests {
    static let names = OptionTable.all.map(\.name)

    @Test(
        "the name with the fewest wrong letters is found",
        arguments: [
            ("ouptut", "output"), ("hedaer", "header"), ("limitrate", "limit-rate"), ("max-rat", "max-rate"),
            ("sequ", "sequential"), ("check-sum", "checksum"), ("progres", "progress"), ("aws", "aws-sigv4"),
        ])
    func found(_ word: String, _ name: String) {
        #expect(NearestName.find(word, among: NearestNameTests.names) == name)
    }

    @Test(
        "words that are like nothing get no suggestion",
        arguments: ["frobnicate", "zz", "", "continue-at", "load-cookies", "timeout"])
    func notFound(_ word: String) {
        #expect(NearestName.find(word, among: NearestNameTests.names) == nil)
    }

    @Test(
        "the distance counts swapped neighbours once",
        arguments: [
            ("", "", 0), ("", "ab", 2), ("ab", "", 2), ("ab", "ba", 1), ("abc", "abd", 1),
            ("abcd", "acbd", 1),
            ("kitten", "sitting", 3),
        ])
    func distance(_ left: String, _ right: String, _ distance: Int) {
        #expect(NearestName.distance(Array(left.utf8), Array(right.utf8)) == distance)
    }
}
