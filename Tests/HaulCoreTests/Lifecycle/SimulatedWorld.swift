import HaulCore
import HaulTestSupport

/// Engine, disk and servers for a `DownloadMachine`, without any of them: simulated time, seeded chance.
///
/// Breaches of what must always hold are collected in `problems`.
struct SimulatedWorld {
    enum Event {
        case step(TransferID, Int)
        case cancel(TransferID)
        case moveEnd(TransferID, Int64)
        case proceed(TransferID)
        /// The connection breaks while its probe waits for the claim.
        case lost(TransferID)
        case claimed(TransferID, RemoteFile)
        case restarted
        case compared(TransferID, Bool)
        case verified
        case stored(TransferID)
        case published
        case refreshed(Int)
        case tick
    }

    let seed: UInt64
    let configuration: DownloadMachine.Configuration
    /// The version whose checksum was given; `nil`: none was given.
    let wanted: Int?
    var random: SeededGenerator
    var servers: [SimulatedServer]
    var hasFreshLinks = true
    /// How likely a probe is lost while its name is claimed.
    var lossProbability = 0.0
    /// Simulated seconds after which the user interrupts.
    var interruptAfter: Double?
    var disk = SimulatedDisk()
    var machine: DownloadMachine
    var now = Instant(nanoseconds: 1_000_000_000)
    private(set) var problems: [String] = []
    private(set) var terminal: DownloadAction?
    private(set) var terminals = 0
    private(set) var actions = 0
    private(set) var requests = 0
    private(set) var notices: [Notice] = []
    private var events: [(at: Instant, order: Int, event: Event)] = []
    private var order = 0
    private var transfers: [TransferID: SimulatedTransfer] = [:]
    private var hosts: [TransferID: Origin] = [:]
    private var governors: [Origin: Governor] = [:]
    private var lastTransfer: UInt64 = 0
    private var restartPending = false
    private var isClaiming = false
    private var jobs = 0
    /// The small body that came whole: its version and length.
    private var whole: (content: Int, length: Int64)?
    private var wasPublished = false
    private var streamed: Int64 = 0

    init(
        seed: UInt64, configuration: DownloadMachine.Configuration, servers: [SimulatedServer],
        wanted: Int? = nil
    ) {
        self.seed = seed
        self.configuration = configuration
        self.servers = servers
        self.wanted = wanted
        random = SeededGenerator(seed: seed ^ 0xABCD)
        machine = DownloadMachine(configuration, now: now)
    }

    static func source(_ index: Int) -> URLReference {
        // The texts are fixed, so reading them cannot fail.
        // swift-format-ignore: NeverUseForceTry
        try! URLReference(parsing: "http://s\(index).test/file")
    }

    // MARK: Running

    /// Begins a run with what is on disk; `crash` calls it again.
    mutating func start() {
        machine = DownloadMachine(configuration, now: now)
        terminal = nil
        terminals = 0
        wasPublished = false
        if configuration.isStream { (streamed, disk) = (0, SimulatedDisk()) }
        // Now and then under another URL: a fresh link to what was begun.
        let matches = Int.random(in: 0..<8, using: &random) > 0
        let found = disk.journal.map {
            DownloadMachine.Found(facts: $0.facts, done: $0.done, matchesURL: matches)
        }
        perform(machine.started(found: configuration.isStream ? nil : found, condition: nil, now: now))
        connect()
    }

    /// The process is killed: only what the journal holds is left.
    mutating func crash() {
        events = []
        transfers = [:]
        hosts = [:]
        governors = [:]
        restartPending = false
        isClaiming = false
        jobs = 0
        whole = nil
        start()
    }

    /// Plays until the run has ended and nothing of it is alive, or for so many actions.
    mutating func run(actionLimit: Int = .max) {
        let begin = now
        for _ in 0..<30_000 {
            if actions >= actionLimit { return }
            if terminal != nil, transfers.isEmpty, jobs == 0 { return }
            guard let next = nextEvent() else {
                problems.append("nothing would ever happen again, in \(machine.phaseName)")
                return
            }
            now = max(now, next.at)
            handle(next.event)
            if terminal == nil, let limit = interruptAfter, now.seconds(since: begin) > limit {
                perform(machine.interrupted(HaulError(.interrupted, "stopped")))
            }
            if terminal == nil, let deadline = configuration.retry.deadline, now >= deadline {
                perform(machine.interrupted(HaulError(.timeLimit, "too long")))
            }
            connect()
        }
        problems.append("no end after many events: \(requests) requests, \(now), in \(machine.phaseName)")
    }

