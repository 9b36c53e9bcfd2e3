// What transfers tell.
extension DownloadMachine {
    /// The head of a probe was accepted: what the file is, is known now.
    package mutating func headAccepted(_ id: TransferID, _ body: BodyPlan, now: Instant) -> [DownloadAction] {
        guard phase == .probing, let run = running[id] else { return [] }
        guard givesWindow(body) else { return end(.fail(noWindow(run))) }
        learn(body, from: run.work.source)
        if let found = adopted() { return goOn(with: found, instead: id) }
        let length = file?.length ?? DownloadMachine.unknownLength
        plan = SegmentPlan(length: length)
        guard plan?.claim(id, exactly: ByteRange(0, length)) == true else {
            return bug("a probe that fits no plan")
        }
        phase = .claiming
        claiming = id
        let aside = foreign == nil ? [] : [DownloadAction.setAside]
        foreign = nil
        let empties = isVoid
        isVoid = false
        return aside + notices(of: body)
            + [.claim(id, adapted(body), from: run.work.url, empties: empties)]
    }

    /// Bytes of another URL that are proved to be of this file: the same strong validator and length (a fresh link).
    private mutating func adopted() -> Found? {
        guard let found = foreign, let file, file.hasRanges, found.facts.length == file.length,
            found.facts.validator.agreement(with: file.validator) == .same, configuration.resume != .never,
            configuration.window == nil
        else { return nil }
        foreign = nil
        return found
    }

    private mutating func goOn(with found: Found, instead probe: TransferID) -> [DownloadAction] {
        running[probe]?.isCancelled = true
        plan = SegmentPlan(length: file?.length ?? 0, done: found.done)
        let resumed = DownloadAction.notice(.resumed(from: found.done.count))
        if plan?.isComplete == true { return [.cancel(probe), resumed] + verify() }
        phase = .fetching
        return [.cancel(probe), resumed, .state(.downloading)]
    }

    private mutating func learn(_ body: BodyPlan, from index: Int) {
        file = adapted(body).file
        sources[index].trust = .trusted
        sources[index].validator = body.file.validator
        sources[index].hops = 0
        sources[index].isRefreshing = false
        sources[index].refreshes = 0
    }

    /// A part that was asked for by `--range` is a file of its own.
    private func adapted(_ body: BodyPlan) -> BodyPlan {
        guard let window = configuration.window else { return body }
        var part = body
        // As long as was asked, not as long as what came: a server may send less of it, or more.
        if let total = body.file.length {
            part.file.length = max(0, min(total, window.upper) - window.lower)
        } else {
            part.file.length = window.upper < .max ? window.count : body.length.map { $0 - body.skip }
        }
        part.file.hasRanges = false
        part.file.digests = []
        part.offset = 0
        return part
    }

    /// Whether the part that was asked for is what comes.
    private func givesWindow(_ body: BodyPlan) -> Bool {
        configuration.window == nil || body.file.hasRanges
    }

    private func noWindow(_ run: Running) -> HaulError {
        HaulError(
            .rangeRefused, "\(run.work.url.redacted) was sent whole although a part was asked for",
            advice: "leave out --range")
    }

    private func notices(of body: BodyPlan) -> [DownloadAction] {
        let isUnproven = body.endsWithConnection && !configuration.hasChecksum
        // Told once: not again after a start that came to nothing.
        let startsAnew = file?.hasRanges != true || file?.length == nil
        return (isUnproven ? [.notice(.lengthUnknown)] : [])
            + (startsAnew && !configuration.isStream && received == 0 ? [.notice(.cannotResume)] : [])
    }

    package mutating func delivering(_ id: TransferID, now: Instant) -> [DownloadAction] {
        guard let run = running[id] else { return [] }
        running[id]?.isDelivering = true
        mostDelivering = max(mostDelivering, delivering)
        running[id]?.firstDelivery = now
        running[id]?.meter = SpeedMeter(window: 1, now: now)
        let index = run.work.source
        sources[index].hops = 0
        sources[index].isRefreshing = false
        guard phase == .fetching, run.work.delivery != .sample else { return [] }
        if sources[index].trust == .unknown { sources[index].trust = .trusted }
        return arrange(now: now)
    }

    /// Bytes of a transfer are in the file.
    package mutating func committed(_ id: TransferID, _ range: ByteRange, now: Instant) -> [DownloadAction] {
        guard let index = running[id]?.work.source else { return [] }
        // What a cancelled transfer wrote before everything on disk became void.
        guard plan != nil else { return [] }
        guard plan?.commit(range, by: id) == true else { return bug("a commit beside its segment") }
        received += range.count
        meter.record(range.count, at: now)
        running[id]?.bytes += range.count
        running[id]?.meter.record(range.count, at: now)
        sources[index].delivered += range.count
        // Where nothing can be resumed, a start that came to nothing is no progress.
        if file?.hasRanges == true {
            sources[index].failures = 0
            sources[index].refreshes = 0
        }
        return []
    }

    /// The transfer thread answered `moveEnd`.
    package mutating func endMoved(_ id: TransferID, _ end: Int64, now: Instant) -> [DownloadAction] {
        guard running[id] != nil, let range = plan?.segment(of: id)?.range else { return [] }
        running[id]?.isMoving = false
        if end < range.upper { plan?.shrink(id, to: end) } else { plan?.extend(id, to: end) }
        return []
    }

