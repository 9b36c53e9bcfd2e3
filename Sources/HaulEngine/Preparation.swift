import HaulCore
import HaulDisk
import HaulPlatform

/// What is found on disk before the first request.
///
/// Blocking; runs on the disk pool.
struct Preparation: Sendable {
    let destination: Destination
    @Boxed var options: DownloadOptions
    let digests: [SourceDigest]
    let primary: URLReference
    let directories: DirectoryCache

    init(
        destination: Destination, options: Boxed<DownloadOptions>, digests: [SourceDigest],
        primary: URLReference, directories: DirectoryCache
    ) {
        self.destination = destination
        _options = options
        self.digests = digests
        self.primary = primary
        self.directories = directories
    }

    struct Found: Sendable {
        var directory: TargetDirectory
        /// The name that the user gave; `nil`: to be suggested.
        var userName: String?
        var partial: PartialFile?
        var earlier: DownloadMachine.Found?
        /// Validators of the finished file from the same source.
        var condition: Validator?
        /// Something has the expected name.
        var isNameTaken = false
        /// That file's path: nothing is to be done if it has not changed.
        var existing: String?
        var existingLength: Int64?
        /// What that file was found to hold.
        var verified: [ChecksumValue] = []
        /// A file of that name came from the same source and does not have the checksum.
        var outdatedName: String?
        /// The logins that `--netrc` names.
        var netrc: Netrc?
        var outcome = Outcome.goOn
    }

    enum Outcome: Sendable {
        case goOn
        /// With so many bytes.
        case wasThere(Int64)
        case failed(HaulError)
        /// Another download holds the partial file, of this process or of another.
        case busy(HaulError, isOurs: Bool)
    }

    func find() throws(HaulError) -> Found {
        do throws(SystemFailure) {
            let (path, userName) = try place()
            let directory = try directories.open(path)
            var found = Found(directory: directory, userName: userName)
            if let file = options.connection.netrcFile { found.netrc = try readNetrc(file) }
            try lookAtExisting(&found)
            if case .goOn = found.outcome { try lookForPartial(&found) }
            return found
        } catch {
            throw DiskErrors.error(error)
        }
    }

    /// The directory, and the name in it if the user fixed one.
    private func place() throws(SystemFailure) -> (directory: String, name: String?) {
        switch destination {
        case .standardOutput: return (".", nil)
        case .directory(let path): return (path.isEmpty ? "." : path, nil)
        case .file(let path):
            if path.hasSuffix("/") || directories.isDirectory(path) { return (path, nil) }
            guard let slash = path.lastIndex(of: "/") else { return (".", path) }
            let parent = slash == path.startIndex ? "/" : String(path[..<slash])
            return (parent, String(path[path.index(after: slash)...]))
        }
    }

    private func lookAtExisting(_ found: inout Found) throws(SystemFailure) {
        guard destination != .standardOutput else { return }
        let name = FileName.choose(
            user: found.userName, disposition: nil, finalURL: nil, firstURL: primary, mediaType: nil)
        guard let existing = try found.directory.existing(name), existing.kind != .directory else { return }
        found.isNameTaken = true
        let path = found.directory.path(of: name)
        guard existing.kind != .other || found.userName == nil else {
            found.outcome = .failed(
                HaulError(
                    .fileExists, "\(path) is a device or a pipe, not a file",
                    advice: "write to standard output with --output - and redirect it"))
            return
        }
        let isOurs = existing.origin.map { !$0.sources.filter(digests.contains).isEmpty } ?? false
        switch options.ifExists {
        case .skip where found.userName != nil:
            found.existing = path
            found.outcome = .wasThere(existing.size)
        case .fail where found.userName != nil:
            found.outcome = .failed(DiskErrors.error(PartialFailure.nameTaken(path: path)))
        case .auto where !options.checksums.isEmpty && options.resume != .never && isPlain:
            // Whatever a server would say of it: the checksum decides.
            if TakenName.holds(existing, name, in: found.directory, options.checksums) {
                found.existing = path
                found.verified = options.checksums
                found.outcome = .wasThere(existing.size)
            } else {
                found.outdatedName = name
            }
        case .auto where isOurs && options.resume != .never && isPlain:
            found.condition = existing.origin?.validator
            found.existing = path
            found.existingLength = existing.size
        case .auto, .replace, .rename, .skip, .fail: break
        }
    }

    private func readNetrc(_ path: String) throws(SystemFailure) -> Netrc {
        let file = try directories.system.open(path, in: nil, .readFollowing)
        let bytes = try directories.system.read(Preparation.longestNetrc, from: file, at: 0)
        return Netrc(String(decoding: bytes, as: UTF8.self))
    }

    private static let longestNetrc = 1 << 20

    /// A conditional request makes sense only for the whole file by GET.
    private var isPlain: Bool {
        options.range == nil && options.body == nil && (options.method ?? "GET") == "GET"
    }

    private func lookForPartial(_ found: inout Found) throws(SystemFailure) {
        guard destination != .standardOutput else { return }
        let candidate =
            if let name = found.userName {
                try found.directory.partial(forExplicitName: name, digests: digests)
            } else {
                try found.directory.findPartial(digests)
            }
        guard let candidate, isWelcome(candidate) else { return }
        do throws(PartialFailure) {
            let partial = try found.directory.reopen(candidate)
            found.partial = partial
            guard !candidate.isDamaged, let facts = candidate.facts else { return }
            found.earlier = DownloadMachine.Found(
                facts: facts, done: partial.usable, matchesURL: candidate.matchesURL)
        } catch {
            switch error {
            case .busy(let pid):
                found.outcome = .busy(DiskErrors.error(error), isOurs: pid == directories.system.processID)
            case .removedUnderUs: break
            default: found.outcome = .failed(DiskErrors.error(error))
            }
        }
    }

    /// A partial of another URL under the same explicit name: only a strong validator can tell that it is the same.
    private func isWelcome(_ candidate: FoundPartial) -> Bool {
        candidate.matchesURL || candidate.isDamaged || candidate.facts?.validator.ifRangeValue() != nil
    }
}