    private mutating func nextEvent() -> (at: Instant, event: Event)? {
        let queued = events.indices.min {
            (events[$0].at, events[$0].order) < (events[$1].at, events[$1].order)
        }
        var alarm = terminal == nil ? machine.deadline(now: now) : nil
        if terminal == nil {
            for governor in governors.values {
                if case .notBefore(let until) = governor.admission(now: now) {
                    alarm = min(alarm ?? until, until)
                }
            }
            if let deadline = configuration.retry.deadline { alarm = min(alarm ?? deadline, deadline) }
        }
        if alarm == .distantFuture { alarm = nil }
        guard let queued else { return alarm.map { ($0, .tick) } }
        if let alarm, alarm < events[queued].at { return (alarm, .tick) }
        let entry = events.remove(at: queued)
        return (entry.at, entry.event)
    }

    private mutating func post(_ event: Event, in seconds: Double) {
        order += 1
        events.append((now.advanced(by: seconds), order, event))
    }

    private mutating func postJob(_ event: Event) {
        jobs += 1
        post(event, in: Double.random(in: 0..<0.05, using: &random))
    }

    private mutating func connect() {
        var full: Set<Int> = []
        while let source = machine.nextSource(now: now, excluding: full) {
            let origin = machine.sources[source].current.origin
            guard governors[origin, default: Governor(cap: 16)].acquire(now: now) == .granted else {
                full.insert(source)
                continue
            }
            lastTransfer += 1
            let id = TransferID(lastTransfer)
            let started = machine.connect(id, source: source, now: now)
            guard started.contains(where: { if case .start = $0 { true } else { false } }) else {
                governors[origin]?.release()
                return perform(started)
            }
            hosts[id] = origin
            perform(started)
        }
    }

    // MARK: Actions

    private mutating func perform(_ list: [DownloadAction]) {
        for action in list {
            actions += 1
            perform(action)
        }
        let cap = configuration.connections ?? ConnectionTuner.automaticCap
        if machine.connections > cap {
            problems.append("\(machine.connections) connections, more than \(cap)")
        }
    }

    private mutating func perform(_ action: DownloadAction) {
        if terminal != nil {
            switch action {
            case .cancel: break
            default: problems.append("after the end: \(action)")
            }
        }
        let delay = Double.random(in: 0..<0.01, using: &random)
        switch action {
        case .start(let id, let work):
            requests += 1
            transfers[id] = SimulatedTransfer(id: id, work: work)
            post(.step(id, 0), in: servers[work.source].latency)
        case .cancel(let id): post(.cancel(id), in: delay)
        case .moveEnd(let id, let end): post(.moveEnd(id, end), in: delay)
        case .claim(let id, let body, _):
            isClaiming = true
            postJob(.claimed(id, body.file))
        case .proceed(let id): post(.proceed(id), in: delay)
        // The partial stays for whom it belongs to; this run makes one of its own.
        case .setAside: disk = SimulatedDisk()
        case .restart: restart()
        case .compare(let id, let range): compare(id, range)
        case .storeWhole(let id, _, _): postJob(.stored(id))
        case .verify: postJob(.verified)
        case .publish(let length): publish(length)
        case .throttled(let source, let after):
            let delivering = transfers.values.count { $0.work.source == source && $0.plan != nil }
            governors[machine.sources[source].current.origin]?.throttled(
                retryAfter: after, delivering: delivering, wait: configuration.retry.wait, now: now)
        case .refresh(let source): postJob(.refreshed(source))
        case .notice(let notice): notices.append(notice)
        case .state: break
        case .finish, .fail: end(action)
        }
    }

    private mutating func restart() {
        restartPending = !transfers.isEmpty
        guard !restartPending, terminal == nil else { return }
        if isClaiming { problems.append("the partial is reset while it is claimed") }
        if configuration.isStream, streamed > 0 { problems.append("a stream cannot begin again") }
        disk.clear()
        postJob(.restarted)
    }

    private var samples: [TransferID: (version: Int, range: ByteRange)] = [:]

    private mutating func compare(_ id: TransferID, _ range: ByteRange) {
        guard let sample = samples[id] else { return problems.append("a comparison without a sample") }
        let isEqual = sample.range.contains(range) && disk.versions(in: range) == [sample.version]
        postJob(.compared(id, isEqual))
    }

    private mutating func publish(_ length: Int64) {
        let range = ByteRange(0, length)
        if configuration.isStream {
            if wanted == nil { check(disk.versions(in: range), length: length) }
            return postJob(.published)
        }
        let done = disk.journal?.done ?? RangeSet()
        if !done.contains(range) {
            problems.append("published \(range), of which only \(done) was committed")
        }
        check(disk.versions(in: range), length: length)
        if disk.shifts(in: range).contains(where: { $0 != shift }) {
            problems.append("bytes stand where others belong")
        }
        postJob(.published)
    }