    /// One transfer is over.
    ///
    /// `jitter` is 0 ..< 1, uniform.
    package mutating func transferFinished(
        _ id: TransferID, _ end: TransferEnd, now: Instant, jitter: Double
    ) -> [DownloadAction] {
        guard let run = running.removeValue(forKey: id) else { return [] }
        plan?.release(id)
        measure(run, now: now)
        guard phase != .ended else { return [] }
        if case .completed(let isWhole) = end {
            return completed(run, isWhole: isWhole, now: now, jitter: jitter)
        }
        // The machine ended it itself: what it had to say is about a state that is past.
        guard !run.isCancelled else { return fetchOn(now: now) }
        switch end {
        case .whole(let body): return wholeArrived(id, body, run)
        case .sampled(let body): return sampled(id, body, run)
        case .redirect(let status, let location): return redirected(run, status, location)
        case .notModified: return self.end(.finish(wasThere: true))
        case .nothingLeft(let length): return nothingLeft(length, run, now: now)
        case .refused(let refusal, let failure):
            return refused(refusal, failure, run, now: now, jitter: jitter)
        case .failed(let failure): return failed(failure, run, now: now, jitter: jitter)
        case .cancelled, .completed: return fetchOn(now: now)
        }
    }

    private mutating func measure(_ run: Running, now: Instant) {
        guard run.bytes > 0, let first = run.firstDelivery else { return }
        let seconds = max(now.seconds(since: first), 0.001)
        let rate = Double(run.bytes) / seconds
        let old = sources[run.work.source].rate
        sources[run.work.source].rate = old.map { $0 * 0.6 + rate * 0.4 } ?? rate
    }

    private mutating func completed(
        _ run: Running, isWhole: Bool, now: Instant, jitter: Double
    ) -> [DownloadAction] {
        if isWhole, isLengthUnknown, file?.hasRanges == false {
            settleLength()
        } else if configuration.window != nil, plan?.isComplete == false, !run.isCancelled {
            let short = HaulError(
                .truncated, "\(run.work.url.redacted) sent less than the part that was asked for")
            return failed(Failure(.connection, short), run, now: now, jitter: jitter)
        } else if run.bytes == 0, plan?.isComplete == false, !run.isCancelled,
            run.work.expectation.range?.isEmpty != true
        {
            let empty = HaulError(.truncated, "the answer of \(run.work.url.redacted) had no bytes")
            return failed(Failure(.connection, empty), run, now: now, jitter: jitter)
        }
        return fetchOn(now: now)
    }

    var isLengthUnknown: Bool { plan?.length == DownloadMachine.unknownLength }

    /// The server's end was reached: what is there is all.
    mutating func settleLength() {
        guard let done = plan?.done else { return }
        file?.length = done.contiguousEnd
        plan = SegmentPlan(length: done.contiguousEnd, done: done)
    }

    private mutating func wholeArrived(_ id: TransferID, _ body: BodyPlan, _ run: Running) -> [DownloadAction]
    {
        guard phase == .probing else { return bug("a small body out of turn") }
        guard givesWindow(body) else { return end(.fail(noWindow(run))) }
        learn(body, from: run.work.source)
        phase = .verifying
        let aside = foreign == nil ? [] : [DownloadAction.setAside]
        foreign = nil
        return aside + notices(of: body) + [.storeWhole(id, adapted(body), from: run.work.url)]
    }

    /// The digest of a small body that was in memory did not hold; else `published` follows at once.
    package mutating func wholeRefused(_ failure: Failure) -> [DownloadAction] {
        guard phase == .verifying else { return [] }
        return checksumFailed(failure)
    }

    mutating func nothingLeft(
        _ length: Int64, _ run: Running, now: Instant
    ) -> [DownloadAction] {
        if configuration.window != nil {
            let error = HaulError(
                .rangeRefused, "\(run.work.url.redacted) has only \(length) bytes, none of the part asked for"
            )
            return lose(run.work.source, error, now: now)
        }
        // A 206 without a total may end anywhere: only this answer says that nothing follows.
        if isLengthUnknown, let end = plan?.done.contiguousEnd, end > 0, end == length {
            settleLength()
            return fetchOn(now: now)
        }
        // An empty file has no ranges at all: asked plainly, it is given with all its facts.
        if phase == .probing {
            rangesFailed = true
            return []
        }
        guard let plan, plan.length == length, plan.isComplete else {
            return startOver("the file is shorter now")
        }
        return verify()
    }

    /// Goes on after a transfer ended: more connections, or the end.
    mutating func fetchOn(now: Instant) -> [DownloadAction] {
        guard phase == .fetching, let plan else { return [] }
        guard plan.isComplete else { return isStranded ? stranded() : giveBack() + arrange(now: now) }
        return cancelAll() + verify()
    }

    /// No source is left whose bytes could join those on disk, and some could begin anew.
    private var isStranded: Bool {
        running.isEmpty && comparing.isEmpty && !sources.indices.contains { isUsable($0) && mayServe($0) }
    }

    private mutating func stranded() -> [DownloadAction] {
        let death = sources.compactMap(\.death).last
        if let death,
            configuration.isStream && received > 0 || !sources.indices.contains(where: { isUsable($0) })
        {
            return end(.fail(death))
        }
        return startOver(death?.message ?? "no source can show that it has the same bytes")
    }

    mutating func verify() -> [DownloadAction] {
        phase = .verifying
        return [.state(.verifying), .verify(length: plan?.length ?? 0)]
    }
}
