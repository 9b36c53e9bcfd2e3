import HaulCore
import HaulDisk
import HaulPlatform
import HaulTransfer

/// One run of one download while it lasts: its machine, and what the machine's decisions act on.
///
/// Isolated to the engine; never leaves it.
final class Run {
    let id: DownloadID
    let spec: DownloadSpec
    private(set) var builder: RequestBuilder
    /// Digests of the sources' identities: what a partial is found by.
    let digests: [SourceDigest]
    let started: Instant
    var machine: DownloadMachine
    var state = DownloadState.queued
    var directory: TargetDirectory?
    /// The name that the user gave; `nil`: to be suggested.
    var userName: String?
    var partial: PartialFile?
    var sink: (any ByteSink)?
    /// A partial that turned out to be of another file; it is kept as it is.
    var aside: PartialFile?
    /// The final path once it is claimed or published.
    var path: String?
    var claimedName: String?
    /// Transfers on the wire, with the host that each is counted at.
    var transfers: [TransferID: Origin] = [:]
    /// Bodies and samples that came in memory and wait for what the machine decides.
    var bytes: [TransferID: [UInt8]] = [:]
    var cookies: [String]
    var schemes: [Origin: TransferRequest.Scheme] = [:]
    /// Bytes that came over the network.
    var received: Int64 = 0
    var verified: [ChecksumValue] = []
    /// The terminal event, once the machine decided it; sent when nothing of the run is alive any more.
    var ending: Ending?
    /// Jobs on the disk pool.
    var jobs = 0
    /// Programs that look for a fresh link.
    var refreshes = 0
    /// When the machine was last asked which request it wants.
    var lastAsked: Instant
    var lastDurable: Instant
    var sinceDurable: Int64 = 0
    var sinceWriteback: Int64 = 0
    var isSyncing = false
    /// The partial is to be emptied once no transfer writes to it any more.
    var wantsRestart = false
    /// A whole body is kept in a partial file that was there already.
    var storesWhole = false
    var wholeLength: Int64?
    /// Bytes of the finished file that a conditional request asks about.
    var existingLength: Int64?
    /// A file of that name came from the same source and does not have the checksum that is wanted now.
    var outdatedName: String?
    /// Something had the expected name before the first request.
    var isNameTaken = false
    /// Its place in the queue was given to another when its last byte had come.
    var hasFreedSlot = false
    /// Transfers whose head was told already.
    var reportedHeads: Set<TransferID> = []

    enum Ending {
        case finished(wasThere: Bool)
        case failed(HaulError)
    }

    init(id: DownloadID, spec: DownloadSpec, urls: [URLReference], now: Instant) {
        self.id = id
        self.spec = spec
        builder = RequestBuilder(options: spec.$options, sources: urls)
        digests = urls.map { SourceDigest.of($0.identity + Run.variant(spec.options.headers)) }
        started = now
        lastAsked = now
        lastDurable = now
        cookies = spec.options.cookies
        machine = DownloadMachine(Run.configuration(spec, urls, builder.window, now), now: now)
    }

    private static func configuration(
        _ spec: DownloadSpec, _ urls: [URLReference], _ window: ByteRange?, _ now: Instant
    ) -> DownloadMachine.Configuration {
        let options = spec.options
        var configuration = DownloadMachine.Configuration(sources: urls)
        if case .fixed(let count) = options.connections { configuration.connections = count }
        configuration.minimumSplit = max(64 << 10, options.minimumSplit)
        configuration.isSequential = options.isSequential
        configuration.retry = RetryPolicy(
            limit: options.retries, wait: options.retryWait,
            deadline: options.maximumTime.map { now.advanced(by: $0) })
        configuration.retry.isLimitGiven = options.retriesAreGiven
        configuration.resume = options.resume
        configuration.hasChecksum = !options.checksums.isEmpty
        configuration.allowsDowngrade = options.allowsDowngrade
        configuration.maximumLength = options.maximumLength
        configuration.isStream = spec.destination == .standardOutput
        configuration.window = window
        configuration.method = options.method ?? (options.body == nil ? "GET" : "POST")
        configuration.hasRefresher = !options.refreshCommand.isEmpty
        configuration.isLimited = options.rateLimit != nil
        return configuration
    }

    /// What makes two downloads the same: the source and where it goes.
    struct Subject: Hashable {
        var source: SourceDigest
        var destination: Destination
    }

    var subject: Subject? {
        guard spec.destination != .standardOutput, let source = digests.first else { return nil }
        return Subject(source: source, destination: spec.destination)
    }

    /// The same URL gives other bytes to who asks for another language or type.
    private static func variant(_ headers: [HeaderField]) -> String {
        headers.filter { $0.name.lowercased().hasPrefix("accept") }
            .map { "\n\($0.name.lowercased()): \($0.value)" }.sorted().joined()
    }

    func use(_ netrc: Netrc?) { builder.netrc = netrc }

    var primary: URLReference { builder.sources[0] }

    var hasEnded: Bool { machine.isEnded }

    /// What must hold: the user's checksums, else what the server said of the whole file.
    var expectedChecksums: [ChecksumValue] {
        spec.options.checksums.isEmpty ? machine.file?.digests ?? [] : spec.options.checksums
    }

    /// What the journal is to say.
    func header(named name: String, length: Int64? = nil) -> JournalHeader {
        var file = machine.file ?? RemoteFile()
        if let length { file.length = length }
        return JournalHeader(sources: digests, file: file, finalName: name)
    }

    var origin: FileOrigin? {
        guard builder.window == nil, machine.configuration.isPlainGet else { return nil }
        return machine.file.map { FileOrigin(sources: digests, validator: $0.validator) }
    }

    /// What publishing does when the final name is taken.
    var publishPolicy: PublishPolicy {
        switch spec.options.ifExists {
        case .replace: .replace
        case .rename: .rename
        case .fail: .fail
        case .auto, .skip: userName == nil ? .rename : .replace
        }
    }

    /// The name a suggested one may be changed from, when it is taken.
    var keepsName: Bool { publishPolicy != .rename }

    var modificationTime: Int64? {
        spec.options.keepsRemoteTime ? machine.file?.validator.lastModified : nil
    }
}
