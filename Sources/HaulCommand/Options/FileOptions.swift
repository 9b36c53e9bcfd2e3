import HaulCore
import HaulEngine

extension OptionTable {
    /// Where the bytes go and what joins them.
    static let files: [OptionDefinition] = [
        OptionDefinition(
            "output", "o", "FILE", in: .files, .download, "write to FILE; - is standard output",
            manual: """
                A directory means: in it, under the suggested name. Given once for each URL, the names go with the URLs \
                in order. With --glob, #1 stands for what the first bracket expanded to. Standard output gets the bytes \
                in order and cannot be resumed. --out and --output-document, as aria2 and wget call it, are the same.
                """,
            completion: .file, isSetting: false
        ) { (configuration, input) throws(HaulError) in
            configuration.outputs.append(try input.nonEmpty())
        },
        OptionDefinition(
            "dir", "d", "DIR", in: .files, .download, "put files into DIR (made when missing)",
            manual:
                "The default is the working directory. A relative --output is taken from here. verify looks for the files of a list in it. --directory-prefix, as wget calls it, is the same.",
            completion: .directory, commands: [.get, .verify],
            summaries: [.verify: "look for the files in DIR"]
        ) { (configuration, input) throws(HaulError) in
            configuration.directory = try input.nonEmpty()
        },
        OptionDefinition(
            "if-exists", nil, "POLICY", in: .files, .download,
            "if it exists: auto, replace, rename, skip, fail",
            manual: """
                auto, the default: a file that came from the same URL and has not changed on the server, or that has the \
                --checksum, is left as it is; a name given with --output, or a file that came from the same URL, was not \
                changed here since and has not the --checksum, is replaced once the new file is whole; else the new file becomes 'name (1)'. \
                replace puts the new file in the place of the old one; it suits scripts, and directories in which files may \
                be damaged.
                """,
            completion: .choices(ExistingFilePolicy.allCases.map(\.rawValue))
        ) { (configuration, input) throws(HaulError) in
            configuration.download.ifExists = try input.choice(ExistingFilePolicy.self)
        },
        OptionDefinition(
            "resume", nil, "POLICY", in: .files, .download,
            "what may continue: strict, overlap, length, never",
            manual: """
                What may join bytes of an earlier run: strict, only an equal strong validator; overlap, the default, where \
                the server gives none, also equal samples of what is on disk; length, an equal length is enough; never, \
                always start anew.
                """,
            completion: .choices(ResumePolicy.allCases.map(\.rawValue))
        ) { (configuration, input) throws(HaulError) in
            configuration.download.resume = try input.choice(ResumePolicy.self)
        },
        OptionDefinition(
            "sync", nil, "yes|no", in: .files, .download, "flush files to the disk before saying done",
            manual:
                "The default is yes: a finished file survives a power cut. no is faster for many small files.",
            completion: .choices(["yes", "no"])
        ) { (configuration, input) throws(HaulError) in
            configuration.download.syncs = try input.yesOrNo()
        },
        .flag(
            "wait", in: .files, .download, "wait when another process has the file",
            manual: "Without it such a download fails at once and names the process."
        ) { $0.download.waitsForLock = $1 },
        .flag("remote-time", in: .files, .download, "give the file the server's modification time") {
            $0.download.keepsRemoteTime = $1
        },
        OptionDefinition(
            "range", "r", "RANGE", in: .files, .download, "only these bytes: 0-99 or 100-",
            manual: "Both ends are included, counted from 0."
        ) { (configuration, input) throws(HaulError) in
            configuration.download.range = try RangeSyntax.check(input)
        },
    ]
}

/// The value of `--range`, one range as in RFC 9110 §14.1.2.
enum RangeSyntax {
    static func check(_ input: OptionInput) throws(HaulError) -> String {
        let wanted = "one range of bytes such as 0-99 or 100-"
        let parts = input.text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else { throw input.bad(wanted) }
        var ends: [Int64] = []
        for part in parts where !part.isEmpty {
            guard part.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let end = Int64(part) else {
                throw input.bad(wanted)
            }
            ends.append(end)
        }
        if ends.count == 2, ends[0] > ends[1] { throw input.bad("a range: it ends before it starts") }
        return input.text
    }
}