    private func wholeLength(_ version: Int) -> Int64 {
        let server = servers.first { $0.contentBase == version / 1000 * 1000 }
        return server?.lengths[version % 1000] ?? -1
    }

    private func versionLength(_ version: Int) -> Int64 {
        let whole = wholeLength(version)
        guard let window = configuration.window else { return whole }
        return max(0, min(window.upper, whole) - window.lower)
    }

    private mutating func check(_ versions: Set<Int>?, length: Int64) {
        guard let versions else { return problems.append("published bytes that were never written") }
        if let wanted, length > 0, versions != [wanted] {
            problems.append("published \(versions), not \(wanted)")
        }
        if versions.count > 1 { problems.append("published a mixture of \(versions)") }
        for version in versions where length != versionLength(version) {
            problems.append(
                "published \(length) bytes of version \(version), which has \(versionLength(version))")
        }
    }

    private var shift: Int64 { configuration.window?.lower ?? 0 }

    private mutating func end(_ action: DownloadAction) {
        terminals += 1
        terminal = action
        if terminals > 1 { problems.append("ended twice") }
        if case .finish(wasThere: false) = action, !wasPublished {
            problems.append("finished without a file")
        }
        guard case .fail(let error) = action, disk.journal != nil else { return }
        // Bytes that no later run could use are thrown away.
        if error.code == .checksumMismatch || machine.file?.hasRanges == false {
            disk = SimulatedDisk()
        }
    }

    // MARK: Events

    private mutating func handle(_ event: Event) {
        switch event {
        case .step(let id, let number): step(id, number)
        case .cancel(let id): if transfers[id] != nil { finish(id, .cancelled) }
        case .moveEnd(let id, let end): moveEnd(id, to: end)
        case .proceed(let id): proceed(id)
        case .lost(let id):
            if transfers[id]?.stage == .paused {
                finish(id, .failed(Failure(.connection, HaulError(.connectionLost, "it was lost"))))
            }
        case .tick: perform(machine.ticked(now: now))
        default:
            jobs -= 1
            jobDone(event)
        }
    }

    private mutating func jobDone(_ event: Event) {
        guard terminal == nil else { return }
        switch event {
        case .claimed(let id, let facts):
            isClaiming = false
            if !configuration.isStream { disk.journal = (facts, disk.journal?.done ?? RangeSet()) }
            perform(machine.claimed(id, now: now))
        case .restarted: perform(machine.restarted(now: now))
        case .compared(let id, let isEqual): perform(machine.sampleCompared(id, isEqual: isEqual, now: now))
        case .verified: perform(machine.verified(mismatch, now: now))
        case .stored: stored()
        case .published:
            wasPublished = true
            perform(machine.published())
        case .refreshed(let source):
            let url = hasFreshLinks ? try? SimulatedWorld.source(source).resolving("/fresh/\(requests)") : nil
            perform(machine.refreshed(source, url, now: now))
        case .step, .cancel, .moveEnd, .proceed, .lost, .tick: break
        }
    }

    private var mismatch: Failure? {
        guard let wanted else { return nil }
        let length = machine.plan?.length ?? 0
        let isRight =
            length == wholeLength(wanted)
            && (length == 0 || disk.versions(in: ByteRange(0, length)) == [wanted])
        return isRight || configuration.isStream ? nil : SimulatedWorld.mismatch
    }

    private static let mismatch = Failure(.checksum, HaulError(.checksumMismatch, "other bytes"))

    private mutating func stored() {
        guard let whole else { return problems.append("stored a body that never came") }
        if let wanted,
            whole.length != wholeLength(wanted) || whole.length > 0 && whole.content != wanted
        {
            return perform(machine.wholeRefused(SimulatedWorld.mismatch))
        }
        if !configuration.isStream { check([whole.content], length: whole.length) }
        wasPublished = true
        perform(machine.published())
    }

    // MARK: Transfers

    private mutating func step(_ id: TransferID, _ number: Int) {
        guard var transfer = transfers[id], transfer.step == number else { return }
        if transfer.plan == nil {
            return answered(&transfer)
        }
        deliver(&transfer)
    }

    private mutating func answered(_ transfer: inout SimulatedTransfer) {
        let source = transfer.work.source
        let open = transfers.values.count { $0.work.source == source && $0.plan != nil } + 1
        switch servers[source].reply(to: transfer.work, open: open, using: &random) {
        case .failure(let failure): finish(transfer.id, .failed(failure))
        case .answer(let head, let body):
            if let end = transfer.accept(head, body, shift: shift) { return finish(transfer.id, end) }
            accepted(transfer)
        }
    }

