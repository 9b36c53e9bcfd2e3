import Foundation
import Testing

@testable import HaulCommand

@Suite("Help and documents")
struct HelpTests {
    @Test("the short help is one screen")
    func short() {
        let lines = HelpText.short.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count - 1 <= 24)
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(
            HelpText.short.hasPrefix(
                "haul - download files, surely and fast\n\nusage: haul [get] [options] URL..."))
        #expect(HelpText.short.hasSuffix("\n"))
    }

    @Test("what the short help shows exists")
    func shortIsTrue() {
        for line in HelpText.short.split(separator: "\n") where line.contains("--") {
            for word in line.split(separator: " ") where word.hasPrefix("--") {
                #expect(OptionTable.find(String(word.dropFirst(2))) != nil)
            }
        }
    }

    @Test("the help of every command fits 80 columns", arguments: CommandName.allCases)
    func commands(_ command: CommandName) {
        let text = HelpText.command(command)
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(text.hasPrefix("haul \(command.rawValue) - "))
        for option in OptionTable.options(of: command) { #expect(text.contains("--\(option.name)")) }
    }

    @Test("the help of verify, word for word")
    func verify() {
        #expect(
            HelpText.command(.verify) == """
                haul verify - check files against checksums

                usage: haul verify [options] [FILE...]

                Each FILE is read and compared with --checksum, or with its entry in the list
                of --checksums; without FILE all files of the list are. Nothing is changed or
                downloaded but a list that is a URL. Exit status: 0 all are right, 9 one is not,
                3 one cannot be read.

                Files:
                  -d, --dir DIR                look for the files in DIR

                What to compare with:
                      --checksum ALGO:HEX      what the file must be (repeatable)
                      --checksums FILE|URL     the list: verify its files, or those named

                Output:
                      --json                   results as JSON lines on standard output
                  -q, --quiet                  only what is not as it should be

                General:
                      --config FILE            settings file (default ~/.config/haul/haul.conf)
                      --no-config              do not read a settings file
                  -h, --help                   print help
                  -V, --version                print the version

                Examples:
                  haul verify x.iso --checksum sha256:HEX         one file
                  haul verify --checksums SHA256SUMS              all files of a list
                  haul verify --checksums SHA256SUMS *.iso        some of them
                  haul verify --checksums SHA256SUMS -d mirror    files that lie elsewhere

                """)
    }

    @Test("the examples are command lines that parse", arguments: CommandName.allCases)
    func examples(_ command: CommandName) throws {
        for (line, meaning) in command.examples where line.hasPrefix("haul ") {
            let words = line.split(separator: " ").dropFirst().map(String.init)
            #expect(try ArgumentParser.parse(words).command == command, "\(line)")
            #expect(!meaning.isEmpty)
        }
        #expect(!command.examples.isEmpty || command == .version)
    }

    @Test("the manual has examples, and refers to no file of the source")
    func manual() {
        let text = HelpFormat.man.document
        #expect(text.contains("\n.SH EXAMPLES\n.TP\n.B haul https://host/big.iso\n"))
        #expect(!text.contains("docs/") && text.contains("share/doc/haul"))
    }

    @Test("the values that have units are explained, and named by their options")
    func values() {
        let names = HelpText.quantityMeanings.map(\.placeholder)
        #expect(names == ["SIZE", "RATE", "TIME"])
        for name in names { #expect(OptionTable.all.contains { $0.placeholder == name }) }
        #expect(OptionTable.find("max-time")?.placeholder == "TIME")
        #expect(HelpText.command(.get).contains("\nValues:\n  SIZE  bytes:"))
    }

    @Test("names and letters are given once")
    func unique() {
        let names = OptionTable.all.map(\.name)
        let letters = OptionTable.all.compactMap(\.short)
        #expect(Set(names).count == names.count)
        #expect(Set(letters).count == letters.count)
        #expect(Set(OptionTable.aliases.keys).isDisjoint(with: names))
        for (alias, name) in OptionTable.aliases {
            #expect(OptionTable.find(name)?.manual.contains("--\(alias)") == true, "\(alias)")
        }
    }

    @Test("summaries are short, and are no sentences", arguments: OptionTable.all.map(\.name))
    func summaries(_ name: String) throws {
        let option = try #require(OptionTable.find(name))
        #expect(option.summary.count <= 49)
        #expect(!option.summary.hasSuffix("."))
        #expect(option.manual.isEmpty || option.manual.hasSuffix("."))
        #expect(
            option.name.utf8.allSatisfy {
                ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D || $0 == 0x2E
            })
    }

    @Test("every option is in every document", arguments: HelpFormat.allCases)
    func documents(_ format: HelpFormat) {
        let text = format.document.replacing("\\-", with: "-")
        for option in OptionTable.all {
            #expect(
                text.contains(format == .fish ? "-l \(option.name) " : "--\(option.name)"), "\(option.name)")
        }
    }

    @Test(
        "the documents in the repository are those of the table",
        arguments: [
            (HelpFormat.man, "share/man/haul.1"), (.markdown, "docs/options.md"),
            (.bash, "share/completions/haul.bash"),
            (.zsh, "share/completions/_haul"), (.fish, "share/completions/haul.fish"),
        ])
    func upToDate(_ format: HelpFormat, _ path: String) throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let text = try String(contentsOfFile: "/\(root)/\(path)", encoding: .utf8)
        #expect(text == format.document, "make generate")
    }

    @Test("the page of exit statuses knows every code")
    func exitStatusPage() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let lines = try String(contentsOfFile: "/\(root)/docs/exit-status.md", encoding: .utf8).split(
            separator: "\n")
        for code in ExitStatusTests.codes {
            let status = ExitStatus.of(code)
            #expect(lines.contains { $0.hasPrefix("| \(status) |") && $0.contains("`\(code)`") }, "\(code)")
        }
    }

    @Test(
        "help and version are printed whatever else was said",
        arguments: [
            (["--help"], "usage: haul [get]"), (["get", "--help"], "haul get - "),
            (["-q", "-h", "http://h/"], "usage: haul [get]"),
            (["help"], "usage: haul [get]"), (["help", "verify"], "haul verify - "),
            (["help", "--format", "man"], ".TH HAUL 1"),
            (["--version"], "haul \(VersionCommand.version)\n"),
            (["version", "--json"], "{\"name\":\"haul\""),
        ])
    func printed(_ arguments: [String], _ text: String) async {
        let captured = Captured()
        #expect(await HaulMain.run(arguments, world: captured.world()) == 0)
        #expect(captured.output.contains(text))
        #expect(captured.error.isEmpty)
    }

    @Test(
        "mistakes get the status of a mistake, and the way out",
        arguments: [
            (["lst"], "haul: there is no command 'lst'\n  try: haul help\n"),
            (["verfy"], "haul: there is no command 'verfy'\n  try: haul verify\n"),
            (["help", "gt"], "haul: there is no command 'gt'\n  try: haul get\n"),
            (["help", "--format", "pdf"], "haul: --format: 'pdf' is not man, markdown, bash, zsh or fish\n"),
            (["--limitrate"], "haul: there is no option '--limitrate'\n  try: --limit-rate\n"),
            (["--no-config"], "haul: there is no URL\n  try: haul https://..., or haul --help\n"),
            (
                ["--no-config", "-"],
                "haul: '-' is not a URL\n  try: --input-file - to read URLs from standard input\n"
            ),
            (["inspect"], "haul: there is no file to inspect\n  try: haul inspect NAME.part\n"),
        ])
    func mistakes(_ arguments: [String], _ text: String) async {
        let captured = Captured()
        #expect(await HaulMain.run(arguments, world: captured.world()) == 2)
        #expect(captured.error == text)
        #expect(captured.output.isEmpty)
    }
}
