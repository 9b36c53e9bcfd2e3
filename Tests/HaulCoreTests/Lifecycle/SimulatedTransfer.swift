@testable import HaulCore

/// One request on the simulated wire, with the manners of the real transfer thread.
struct SimulatedTransfer {
    enum Stage { case waiting, buffering, paused, writing, sampling }

    let id: TransferID
    let work: TransferWork
    var stage = Stage.waiting
    var plan: BodyPlan?
    var body: SimulatedServer.Body?
    var head: ResponseHead?
    /// Offsets on disk.
    var position: Int64 = 0
    var committed: Int64 = 0
    var end: Int64 = .max
    /// Bytes of the body that came, skipped ones included.
    var received: Int64 = 0
    /// Offset in the remote file minus offset on disk.
    var shift: Int64 = 0
    /// Order of the pending step; older steps are void.
    var step = 0

    init(id: TransferID, work: TransferWork) {
        self.id = id
        self.work = work
    }

    /// A head came: what is told at once, or `nil` when the body follows.
    mutating func accept(_ head: ResponseHead, _ body: SimulatedServer.Body?, shift: Int64) -> TransferEnd? {
        self.head = head
        switch ResponseCheck.judge(head, for: work.expectation, now: 784_111_777) {
        case .redirect(let status, let location): return .redirect(status: status, location: location)
        case .notModified: return .notModified
        case .nothingLeft(let length): return .nothingLeft(length: length)
        case .refused(let refusal): return .refused(refusal, refusal.failure(of: work.url))
        case .body(var plan):
            self.shift = shift
            self.body = body
            plan.offset = max(0, plan.offset - shift)
            self.plan = plan
            position = plan.offset + plan.skip
            received = plan.skip
            committed = position
            return nil
        }
    }

    /// Where the body stops by itself, on disk.
    var bodyEnd: Int64 { (body?.range.upper ?? 0) - shift }
    var breakPoint: Int64? { body?.breaksAt.map { max($0 - shift, position) } }

    /// How it ended when it stands at its own end or the body's.
    var ending: TransferEnd? {
        guard let plan, position >= min(end, bodyEnd) else { return nil }
        let isWhole = position >= bodyEnd
        switch stage {
        case .sampling: return .sampled(plan)
        case .buffering: return .whole(plan)
        case .writing: return .completed(isWhole: isWhole)
        case .waiting, .paused: return nil
        }
    }
}
