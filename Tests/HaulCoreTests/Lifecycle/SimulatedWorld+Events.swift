import HaulCore
import HaulTestSupport

// What happens next: transfers that go on, jobs that are done.
extension SimulatedWorld {
    mutating func handle(_ event: Event) {
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

    mutating func jobDone(_ event: Event) {
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
            perform(
                machine.refreshed(source, url.map { .fresh($0) } ?? .none(because: "there is none"), now: now)
            )
        case .step, .cancel, .moveEnd, .proceed, .lost, .tick: break
        }
    }

    var mismatch: Failure? {
        guard let wanted else { return nil }
        let length = machine.plan?.length ?? 0
        let isRight =
            length == wholeLength(wanted)
            && (length == 0 || disk.versions(in: ByteRange(0, length)) == [wanted])
        return isRight || configuration.isStream ? nil : SimulatedWorld.mismatch
    }

    static let mismatch = Failure(.checksum, HaulError(.checksumMismatch, "other bytes"))

    mutating func stored() {
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

    mutating func step(_ id: TransferID, _ number: Int) {
        guard var transfer = transfers[id], transfer.step == number else { return }
        if transfer.plan == nil {
            return answered(&transfer)
        }
        deliver(&transfer)
    }

    mutating func answered(_ transfer: inout SimulatedTransfer) {
        let source = transfer.work.source
        let open = transfers.values.count { $0.work.source == source && $0.plan != nil } + 1
        switch servers[source].reply(to: transfer.work, open: open, using: &random) {
        case .failure(let failure): finish(transfer.id, .failed(failure))
        case .answer(let head, let body):
            if let end = transfer.accept(head, body, shift: shift) { return finish(transfer.id, end) }
            accepted(transfer)
        }
    }

    mutating func accepted(_ accepted: SimulatedTransfer) {
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
    mutating func goOn(_ changed: SimulatedTransfer) {
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

    mutating func deliver(_ transfer: inout SimulatedTransfer) {
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

    mutating func write(_ range: ByteRange, _ transfer: SimulatedTransfer) {
        guard let body = transfer.body, !range.isEmpty else { return }
        if configuration.isStream {
            if range.lower != streamed { problems.append("a stream was written out of order, at \(range)") }
            streamed = range.upper
        }
        disk.write(range, version: body.content, shift: transfer.shift)
        disk.journal?.done.insert(range)
        perform(machine.committed(transfer.id, range, now: now))
    }

    mutating func finished(_ transfer: SimulatedTransfer, _ ending: TransferEnd) {
        let content = transfer.body?.content ?? -1
        switch ending {
        case .sampled:
            samples[transfer.id] = (content, ByteRange(transfer.plan?.offset ?? 0, transfer.position))
        case .whole: whole = (content, transfer.position)
        default: break
        }
        finish(transfer.id, ending)
    }

    mutating func finish(_ id: TransferID, _ end: TransferEnd) {
        guard transfers.removeValue(forKey: id) != nil else { return }
        perform(machine.transferFinished(id, end, now: now, jitter: Double.random(in: 0..<1, using: &random)))
        if let origin = hosts.removeValue(forKey: id) { governors[origin]?.release() }
        if restartPending, transfers.isEmpty { restart() }
    }

    mutating func proceed(_ id: TransferID) {
        guard var transfer = transfers[id], transfer.stage == .paused else { return }
        transfer.stage = .writing
        goOn(transfer)
    }

    mutating func moveEnd(_ id: TransferID, to target: Int64) {
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
