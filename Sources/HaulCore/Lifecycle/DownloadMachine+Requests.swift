// Which request is made next, and of which source.
extension DownloadMachine {
    /// The source that should get one more connection now; `nil`: none.
    ///
    /// `excluding` are sources whose host has no room at the moment.
    package func nextSource(now: Instant, excluding: Set<Int> = []) -> Int? {
        switch phase {
        case .probing:
            guard running.isEmpty else { return nil }
            return usable(now: now, excluding: excluding).first
        case .fetching:
            guard let plan, wantsConnection(plan) else { return nil }
            return usable(now: now, excluding: excluding).filter { mayServe($0) }.max { rank($0) < rank($1) }
        case .idle, .claiming, .verifying, .publishing, .ended:
            return nil
        }
    }

    private func wantsConnection(_ plan: SegmentPlan) -> Bool {
        guard !plan.missing.isEmpty else { return false }
        return running.count < (isSplittable ? tuner.target : 1)
    }

    private func usable(now: Instant, excluding: Set<Int>) -> [Int] {
        sources.indices.filter { index in
            let source = sources[index]
            guard isUsable(index), !excluding.contains(index) else { return false }
            if let notBefore = source.notBefore, now < notBefore { return false }
            // A link is renewed by one request alone.
            return !source.isRefreshing || !running.values.contains { $0.work.source == index }
        }
    }

    /// Whether it may be asked at all in this run, some time.
    func isUsable(_ index: Int) -> Bool {
        sources[index].isAlive && !sources[index].isSuspect && soloSource ?? index == index
    }

    /// Whether its bytes may join the file's, or the proof of it can go on.
    func mayServe(_ index: Int) -> Bool {
        switch sources[index].trust {
        case .trusted: true
        case .proving: !running.values.contains { $0.work.source == index } && comparing[index] == nil
        case .unknown:
            // A validator of its own is known from the earlier run: every answer is compared with it.
            mayTolerate || sources[index].validator != nil
                || !configuration.isStream && done >= DownloadMachine.proofSize * 3
        }
    }

    /// The fastest first, shared fairly; one that was never measured is worth a try.
    private func rank(_ index: Int) -> Double {
        let active = running.values.count { $0.work.source == index }
        return (sources[index].rate ?? 1e15) / Double(1 + active)
    }

    /// One connection of a source was granted: the request to make with it.
    package mutating func connect(_ id: TransferID, source index: Int, now: Instant) -> [DownloadAction] {
        let work: TransferWork?
        switch phase {
        case .probing: work = probe(of: index)
        case .fetching: work = fetch(id, from: index)
        case .idle, .claiming, .verifying, .publishing, .ended: work = nil
        }
        guard let work else { return [] }
        running[id] = Running(work: work, started: now, meter: SpeedMeter(window: 1, now: now))
        return [.start(id, work)]
    }

    private func probe(of index: Int) -> TransferWork {
        let source = sources[index]
        let range = configuration.window ?? (mayAskRanges ? ByteRange(0, .max) : nil)
        return TransferWork(
            source: index, url: source.current, given: source.given, range: range, ifRange: nil,
            condition: condition,
            expectation: Expectation(
                purpose: .probe, range: range, isConditional: condition != nil, urlPath: source.current.path,
                maximumLength: configuration.maximumLength),
            delivery: .probe, isExtra: false, dropsBody: source.dropsBody)
    }

    private var mayAskRanges: Bool { configuration.isPlainGet && !rangesFailed }

    private mutating func fetch(_ id: TransferID, from index: Int) -> TransferWork? {
        if sources[index].trust == .unknown { beginProof(of: index) }
        askForProof(of: index)
        if case .proving(let samples) = sources[index].trust, let sample = samples.first {
            var work = request(index, range: sample, delivery: .sample)
            // Some servers refuse every range but the one to the end.
            if sources[index].wasAskedIfAlive { work.range = ByteRange(sample.lower, .max) }
            return work
        }
        let share = isSplittable ? max(1, tuner.target - running.count) : 1
        let limit = configuration.isSequential && isSplittable ? DownloadMachine.sequentialChunk : nil
        let minimum = configuration.minimumSplit
        guard let range = plan?.claim(id, share: share, minimum: minimum, limit: limit) else { return nil }
        return request(index, range: range, delivery: .segment(end: range.upper))
    }

    private func request(_ index: Int, range: ByteRange, delivery: TransferWork.Delivery) -> TransferWork {
        let source = sources[index]
        var known = file
        if let validator = source.validator { known?.validator = validator }
        let isSample = delivery == .sample
        // A mirror that was never compared may have validators of its own, also after its first bytes were taken.
        let tolerates = isSample || source.validator == nil && mayTolerate
        let ifRange = tolerates || source.ignoresIfRange ? nil : known?.validator.ifRangeValue()
        // A length that is not known yet asks to the end.
        let asked = range.upper >= DownloadMachine.unknownLength ? ByteRange(range.lower, .max) : range
        return TransferWork(
            source: index, url: source.current, given: source.given, range: asked, ifRange: ifRange,
            condition: nil,
            expectation: Expectation(
                purpose: isSample ? .sample : .segment, range: asked, known: known,
                sentIfRange: ifRange != nil,
                toleratesOtherValidator: tolerates, urlPath: source.current.path,
                maximumLength: configuration.maximumLength),
            delivery: delivery, isExtra: isSplittable, dropsBody: source.dropsBody)
    }

