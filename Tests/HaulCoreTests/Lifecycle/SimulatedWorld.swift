import HaulCore
import HaulTestSupport

/// Engine, disk and servers for a `DownloadMachine`, without any of them: simulated time, seeded chance.
///
/// Breaches of what must always hold are collected in `problems`.
struct SimulatedWorld: ~Copyable {
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
    var problems: [String] = []
    var terminal: DownloadAction?
    var terminals = 0
    var actions = 0
    var requests = 0
    var notices: [Notice] = []
    var events: [(at: Instant, order: Int, event: Event)] = []
    var order = 0
    var transfers: [TransferID: SimulatedTransfer] = [:]
    var hosts: [TransferID: Origin] = [:]
    var governors: [Origin: Governor] = [:]
    var lastTransfer: UInt64 = 0
    var restartPending = false
    var isClaiming = false
    var jobs = 0
    /// The small body that came whole: its version and length.
    var whole: (content: Int, length: Int64)?
    var wasPublished = false
    var streamed: Int64 = 0
    var samples: [TransferID: (version: Int, range: ByteRange)] = [:]

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

    mutating func nextEvent() -> (at: Instant, event: Event)? {
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

    mutating func post(_ event: Event, in seconds: Double) {
        order += 1
        events.append((now.advanced(by: seconds), order, event))
    }

    mutating func postJob(_ event: Event) {
        jobs += 1
        post(event, in: Double.random(in: 0..<0.05, using: &random))
    }

    mutating func connect() {
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
}