    private mutating func accepted(_ accepted: SimulatedTransfer) {
        var transfer = accepted
        guard let plan = transfer.plan else { return }
        let id = transfer.id
        transfers[id] = transfer
        perform(machine.delivering(id, now: now))
        guard transfers[id] != nil else { return }
        switch transfer.work.delivery {
        case .probe:
            if let range = transfer.work.range, range.upper != .max { transfer.end = range.upper - shift }
            transfer.stage = .buffering
            let limit = configuration.isStream ? 0 : SimulatedWorld.wholeLimit
            if (plan.length ?? transfer.body?.range.count ?? 0) > limit {
                transfer.stage = .paused
                transfers[id] = transfer
                if lossProbability > Double.random(in: 0..<1, using: &random) {
                    post(.lost(id), in: Double.random(in: 0..<0.06, using: &random))
                }
                return perform(machine.headAccepted(id, plan, now: now))
            }
        case .segment(let end):
            guard !plan.restartsFile else {
                return finish(
                    id, .refused(.rangeIgnored, Refusal.rangeIgnored.failure(of: transfer.work.url)))
            }
            transfer.end = end
            transfer.stage = .writing
        case .sample:
            transfer.end = transfer.work.expectation.range?.upper ?? .max
            transfer.stage = .sampling
        }
        goOn(transfer)
    }

    /// Schedules the next piece of a body, or its end.
    private mutating func goOn(_ changed: SimulatedTransfer) {
        var transfer = changed
        transfer.step += 1
        transfers[transfer.id] = transfer
        let piece = Double(Int64.random(in: 16 << 10...256 << 10, using: &random))
        let isSilent = transfer.breakPoint == transfer.position && transfer.body?.stalls == true
        let seconds =
            isSilent
            ? 10
            : min(piece, Double(transfer.bodyEnd - transfer.position))
                / servers[transfer.work.source].rate
        post(.step(transfer.id, transfer.step), in: max(seconds, 0.0001))
    }

    private mutating func deliver(_ transfer: inout SimulatedTransfer) {
        guard let body = transfer.body else { return }
        if transfer.breakPoint == transfer.position {
            let code: HaulError.Code = body.stalls ? .stalled : .truncated
            return finish(transfer.id, .failed(Failure(.connection, HaulError(code, "it broke off"))))
        }
        let piece = Int64.random(in: 16 << 10...256 << 10, using: &random)
        let stop = min(transfer.end, transfer.bodyEnd, transfer.breakPoint ?? .max)
        let range = ByteRange(transfer.position, max(transfer.position, min(stop, transfer.position + piece)))
        transfer.position = range.upper
        transfer.received += range.count
        transfers[transfer.id] = transfer
        if transfer.stage == .writing { write(range, transfer) }
        guard let current = transfers[transfer.id] else { return }
        if let ending = current.ending { return finished(current, ending) }
        goOn(current)
    }

    private mutating func write(_ range: ByteRange, _ transfer: SimulatedTransfer) {
        guard let body = transfer.body, !range.isEmpty else { return }
        if configuration.isStream {
            if range.lower != streamed { problems.append("a stream was written out of order, at \(range)") }
            streamed = range.upper
        }
        disk.write(range, version: body.content, shift: transfer.shift)
        disk.journal?.done.insert(range)
        perform(machine.committed(transfer.id, range, now: now))
    }

    private mutating func finished(_ transfer: SimulatedTransfer, _ ending: TransferEnd) {
        let content = transfer.body?.content ?? -1
        switch ending {
        case .sampled:
            samples[transfer.id] = (content, ByteRange(transfer.plan?.offset ?? 0, transfer.position))
        case .whole: whole = (content, transfer.position)
        default: break
        }
        finish(transfer.id, ending)
    }

    private mutating func finish(_ id: TransferID, _ end: TransferEnd) {
        guard transfers.removeValue(forKey: id) != nil else { return }
        perform(machine.transferFinished(id, end, now: now, jitter: Double.random(in: 0..<1, using: &random)))
        if let origin = hosts.removeValue(forKey: id) { governors[origin]?.release() }
        if restartPending, transfers.isEmpty { restart() }
    }

    private mutating func proceed(_ id: TransferID) {
        guard var transfer = transfers[id], transfer.stage == .paused else { return }
        transfer.stage = .writing
        goOn(transfer)
    }

    private mutating func moveEnd(_ id: TransferID, to target: Int64) {
        guard var transfer = transfers[id] else { return }
        transfer.end = max(target, transfer.position)
        transfers[id] = transfer
        perform(machine.endMoved(id, transfer.end, now: now))
        guard let current = transfers[id], current.stage == .writing, current.position >= current.end else {
            return
        }
        finished(current, .completed(isWhole: current.position >= current.bodyEnd))
    }

    static let wholeLimit: Int64 = 32 << 10
}