    private var mayTolerate: Bool { configuration.hasChecksum || configuration.resume == .length }

    /// Whether several connections can share the file.
    var isSplittable: Bool {
        guard let file, file.hasRanges, file.length != nil, file.codings.isEmpty else { return false }
        return !configuration.isStream && configuration.window == nil && mayAskRanges && !segmentationEnded
            && (isRecognisable || usedSamples)
    }

    /// Answers can be told to be of the same bytes: by a strong validator, or a checksum will decide.
    var isRecognisable: Bool { mayTolerate || file?.validator.ifRangeValue() != nil }

    // MARK: Sharing the work

    /// Makes room for connections that are wanted: shrinks a segment, or has a crawling one fetched anew.
    mutating func arrange(now: Instant) -> [DownloadAction] {
        guard phase == .fetching, isSplittable, let plan, plan.missing.isEmpty else { return [] }
        let free = tuner.target - running.count
        guard free > 0, !running.values.contains(where: { $0.isMoving || $0.isCancelled }) else { return [] }
        if configuration.isSequential { return shortenToChunk(plan) }
        let minimum = configuration.minimumSplit
        if plan.segments.count == 1, let only = plan.segments.first, configuration.connections != nil,
            plan.done.isEmpty
        {
            return divide(only, among: free + 1, minimum: minimum)
        }
        let rates = measuredRates(now: now)
        guard !rates.isEmpty else { return [] }
        let mean = rates.values.reduce(0, +) / Double(rates.count)
        let best = max(mean, sources.compactMap(\.rate).max() ?? 0)
        let wanted = min(free, max(1, Int(plan.length / max(minimum, 1))))
        switch plan.help(rates: rates, thief: best * Double(wanted), minimum: minimum, setUp: setUpTime) {
        case .steal(let victim, let at): return moveEnd(of: victim, to: at)
        case .takeOver(let victim):
            running[victim]?.isCancelled = true
            return [.cancel(victim)]
        case nil: return []
        }
    }

    /// A number of connections was asked for: equal parts at once.
    private mutating func divide(_ only: SegmentPlan.Segment, among count: Int, minimum: Int64)
        -> [DownloadAction]
    {
        let parts = min(Int64(count), only.remaining / max(minimum, 1))
        guard parts > 1 else { return [] }
        return moveEnd(of: only.owner, to: only.position + only.remaining / parts)
    }

    private mutating func shortenToChunk(_ plan: SegmentPlan) -> [DownloadAction] {
        guard let last = plan.segments.max(by: { $0.range.upper < $1.range.upper }),
            last.remaining > DownloadMachine.sequentialChunk * 2
        else { return [] }
        return moveEnd(of: last.owner, to: last.position + DownloadMachine.sequentialChunk)
    }

    private mutating func moveEnd(of id: TransferID, to end: Int64) -> [DownloadAction] {
        // Before its head is judged a transfer has no end that could be moved.
        guard running[id]?.isDelivering == true else { return [] }
        running[id]?.isMoving = true
        return [.moveEnd(id, to: end)]
    }

    /// Bytes a second of each transfer that has been delivering long enough to tell.
    private func measuredRates(now: Instant) -> [TransferID: Double] {
        running.compactMapValues { run in
            guard let first = run.firstDelivery, now.seconds(since: first) >= 0.3 else { return nil }
            return run.meter.rate(at: now) ?? 0
        }
    }

    /// Seconds until a new request delivers, as the requests so far took.
    private var setUpTime: Double {
        let times = running.values.compactMap { run in
            run.firstDelivery.map { $0.seconds(since: run.started) }
        }
        return times.isEmpty ? 0.1 : min(2, times.reduce(0, +) / Double(times.count))
    }

    /// Segmentation is over: what nobody owns goes to whom it follows, as far as the answers still reach.
    mutating func giveBack() -> [DownloadAction] {
        guard segmentationEnded, let plan else { return [] }
        return running.keys.sorted().flatMap { id -> [DownloadAction] in
            guard let reach = plan.reach(of: id), running[id]?.isMoving == false else { return [] }
            return moveEnd(of: id, to: reach)
        }
    }

    static let proofSize: Int64 = 16 << 10
    static let sequentialChunk: Int64 = 4 << 20
    /// Stands for the length of a file whose end only the server knows.
    static let unknownLength: Int64 = 1 << 62
}
