/// The life of one run of one download: events in, actions out.
///
/// Pure; time and jitter are arguments. Never copied: asking it something costs no count of its parts.
/// Every run ends in exactly one `.finish` or `.fail`; after it nothing but cancellations comes out.
package struct DownloadMachine: ~Copyable, Sendable {
    /// What the run was asked to be.
    package struct Configuration: Hashable, Sendable {
        package var sources: [URLReference]
        /// `nil`: adaptive.
        package var connections: Int?
        package var minimumSplit: Int64 = 1 << 20
        package var isSequential = false
        package var retry = RetryPolicy()
        package var resume = ResumePolicy.overlap
        package var hasChecksum = false
        package var allowsDowngrade = false
        package var maximumLength: Int64?
        /// Written in order to a pipe: no segments, no way back.
        package var isStream = false
        /// Only this part of the remote file is wanted (`--range`).
        package var window: ByteRange?
        /// A request with a method of its own (or a body) is made once, whole (RFC 9110 §9.2.2).
        package var method = "GET"
        package var isPlainGet: Bool { method == "GET" }
        /// Idempotent methods (RFC 9110 §9.2.2) may be asked again without a second effect.
        package var isRepeatable: Bool { ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"].contains(method) }
        package var hasRefresher = false
        /// The user limits the rate: nothing is won by looking often.
        package var isLimited = false

        package init(sources: [URLReference]) { self.sources = sources }
    }

    /// Bytes of an earlier run.
    package struct Found: Hashable, Sendable {
        package var facts: RemoteFile
        package var done: RangeSet
        /// They came from one of this run's sources by its URL.
        package var matchesURL: Bool

        package init(facts: RemoteFile, done: RangeSet, matchesURL: Bool) {
            self.facts = facts
            self.done = done
            self.matchesURL = matchesURL
        }
    }

    enum Phase: Hashable {
        case idle
        /// The first answer is awaited; one transfer at a time.
        case probing
        /// The name is being claimed, or the partial reset: `claiming` tells which.
        case claiming
        case fetching
        case verifying
        case publishing
        case ended
    }

    /// One transfer that runs.
    struct Running: Hashable {
        var work: TransferWork
        var started: Instant
        var isDelivering = false
        var bytes: Int64 = 0
        var meter: SpeedMeter
        var firstDelivery: Instant?
        /// An end was asked for and not yet answered.
        var isMoving = false
        /// It was ended by the machine itself; its end is no failure.
        var isCancelled = false
    }

    @Boxed package private(set) var configuration: Configuration
    package internal(set) var sources: [DownloadSource]
    package internal(set) var file: RemoteFile?
    package internal(set) var plan: SegmentPlan?
    var phase = Phase.idle
    var running: [TransferID: Running] = [:]
    var tuner: ConnectionTuner
    var meter: SpeedMeter
    var condition: Validator?
    /// Bytes of another URL under the name that is wanted: used only if the first answer proves them the same.
    var foreign: Found?
    /// The probe whose claim is not answered yet; `nil` while the partial is reset.
    var claiming: TransferID?
    /// The partial is to be reset as soon as the claim of it is answered: the two must not overlap on disk.
    var wantsRestart = false
    /// What is on disk is given up with the next answer that brings the file, not before.
    var isVoid = false
    /// When the last failure that counts was.
    var lastCounted: Instant?
    /// Ranges are not usable: one stream from byte 0.
    var rangesFailed = false
    /// Bytes this run received into the file.
    package internal(set) var received: Int64 = 0
    var restarts = 0
    /// The most connections that received a body at once: so many the host allows.
    var mostDelivering = 0
    var checksumFailures = 0
    /// After a mismatch with several sources: only this one is asked.
    var soloSource: Int?
    var usedSamples = false
    /// Extra connections were refused: no more of them in this run.
    var segmentationEnded = false
    /// Samples that are being compared with the disk, by source.
    var comparing: [Int: TransferID] = [:]

    package init(_ configuration: Configuration, now: Instant) {
        precondition(!configuration.sources.isEmpty)
        _configuration = Boxed(wrappedValue: configuration)
        sources = configuration.sources.map(DownloadSource.init)
        tuner = ConnectionTuner(fixed: configuration.connections)
        meter = SpeedMeter(now: now)
    }

    // MARK: Looking

    package var isEnded: Bool { phase == .ended }
    package var isFetching: Bool { phase == .fetching }
    package var connections: Int { running.count }
    package var delivering: Int { running.values.count { $0.isDelivering } }
    /// Bytes in the file that count.
    package var done: Int64 { plan?.done.count ?? 0 }
    package var length: Int64? { file?.length }

    /// What a running transfer asks.
    package func url(of id: TransferID) -> URLReference? { running[id]?.work.url }

    package func isDelivering(_ id: TransferID) -> Bool { running[id]?.isDelivering ?? false }

    package func rate(at now: Instant) -> Double? { meter.rate(at: now) }

    package func remainingTime(at now: Instant) -> Double? {
        length.flatMap { meter.remaining(max(0, $0 - done), at: now) }
    }

    /// When the machine wants `ticked` at the latest; `nil`: never.
    package func deadline(now: Instant) -> Instant? {
        switch phase {
        case .fetching where !running.isEmpty:
            now.advanced(by: configuration.isLimited ? DownloadMachine.limitedTick : DownloadMachine.tick)
        case .probing, .fetching: earliestRetry(now: now)
        default: nil
        }
    }

    // MARK: Begin and end

    /// Begins the run.
    ///
    /// `found` are bytes of an earlier run, already opened; `condition` holds the validators of a finished file from
    /// the same source, for a conditional request.
    package mutating func started(found: Found?, condition: Validator?, now: Instant) -> [DownloadAction] {
        guard phase == .idle else { return bug("started twice") }
        meter = SpeedMeter(now: now)
        self.condition = condition
        phase = .probing
        guard let found else { return [.state(.probing)] }
        guard found.matchesURL else {
            foreign = found.facts.length == nil || found.done.isEmpty ? nil : found
            return foreign == nil ? [.setAside, .state(.probing)] : [.state(.probing)]
        }
        guard let length = found.facts.length else {
            // The journal's ranges must not stand beside bytes of this run.
            return beginAgain(.notice(.restarted("its length was never known")))
        }
        return resumed(found, length: length)
    }

    package mutating func interrupted(_ error: HaulError) -> [DownloadAction] {
        end(.fail(error))
    }

    /// The terminal event, and the end of all transfers.
    mutating func end(_ last: DownloadAction) -> [DownloadAction] {
        guard phase != .ended else { return [] }
        phase = .ended
        return cancelAll() + [last]
    }

    mutating func cancelAll() -> [DownloadAction] {
        let ids = running.keys.sorted()
        for id in ids { running[id]?.isCancelled = true }
        return ids.map { .cancel($0) }
    }

    /// An event that makes no sense in this state: said aloud, in a way that loses nothing.
    func bug(_ what: String) -> [DownloadAction] {
        assertionFailure("DownloadMachine: \(what) in \(phase)")
        return []
    }

    // MARK: Disk

    /// The partial file of a probe is open.
    package mutating func claimed(_ probe: TransferID, now: Instant) -> [DownloadAction] {
        // The answer to an older probe's claim says nothing about the one that runs now.
        guard phase == .claiming, claiming == probe else { return [] }
        claiming = nil
        if wantsRestart {
            wantsRestart = false
            return [.restart]
        }
        phase = .fetching
        guard running[probe] != nil else { return fetchOn(now: now) }
        return [.state(.downloading), .proceed(probe)] + arrange(now: now)
    }

    /// Somebody else writes the file that was to be claimed: everything begins anew once it can be had.
    package mutating func claimIsHeld(_ probe: TransferID) -> [DownloadAction] {
        guard phase == .claiming, claiming == probe else { return [] }
        claiming = nil
        wantsRestart = false
        file = nil
        plan = nil
        condition = nil
        for index in sources.indices {
            sources[index].trust = .unknown
            sources[index].validator = nil
        }
        phase = .idle
        return cancelAll() + [.lookAgain]
    }

    /// The partial is empty again.
    package mutating func restarted(now: Instant) -> [DownloadAction] {
        guard phase == .claiming, claiming == nil else { return [] }
        phase = .probing
        return []
    }

    package mutating func diskFailed(_ error: HaulError) -> [DownloadAction] {
        end(.fail(error))
    }

    /// The file stands there already, and need not be fetched.
    package mutating func wasThere() -> [DownloadAction] {
        end(.finish(wasThere: true))
    }

    package mutating func verified(_ failure: Failure?, now: Instant) -> [DownloadAction] {
        guard phase == .verifying else { return [] }
        guard let failure else {
            phase = .publishing
            return [.publish(length: file?.length ?? 0)]
        }
        return checksumFailed(failure)
    }

    package mutating func published() -> [DownloadAction] {
        guard phase == .publishing || phase == .verifying else { return [] }
        return end(.finish(wasThere: false))
    }

    // MARK: Time

    package mutating func ticked(now: Instant) -> [DownloadAction] {
        guard phase == .fetching, let plan else { return [] }
        let remaining = max(0, (length ?? plan.length) - plan.done.count)
        if isSplittable {
            tuner.sample(received: received, delivering: delivering, remaining: remaining, now: now)
        }
        return arrange(now: now)
    }

    /// Seconds between looks at the connections.
    private static let tick = 0.1
    private static let limitedTick = 0.5

    private func earliestRetry(now: Instant) -> Instant? {
        sources.filter(\.isAlive).compactMap(\.notBefore).filter { $0 > now }.min()
    }
}
