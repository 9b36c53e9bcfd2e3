/// The commands there are.
package enum CommandName: String, Sendable, CaseIterable {
    case get
    case verify
    case inspect
    case help
    case version

    /// One line for the help.
    package var summary: String {
        switch self {
        case .get: "download URLs (the word 'get' may be left out)"
        case .verify: "check files against checksums"
        case .inspect: "show what an unfinished NAME.part holds"
        case .help: "explain a command, or list all options"
        case .version: "print the version"
        }
    }

    /// What follows the name.
    package var synopsis: String {
        switch self {
        case .get: "[options] URL..."
        case .verify: "[options] [FILE...]"
        case .inspect: "[--json] FILE.part..."
        case .help: "[COMMAND] [--format man|markdown|bash|zsh|fish]"
        case .version: "[--json]"
        }
    }

    /// What a person has to know beyond the summary, in lines for the help; empty: nothing.
    package var explanation: String {
        switch self {
        case .get, .help, .version: ""
        case .verify:
            """
            Each FILE is read and compared with --checksum, or with its entry in the list
            of --checksums; without FILE all files of the list are. Nothing is changed or
            downloaded but a list that is a URL. Exit status: 0 all are right, 9 one is not,
            3 one cannot be read.

            """
        case .inspect:
            """
            Tells the final name and length, how much of the file a next run can use, how
            much of that would survive a power cut, and whether a process has it now.
            Nothing is changed. Exit status: 0, or 3 when there is no such file.

            """
        }
    }

    /// Command lines with what they do.
    package var examples: [(line: String, meaning: String)] {
        switch self {
        case .get:
            [
                ("haul https://host/big.iso", "into this directory; run again to continue"),
                ("haul https://host/x -o name", "under a name of your own"),
                ("haul -i urls.txt --checksums SHA256SUMS -d mirror", "a list, each file checked"),
                ("haul https://a.host/x --mirror https://b.host/x", "the same bytes from two places"),
                ("haul https://host/x --limit-rate 2M --max-time 1h", "politely, and not for ever"),
                ("tar xf \"$(haul -q https://host/x.tar)\"", "the path goes to standard output"),
            ]
        case .verify:
            [
                ("haul verify x.iso --checksum sha256:HEX", "one file"),
                ("haul verify --checksums SHA256SUMS", "all files of a list"),
                ("haul verify --checksums SHA256SUMS *.iso", "some of them"),
                ("haul verify --checksums SHA256SUMS -d mirror", "files that lie elsewhere"),
            ]
        case .inspect:
            [
                ("haul inspect big.iso.part", "for people"),
                ("haul inspect --json *.part", "for programs"),
            ]
        case .help: [("haul help verify", "one command"), ("haul help get", "all options")]
        case .version: []
        }
    }
}
