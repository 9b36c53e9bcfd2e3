@testable import HaulCore

/// A `DownloadMachine` with a clock and a counter of transfers: what the engine would do, one call at a time.
final class MachineDriver {
    var machine: DownloadMachine
    var now = Instant(nanoseconds: 1_000_000_000)
    private var last: UInt64 = 0

    init(
        _ sources: [URLReference] = [MachineDriver.url],
        _ change: (inout DownloadMachine.Configuration) -> Void = { _ in }
    ) {
        var configuration = DownloadMachine.Configuration(sources: sources)
        change(&configuration)
        machine = DownloadMachine(configuration, now: now)
    }

    static let url = SimulatedWorld.source(0)
    static let mirror = SimulatedWorld.source(1)
    static let mebibyte: Int64 = 1 << 20
    static let strong = Validator(etag: EntityTag(opaque: "\"v1\"", isWeak: false))
    static let weak = Validator(etag: EntityTag(opaque: "W/\"v1\"", isWeak: true))

    static func file(
        _ length: Int64? = 8 * mebibyte, ranges: Bool = true, validator: Validator = strong
    ) -> RemoteFile {
        RemoteFile(length: length, hasRanges: ranges, validator: validator)
    }

    static func body(_ file: RemoteFile = file()) -> BodyPlan {
        BodyPlan(offset: 0, length: file.length, file: file)
    }

    static func failure(_ code: HaulError.Code = .connectionLost) -> Failure {
        Failure(.connection, HaulError(code, "it broke"))
    }

    static func status(_ status: Int, retryAfter: Double? = nil) -> TransferEnd {
        let refusal = Refusal.status(status, retryAfter: retryAfter)
        return .refused(refusal, refusal.failure(of: url))
    }

    // What is asked of a machine in `#expect`, which cannot hold a value that is never copied.
    var done: Int64 { machine.done }
    var length: Int64? { machine.length }
    var isEnded: Bool { machine.isEnded }
    var connections: Int { machine.connections }
    var deadline: Instant? { machine.deadline(now: now) }
    func claimIsHeld(_ id: TransferID) -> [DownloadAction] { machine.claimIsHeld(id) }

    func wait(_ seconds: Double) { now = now.advanced(by: seconds) }

    @discardableResult
    func start(found: DownloadMachine.Found? = nil, condition: Validator? = nil) -> [DownloadAction] {
        machine.started(found: found, condition: condition, now: now)
    }

    /// The next request that the machine wants, if it wants one.
    func next(excluding: Set<Int> = []) -> (id: TransferID, work: TransferWork)? {
        guard let source = machine.nextSource(now: now, excluding: excluding) else { return nil }
        last += 1
        for action in machine.connect(TransferID(last), source: source, now: now) {
            if case .start(let id, let work) = action { return (id, work) }
        }
        return nil
    }

    func finish(_ id: TransferID, _ end: TransferEnd, jitter: Double = 0) -> [DownloadAction] {
        machine.transferFinished(id, end, now: now, jitter: jitter)
    }

    func deliver(_ id: TransferID) -> [DownloadAction] { machine.delivering(id, now: now) }

    @discardableResult
    func commit(_ id: TransferID, _ lower: Int64, _ upper: Int64) -> [DownloadAction] {
        machine.committed(id, ByteRange(lower, upper), now: now)
    }

    func headAccepted(_ id: TransferID, _ body: BodyPlan) -> [DownloadAction] {
        machine.headAccepted(id, body, now: now)
    }

    func claimed(_ id: TransferID) -> [DownloadAction] { machine.claimed(id, now: now) }
    @discardableResult
    func restarted() -> [DownloadAction] { machine.restarted(now: now) }
    func endMoved(_ id: TransferID, _ end: Int64) -> [DownloadAction] { machine.endMoved(id, end, now: now) }
    func ticked() -> [DownloadAction] { machine.ticked(now: now) }
    func interrupted(_ error: HaulError) -> [DownloadAction] { machine.interrupted(error) }
    func refreshed(_ source: Int, _ answer: LinkAnswer) -> [DownloadAction] {
        machine.refreshed(source, answer, now: now)
    }

    func sampleCompared(_ id: TransferID, isEqual: Bool) -> [DownloadAction] {
        machine.sampleCompared(id, isEqual: isEqual, now: now)
    }

    func verified(_ failure: Failure?) -> [DownloadAction] { machine.verified(failure, now: now) }
    func wholeRefused(_ failure: Failure) -> [DownloadAction] { machine.wholeRefused(failure) }
    func published() -> [DownloadAction] { machine.published() }

    /// A run whose probe delivers: started, judged, claimed.
    func probe(_ file: RemoteFile = MachineDriver.file()) -> TransferID? {
        start()
        guard let (id, _) = next() else { return nil }
        _ = deliver(id)
        _ = headAccepted(id, MachineDriver.body(file))
        _ = claimed(id)
        return id
    }

    /// A run that goes on with what an earlier one left.
    func resume(
        _ done: [ByteRange], _ file: RemoteFile = MachineDriver.file(), matchesURL: Bool = true
    ) -> [DownloadAction] {
        start(found: DownloadMachine.Found(facts: file, done: RangeSet(done), matchesURL: matchesURL))
    }
}

extension [DownloadAction] {
    /// The names of the actions, for tables.
    var kinds: [String] {
        map { action in
            switch action {
            case .start: "start"
            case .cancel: "cancel"
            case .moveEnd: "moveEnd"
            case .claim: "claim"
            case .lookAgain: "lookAgain"
            case .proceed: "proceed"
            case .setAside: "setAside"
            case .restart: "restart"
            case .compare: "compare"
            case .storeWhole: "storeWhole"
            case .verify: "verify"
            case .publish: "publish"
            case .throttled: "throttled"
            case .refresh: "refresh"
            case .notice: "notice"
            case .state(.retrying): "retrying"
            case .state: "state"
            case .finish: "finish"
            case .fail: "fail"
            }
        }
    }

    var failure: HaulError? {
        for case .fail(let error) in self { return error }
        return nil
    }
}
