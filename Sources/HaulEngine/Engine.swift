package import HaulCore
import HaulDisk
import HaulPlatform
import HaulTransfer

/// What holds for all downloads of one engine.
package struct EngineOptions: Sendable {
    package var jobs = AutoCount.auto
    /// Bytes a second, all downloads together.
    package var maximumRate: Int64?
    /// Whether the owner wants `.head` events.
    package var reportsHeads = false
    /// Seeds the jitter of retries; `nil`: from the system.
    package var seed: UInt64?

    package init() {}
}

/// Runs downloads: owns the machines, and carries out what they decide.
///
/// Everything that happens reaches it through one ordered inbox; it never blocks.
package actor Engine {
    /// All events in order, those of one moment together; ends after `shutdown`.
    package nonisolated let events: AsyncStream<[EngineEvent]>
    private let continuation: AsyncStream<[EngineEvent]>.Continuation
    let inbox: Inbox<Inbound>
    private let loop: TransferLoop
    /// Commands and events of the turn that is going on: they leave together at its end.
    private var commands: [TransferCommand] = []
    private var outgoing: [EngineEvent] = []
    let pool = WorkerPool(threads: 4)
    let directories: DirectoryCache
    let publisher: BatchQueue<WholePublisher.Job>
    let preparer: BatchQueue<(id: DownloadID, preparation: Preparation)>
    let options: EngineOptions

    var runs: [DownloadID: Run] = [:]
    /// Those of them that are not queued any more.
    var active: [DownloadID: Run] = [:]
    /// Which run a transfer belongs to.
    var owners: [TransferID: DownloadID] = [:]
    var scheduler: QueueScheduler
    private var hostNumbers: [Origin: Int] = [:]
    var governors: [Origin: Governor] = [:]
    /// The fastest answer of hosts that speak HTTP/2, seconds.
    var fastestResponse: [Origin: Double] = [:]
    /// Runs that would like a connection of a host that had no room.
    var waitingForHost: Set<DownloadID> = []
    /// Hosts that were asked over TLS and answered over HTTP/1.1.
    var singleConnectionHosts: Set<Origin> = []
    var hostConnections = 4
    /// What is under way, and who asked for the same: they go on when it ended.
    var followers: [Run.Subject: [DownloadID]] = [:]
    /// Small bodies that are being published after their place in the queue was given away.
    var unpublished = 0
    /// The most connections that a download was explicitly allowed.
    var mostFixedConnections = 1
    private var lastDownload: UInt64 = 0
    private var lastTransfer: UInt64 = 0
    private var jitter: Jitter
    private var isServing = false
    /// The earliest time that a run that was touched in this turn waits for.
    private var earliest: Instant?
    private var alarm: (at: Instant, task: Task<Void, Never>)?
    var shutdownError: HaulError?
    var closers: [CheckedContinuation<Void, Never>] = []

    /// One thing that happened elsewhere.
    enum Inbound: Sendable {
        case transfers([TransferEvent])
        case prepared([(DownloadID, Result<Preparation.Found, HaulError>)])
        case claimed(DownloadID, TransferID, Result<Claim, HaulError>)
        case restarted(DownloadID, HaulError?)
        case compared(DownloadID, TransferID, Bool)
        case verified(DownloadID, Result<[ChecksumValue], HaulError>)
        case published(DownloadID, Result<Publication, HaulError>)
        case whole([(DownloadID, WholePublisher.Outcome)])
        case synced(DownloadID)
        case refreshed(DownloadID, source: Int, LinkAnswer)
        case released(DownloadID)
        /// A file that another holds may be free by now.
        case waitedLongEnough(DownloadID)
        case alarm
    }

    /// - Throws: `SystemFailure` when the system has no thread to give.
    package init(options: EngineOptions) throws {
        (events, continuation) = AsyncStream.makeStream()
        let inbox = Inbox<Inbound>()
        self.inbox = inbox
        self.options = options
        loop = try TransferLoop { inbox.post(.transfers($0)) }
        directories = DirectoryCache(system: LiveSystem())
        publisher = BatchQueue(pool: pool, workers: 2, batchSize: 64) {
            inbox.post(.whole(WholePublisher.publish($0)))
        }
        preparer = BatchQueue(pool: pool, workers: 1, batchSize: 32) { batch in
            inbox.post(
                .prepared(
                    batch.map { item in
                        (item.id, Result { () throws(HaulError) in try item.preparation.find() })
                    }))
        }
        jitter = Jitter(seed: options.seed)
        switch options.jobs {
        case .auto: scheduler = QueueScheduler(limit: 64, hostLimit: 6)
        case .fixed(let count): scheduler = QueueScheduler(limit: count, hostLimit: count)
        }
        if let rate = options.maximumRate { loop.post(.limitAll(rate)) }
    }

    // MARK: For the owner

    /// Takes downloads on; each starts when the queue's turn comes to it.
    ///
    /// - Returns: their ids, in the same order.
    package func add(_ specs: [DownloadSpec]) -> [DownloadID] {
        serve()
        let ids = specs.map(takeOn)
        startWaiting()
        endTurn()
        return ids
    }

    private func takeOn(_ spec: DownloadSpec) -> DownloadID {
        lastDownload += 1
        let id = DownloadID(lastDownload)
        do {
            let urls = try parse(spec)
            let run = Run(id: id, spec: spec, urls: urls, now: MonotonicClock.now)
            runs[id] = run
            if case .fixed(let count) = spec.options.connections {
                mostFixedConnections = max(mostFixedConnections, count)
            }
            scheduler.add(id, host: hostNumber(of: run.primary.origin))
            tell(.stateChanged(id, .queued))
        } catch {
            tell(.stateChanged(id, .failed))
            tell(.failed(id, error))
        }
        return id
    }

    /// How everything that runs stands now.
    package func samples() -> [DownloadSample] {
        let now = MonotonicClock.now
        return active.values.sorted { $0.id < $1.id }.map { run in
            let total = run.machine.length
            return DownloadSample(
                id: run.id, state: run.state, name: run.claimedName ?? run.primary.redacted,
                received: min(run.machine.done, total ?? .max), total: total,
                rate: run.machine.rate(at: now) ?? 0, remaining: run.machine.remainingTime(at: now),
                connections: run.transfers.count)
        }
    }

    /// Changes the limit of all downloads together, bytes a second; `nil`: none.
    ///
    /// Takes effect at once.
    package func limitAll(_ rate: Int64?) {
        loop.post(.limitAll(rate))
    }

    /// Changes the limit of one download, bytes a second; `nil`: none.
    ///
    /// Takes effect at once.
    package func limit(_ id: DownloadID, _ rate: Int64?) {
        loop.post(.limit(id, rate))
    }

    /// Stops every transfer, makes what is on disk resumable, and closes: every download that has not ended ends in
    /// `.failed` with the error given.
    package func shutdown(because error: HaulError) async {
        guard shutdownError == nil else { return }
        serve()
        shutdownError = error
        for run in runs.values.sorted(by: { $0.id < $1.id }) {
            perform(run.machine.interrupted(error), run)
        }
        endTurn()
        if !runs.isEmpty { await withCheckedContinuation { closers.append($0) } }
        alarm?.task.cancel()
        loop.close()
        pool.close()
        inbox.finish()
        continuation.finish()
    }

    private func parse(_ spec: DownloadSpec) throws(HaulError) -> [URLReference] {
        if let shutdownError { throw shutdownError }
        let urls = if let read = spec.references { read } else { try DownloadSpec.read(spec.urls) }
        for url in urls {
            guard url.scheme != "file" || spec.options.allowsFileURLs else {
                throw HaulError(
                    .unsupportedScheme, "\(url.redacted) is a local file",
                    advice: "allow it with --allow-file")
            }
        }
        guard !urls.isEmpty else { throw HaulError(.usage, "a download needs a URL") }
        if let range = spec.options.range, RequestBuilder.window(range) == nil {
            throw HaulError(.usage, "\(range) is not a range", advice: "give --range as 0-99 or 100-")
        }
        return urls
    }

    // MARK: The inbox

    private func serve() {
        guard !isServing else { return }
        isServing = true
        Task { [weak self, inbox] in
            while let messages = await inbox.next() { await self?.receive(messages) }
        }
    }

    private func receive(_ messages: [Inbound]) {
        for message in messages { handle(message) }
        startWaiting()
        setAlarm()
        endTurn()
    }

    /// Queues a command for the transfer thread.
    func command(_ command: TransferCommand) { commands.append(command) }

    /// Queues an event for the owner.
    func tell(_ event: EngineEvent) { outgoing.append(event) }

    private func endTurn() {
        if !commands.isEmpty {
            loop.post(commands)
            commands.removeAll(keepingCapacity: true)
        }
        if !outgoing.isEmpty {
            continuation.yield(outgoing)
            outgoing.removeAll(keepingCapacity: true)
        }
    }

    /// The queue knows hosts by number.
    func hostNumber(of origin: Origin) -> Int {
        if let known = hostNumbers[origin] { return known }
        hostNumbers[origin] = hostNumbers.count
        return hostNumbers.count - 1
    }

    func nextTransfer() -> TransferID {
        lastTransfer += 1
        return TransferID(lastTransfer)
    }

    func nextJitter() -> Double { jitter.next() }

    // MARK: Time

    /// Notes when a run wants to be looked at again, now that something happened to it.
    func noteDeadline(of run: Run) {
        guard let own = deadline(of: run) else { return }
        earliest = min(earliest ?? own, own)
    }

    /// One sleeper, for the earliest thing that any machine waits for.
    private func setAlarm() {
        guard let next = earliest else { return }
        earliest = nil
        let now = MonotonicClock.now
        if let alarm, alarm.at <= next.advanced(by: 0.005) { return }
        alarm?.task.cancel()
        let wait = Duration.nanoseconds(max(0, min(next.nanoseconds - now.nanoseconds, 3_600_000_000_000)))
        let inbox = inbox
        alarm = (
            next,
            Task {
                guard (try? await Task.sleep(for: wait)) != nil else { return }
                inbox.post(.alarm)
            }
        )
    }

    /// What the run waits for, seen from when it was last asked what it wants: what has come due since then is
    /// in the past, and not nothing.
    private func deadline(of run: Run) -> Instant? {
        guard !run.hasEnded else { return nil }
        return [wakeTime(of: run), run.machine.configuration.retry.deadline].compactMap { $0 }.min()
    }

    private func wakeTime(of run: Run) -> Instant? {
        let own = run.machine.deadline(now: run.lastAsked)
        guard waitingForHost.contains(run.id) else { return own }
        let hosts = run.machine.sources.compactMap { source -> Instant? in
            guard case .notBefore(let until) = governors[source.current.origin]?.admission(now: run.lastAsked)
            else { return nil }
            return until
        }
        return (hosts + [own].compactMap { $0 }).min()
    }

    /// Nothing runs, and nothing is left that could wake it: an error is better than silence for ever.
    func isStuck(_ run: Run) -> Bool {
        !run.hasEnded && run.transfers.isEmpty && run.jobs == 0 && run.refreshes == 0
            && !waitingForHost.contains(run.id)
            && wakeTime(of: run) == nil
    }

    func alarmRang() {
        alarm = nil
        let now = MonotonicClock.now
        for run in active.values.sorted(by: { $0.id < $1.id }) where !run.hasEnded {
            if let deadline = run.machine.configuration.retry.deadline, now >= deadline {
                let error = HaulError(
                    .timeLimit, "\(run.primary.redacted) took longer than the time limit allows",
                    advice: "raise --max-time, or run again to continue")
                perform(run.machine.interrupted(error), run)
                continue
            }
            perform(run.machine.ticked(now: now), run)
            goOn(run)
        }
    }
}

/// Random numbers for the jitter of retries: SplitMix64, seeded for tests.
private struct Jitter {
    private var state: UInt64

    init(seed: UInt64?) {
        state = seed ?? UInt64.random(in: .min ... .max)
    }

    /// 0 ..< 1, uniform.
    mutating func next() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Double(mixed >> 11) / Double(1 << 53)
    }
}
