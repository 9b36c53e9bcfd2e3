import HaulCore
import HaulEngine

/// Makes one download of a URL and of what was said about it.
struct SpecFactory: Sendable {
    /// A list of checksums with its name, for messages.
    struct NamedList: Sendable {
        let name: String
        let list: ChecksumList
    }

    let configuration: GetConfiguration
    let checksums: [NamedList]
    let files: DownloadPlan.Files
    /// The name of the input file, for messages.
    let listName: String

    /// A URL of the command line.
    ///
    /// `number`: Which of the URLs, from 0.
    /// `captures`: What the brackets of the URL became.
    func spec(url: String, number: Int, captures: [String]) throws(HaulError) -> DownloadSpec {
        let outputs = configuration.outputs
        let output = outputs.count > 1 ? (number < outputs.count ? outputs[number] : nil) : outputs.first
        let name = output.map { captures.isEmpty ? $0 : GlobPattern.filled($0, captures: captures) }
        return try spec(
            [url] + configuration.mirrors, destination(name, in: configuration.directory),
            configuration.download)
    }

    /// An entry of an input file.
    func spec(for entry: InputEntry) throws(HaulError) -> DownloadSpec {
        do {
            guard !entry.options.isEmpty else {
                let place = destination(configuration.outputs.first, in: configuration.directory)
                return try spec(entry.urls, place, configuration.download)
            }
            return try specWithOptions(for: entry)
        } catch {
            throw located(error, entry.line)
        }
    }

    /// Throws what `spec(for:)` would, in less time: half a million lines are checked before the first byte comes.
    ///
    /// `names`: the files that were named so far; one that the entry names comes in.
    func check(_ entry: InputEntry, _ names: inout ExplicitNames) throws(HaulError) {
        do {
            let own = entry.options.isEmpty ? configuration : try applied(entry)
            if let output = own.outputs.last, !entry.options.isEmpty {
                let name = OutputName.confined(
                    output, in: own.directory ?? ".", isSymbolicLink: files.isSymbolicLink)
                try names.add(destination(name, in: own.directory), files)
            }
            if checksums.isEmpty, entry.urls.allSatisfy(PlainURL.isSurelyValid) { return }
            _ = try checked(DownloadSpec.read(entry.urls), allowsFiles: own.download.allowsFileURLs)
        } catch {
            throw located(error, entry.line)
        }
    }

    private func specWithOptions(for entry: InputEntry) throws(HaulError) -> DownloadSpec {
        let own = try applied(entry)
        guard let output = own.outputs.last else {
            let place = destination(configuration.outputs.first, in: own.directory)
            return try spec(entry.urls, place, own.download)
        }
        let name = OutputName.confined(
            output, in: own.directory ?? ".", isSymbolicLink: files.isSymbolicLink)
        return try spec(entry.urls, destination(name, in: own.directory), own.download)
    }

    /// The settings with what the entry says itself; `outputs` is its own name, or empty.
    private func applied(_ entry: InputEntry) throws(HaulError) -> GetConfiguration {
        var own = configuration
        own.outputs = []
        for option in entry.options {
            let input = OptionInput(name: option.definition.name, text: option.text, source: .list) {
                (_) throws(HaulError) in throw HaulError(.usage, "a list cannot name other files")
            }
            do {
                try option.definition.apply(&own, input)
            } catch {
                throw located(error, option.line)
            }
        }
        if own.outputs.contains("-") { throw HaulError(.usage, "a list cannot write to standard output") }
        if own.download.body != nil, own.download.method == nil { own.download.method = "POST" }
        return own
    }

