import HaulCore
import HaulEngine

/// Reads the lists of `--checksums`; those that are URLs are fetched by the engine first.
enum ChecksumLoader {
    /// A list is never larger, bytes.
    private static let limit: Int64 = 64 << 20

    static func isURL(_ name: String) -> Bool { name.contains("://") }

    static func file(_ path: String) throws(HaulError) -> SpecFactory.NamedList {
        guard let file = try SmallFile.read(path) else {
            throw HaulError(.usage, "there is no checksum list \(path)")
        }
        return .init(name: path, list: try ChecksumList(parsing: file.bytes, file: path))
    }

    /// Fetches a list into a directory of its own, which is gone afterwards.
    static func fetch<Engine>(
        _ url: String, _ configuration: GetConfiguration, for operand: String?, temporaryDirectory: String?,
        session: inout EngineSession<Engine>
    ) async throws(HaulError) -> SpecFactory.NamedList {
        let reference = try URLReference(parsing: url)
        let directory = try SmallFile.temporaryDirectory(base: temporaryDirectory)
        defer { SmallFile.removeDirectory(directory) }
        let path = "\(directory)/list"
        let options = options(configuration.download, for: reference, given: operand)
        _ = try await session.fetch(DownloadSpec(urls: [url], destination: .file(path), options: options))
        guard let file = try SmallFile.read(path) else {
            throw HaulError(
                .partialGone, "the checksum list \(reference.redacted) vanished after it was fetched")
        }
        let name = reference.redacted
        return .init(name: name, list: try ChecksumList(parsing: file.bytes, file: name))
    }

    /// As the downloads, but whole, small and alone.
    ///
    /// What identifies the user was given for the origin of the download, and goes with the list only when
    /// that has the same one.
    static func options(
        _ download: DownloadOptions, for list: URLReference, given operand: String?
    ) -> DownloadOptions {
        var options = download
        options.checksums = []
        options.range = nil
        options.method = nil
        options.body = nil
        options.referer = nil
        options.refreshCommand = []
        options.rateLimit = nil
        options.connections = .fixed(1)
        options.maximumLength = limit
        options.resume = .never
        options.ifExists = .replace
        options.syncs = false
        let origin = operand.flatMap { try? URLReference(parsing: $0) }?.origin
        if origin != list.origin {
            options.credentials = nil
            options.bearer = nil
            options.awsSigV4 = nil
            options.headers = []
        }
        return options
    }
}