    /// Whether the names fit the number of downloads; known only when all were counted.
    func check(count: Int, operands: Int) throws(HaulError) {
        let outputs = configuration.outputs
        if !configuration.mirrors.isEmpty, count != 1 {
            throw HaulError(
                .usage, "--mirror needs exactly one URL, and there are \(count)",
                advice: "an input file with mirrors separated by tabs")
        }
        if outputs.count > 1 {
            guard outputs.count == operands, count == operands || configuration.usesGlob else {
                let urls = count == 1 ? "one URL" : "\(count) URLs"
                throw HaulError(.usage, "--output was given \(outputs.count) times for \(urls)")
            }
            return
        }
        guard let first = outputs.first, count > 1 else { return }
        let isPattern = configuration.usesGlob && first.contains("#1")
        if first == "-" || isPattern || first.hasSuffix("/")
            || files.isDirectory(path(first, in: configuration.directory))
        {
            return
        }
        throw HaulError(
            .usage, "--output names one file, and there are \(count) URLs",
            advice: configuration.usesGlob ? "--output 'name#1', or --dir DIR" : "--dir DIR")
    }

    // MARK: Parts

    /// Checks the URLs, and adds the checksums that lists give for the first of them.
    private func spec(
        _ urls: [String], _ place: Destination, _ options: DownloadOptions
    ) throws(HaulError) -> DownloadSpec {
        var spec = try DownloadSpec(reading: urls, destination: place, options: options)
        spec.options.checksums += try checked(spec.references ?? [], allowsFiles: options.allowsFileURLs)
        return spec
    }

    /// - Returns: what the lists say of the first URL.
    private func checked(
        _ references: [URLReference], allowsFiles: Bool
    ) throws(HaulError) -> [ChecksumValue] {
        for reference in references {
            if reference.scheme == "file", !allowsFiles {
                throw HaulError(
                    .unsupportedScheme, "\(reference.redacted) is a file of this machine",
                    advice: "--allow-file")
            }
        }
        guard !checksums.isEmpty, let path = references.first?.path else { return [] }
        let decoded = String(decoding: URLReference.percentDecoded(path), as: UTF8.self)
        var values: [ChecksumValue] = []
        for named in checksums { values += try named.list.values(for: decoded, file: named.name) }
        return values
    }

    private func destination(_ output: String?, in directory: String?) -> Destination {
        guard let output else { return .directory(directory ?? ".") }
        if output == "-" { return .standardOutput }
        return .file(path(output, in: directory))
    }

    private func path(_ output: String, in directory: String?) -> String {
        guard let directory, !output.hasPrefix("/") else { return output }
        return directory.hasSuffix("/") ? directory + output : "\(directory)/\(output)"
    }

    private func located(_ error: HaulError, _ line: Int) -> HaulError {
        let place = "\(listName) line \(line): "
        guard !error.message.hasPrefix("\(listName) line ") else { return error }
        return HaulError(.usage, place + error.message, advice: error.advice)
    }
}

/// The files that the user named: two downloads of one command into one file would lose one of them.
struct ExplicitNames {
    private var paths: Set<String> = []

    /// - Throws: `.usage` for a file that was named before.
    mutating func add(_ destination: Destination, _ files: DownloadPlan.Files) throws(HaulError) {
        guard case .file(let path) = destination, !path.hasSuffix("/"), !files.isDirectory(path) else {
            return
        }
        guard paths.insert(ExplicitNames.plain(path)).inserted else {
            throw HaulError(
                .usage, "two downloads are to become \(path)", advice: "give each a name of its own")
        }
    }

    /// Without what leads nowhere else: `a/./b` and `a/x/../b` are `a/b`.
    private static func plain(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." {
                parts.removeLast()
            } else {
                parts.append(part)
            }
        }
        return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
    }
}

/// Names that a list gives: they stay in their directory, whatever they say.
enum OutputName {
    /// A relative path below the directory as it is; of one that would leave it (absolute, with `..`, or through a
    /// symbolic link) only the last component.
    static func confined(
        _ output: String, in directory: String, isSymbolicLink: (String) -> Bool
    ) -> String {
        let parts = output.split(separator: "/").filter { $0 != "." }
        let last = parts.last.map(String.init) ?? "_"
        let safeLast = last == ".." ? "_" : last
        guard !output.hasPrefix("/"), !parts.contains(".."), !parts.isEmpty else { return safeLast }
        var path = directory
        for part in parts.dropLast() {
            path += "/\(part)"
            if isSymbolicLink(path) { return safeLast }
        }
        return parts.joined(separator: "/")
    }
}
