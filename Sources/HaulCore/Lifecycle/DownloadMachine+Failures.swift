// What goes wrong, and what is done about it.
extension DownloadMachine {
    mutating func failed(_ failure: Failure, _ run: Running, now: Instant, jitter: Double) -> [DownloadAction]
    {
        switch failure.kind {
        case .connection, .server, .throttled: return transient(failure, run, now: now, jitter: jitter)
        case .refusedLink: return linkRefused(failure, run, now: now, jitter: jitter)
        case .ranges: return rangesUnusable(failure, run, now: now, jitter: jitter)
        case .changed: return changed(failure, run)
        case .checksum: return checksumFailed(failure)
        case .disk: return end(.fail(failure.error))
        case .permanent: return finalAnswer(failure, run, now: now, jitter: jitter)
        }
    }

    /// A final refusal of the file, or only of asking for a part of it.
    mutating func finalAnswer(
        _ failure: Failure, _ run: Running, now: Instant, jitter: Double
    ) -> [DownloadAction] {
        guard let status = failure.error.status, let range = run.work.range, configuration.isPlainGet,
            configuration.window == nil, failure.error.code != .authenticationFailed
        else { return lose(run.work.source, failure.error, now: now) }
        if phase == .probing, !rangesFailed, DownloadMachine.rangeRefusals.contains(status) {
            // Some servers refuse any Range: asked once more without.
            rangesFailed = true
            return []
        }
        guard phase == .fetching, range != ByteRange(0, .max) else {
            return lose(run.work.source, failure.error, now: now)
        }
        return offsetRefused(failure, run, now: now, jitter: jitter)
    }

    mutating func refused(
        _ refusal: Refusal, _ failure: Failure, _ run: Running, now: Instant, jitter: Double
    ) -> [DownloadAction] {
        if case .rangeIgnored = refusal, run.work.ifRange != nil {
            // Some servers give 200 to any If-Range: asked once more without, and the 206 is judged as strictly.
            sources[run.work.source].ignoresIfRange = true
            return fetchOn(now: now)
        }
        if case .status(416, _) = refusal, isLengthUnknown, let end = plan?.done.contiguousEnd, end > 0,
            run.work.range?.lower == end
        {
            return nothingLeft(end, run, now: now)
        }
        return failed(failure, run, now: now, jitter: jitter)
    }

    // MARK: Again, later

    private mutating func transient(
        _ failure: Failure, _ run: Running, now: Instant, jitter: Double
    ) -> [DownloadAction] {
        let index = run.work.source
        guard mayRepeat(failure) else { return end(.fail(failure.error)) }
        var actions: [DownloadAction] = []
        // A connection that is refused before it delivers, while others do or did, is 'too many' said without words.
        // A source that never delivered says nothing about how many the others allow.
        let isTooMany =
            !run.isDelivering && sources[index].delivered > 0
            && (delivering > 0 || !running.isEmpty && mostDelivering > 0)
        if isTooMany { tuner.backOff(delivering: max(delivering, mostDelivering)) }
        if failure.kind == .throttled || isTooMany {
            // A time that nobody will wait for here is no reason to hold back the others.
            let asked = configuration.retry.acceptable(failure.error.retryAfter, now: now)
            actions.append(.throttled(source: index, retryAfter: asked))
        }
        guard canGoOn(from: run) else {
            return actions + retryFromStart(failure, run, now: now, jitter: jitter)
        }
        if delivering > 0 {
            // The others show that the host lives: as many as deliver are enough for it.
            if failure.kind == .throttled { tuner.backOff(delivering: delivering) }
            if run.bytes < DownloadMachine.someProgress {
                sources[index].notBefore = now.advanced(
                    by: configuration.retry.backOff(attempt: 1, jitter: jitter))
            }
            return actions + fetchOn(now: now)
        }
        if run.bytes >= DownloadMachine.someProgress, failure.kind == .connection {
            return actions + fetchOn(now: now)
        }
        return actions + waitOrGiveUp(failure, run, now: now, jitter: jitter) + fetchOn(now: now)
    }

    /// A request that may have had its effect already is not made again (RFC 9110 §9.2.2).
    private func mayRepeat(_ failure: Failure) -> Bool {
        let neverArrived: [HaulError.Code] = [
            .resolveFailed, .connectFailed, .connectTimeout, .timeoutStatus,
        ]
        return configuration.isRepeatable || failure.kind == .throttled
            || neverArrived.contains(failure.error.code)
    }

    /// What is on disk counts for the next request.
    private func canGoOn(from run: Running) -> Bool {
        guard phase == .fetching || phase == .claiming, let file, let plan else { return true }
        return file.hasRanges && !rangesFailed
            || plan.done.isEmpty && phase == .fetching && run.work.delivery != .probe
    }

    private mutating func waitOrGiveUp(
        _ failure: Failure, _ run: Running, now: Instant, jitter: Double
    ) -> [DownloadAction] {
        let index = run.work.source
        // Failures of requests that were under way together are one failure.
        let isCounted = lastCounted.map({ run.started >= $0 }) ?? true || sources[index].failures == 0
        if isCounted {
            sources[index].failures += 1
            lastCounted = now
        }
        let hasBytes = received > 0 || done > 0
        let decision = configuration.retry.decide(
            after: failure, attempt: sources[index].failures, hasBytes: hasBytes, now: now, jitter: jitter)
        switch decision {
        case .giveUp(let error):
            if mayOnlyRefuseRange(failure, run) {
                // The count stays where it is: this is the last try.
                rangesFailed = true
                let delay = configuration.retry.backOff(attempt: 1, jitter: jitter)
                sources[index].notBefore = now.advanced(by: delay)
                return [.state(.retrying(seconds: delay, because: failure.error))]
            }
            if mayOnlyRefuseParts(failure, run) {
                sources[index].failures = 0
                return offsetRefused(failure, run, now: now, jitter: jitter)
            }
            return lose(index, error, now: now)
        case .retry(let delay):
            sources[index].notBefore = now.advanced(by: delay)
            let others = sources.indices.contains { $0 != index && sources[$0].isAlive }
            if others, isCounted, sources[index].failures == 1, sources[index].delivered == 0 {
                return [leftOut(index, "is left out for now", failure.error)]
            }
            if others || delivering > 0 { return [] }
            let limit = configuration.retry.limit(after: failure, hasBytes: hasBytes)
            return [
                .state(
                    .retrying(
                        seconds: delay, because: failure.error, attempt: sources[index].failures, of: limit))
            ]
        }
    }

    /// A server that chokes on any Range may still give the whole: asked once without, when nothing came yet.
    private func mayOnlyRefuseRange(_ failure: Failure, _ run: Running) -> Bool {
        guard let status = failure.error.status, status >= 500, failure.error.retryAfter == nil,
            let limit = configuration.retry.limit, sources[run.work.source].failures > limit
        else { return false }
        let others = sources.indices.contains { $0 != run.work.source && isUsable($0) }
        return phase == .probing && run.work.range != nil && !rangesFailed && !others
            && configuration.isPlainGet && configuration.window == nil
    }

    /// Asking for parts fails again and again with an answer; asking for the whole was never tried since.
    private func mayOnlyRefuseParts(_ failure: Failure, _ run: Running) -> Bool {
        guard failure.kind != .connection, phase == .fetching, let range = run.work.range, range.lower > 0
        else {
            return false
        }
        return configuration.isPlainGet && !configuration.isStream
            && !sources[run.work.source].wasAskedIfAlive
    }

    /// The server cannot resume: what came is of no use, and the next try begins at byte 0.
    private mutating func retryFromStart(
        _ failure: Failure, _ run: Running, now: Instant, jitter: Double
    ) -> [DownloadAction] {
        guard !configuration.isStream || received == 0 else { return end(.fail(failure.error)) }
        let wait = waitOrGiveUp(failure, run, now: now, jitter: jitter)
        guard phase != .ended else { return wait }
        return beginAgain() + wait
    }

    /// A source is of no use any more in this run.
    mutating func lose(_ index: Int, _ error: HaulError, now: Instant) -> [DownloadAction] {
        sources[index].death = error
        if soloSource == index { soloSource = nil }
        guard sources.contains(where: { $0.isAlive && !$0.isSuspect }) else { return end(.fail(error)) }
        return [leftOut(index, "is left out", error)] + fetchOn(now: now)
    }

    /// Names the source once, although most reasons name it too.
    private func leftOut(_ index: Int, _ how: String, _ error: HaulError) -> DownloadAction {
        let name = sources[index].given.redacted
        return .notice(.warning("\(name) \(how): \(error.message.replacing(name, with: "it"))"))
    }

    // MARK: Other bytes

    private mutating func changed(_ failure: Failure, _ run: Running) -> [DownloadAction] {
        let index = run.work.source
        if sources[index].trust != .trusted, done > 0, hasOtherTrusted(than: index) {
            var error = failure.error
            error.code = .mirrorDiffers
            return lose(index, error, now: run.started)
        }
        // Others still deliver the version that is on disk: no reason to throw it away.
        guard delivering == 0 else { return endSegmentation() }
        return startOver(failure.error.message)
    }

    /// The server gives no (or other) ranges than asked.
    private mutating func rangesUnusable(
        _ failure: Failure, _ run: Running, now: Instant, jitter: Double
    ) -> [DownloadAction] {
        if hasOtherTrusted(than: run.work.source) {
            return lose(run.work.source, failure.error, now: now)
        }
        if run.work.range == nil || configuration.window != nil {
            // Nothing else is left to ask for. A wrong part may be one bad node's, a refusal is everybody's.
            guard failure.error.status == nil else { return lose(run.work.source, failure.error, now: now) }
            return waitOrGiveUp(Failure(.server, failure.error), run, now: now, jitter: jitter)
        }
        guard delivering == 0 else { return endSegmentation() }
        rangesFailed = true
        return startOver("the server cannot resume: \(failure.error.message)", keepsUntilAnswer: true)
    }

    mutating func endSegmentation() -> [DownloadAction] {
        segmentationEnded = true
        tuner.limit(to: max(1, delivering))
        return giveBack()
    }

    /// Everything on disk is void: the file changed, or cannot be continued.
    ///
    /// `keepsUntilAnswer`: only once the server does give the file from its start.
    mutating func startOver(_ why: String, keepsUntilAnswer: Bool = false) -> [DownloadAction] {
        guard !configuration.isStream || received == 0 else {
            return end(
                .fail(
                    HaulError(
                        .sourceChanged,
                        "\(sources[0].given.redacted) changed while it was written out: \(why)",
                        advice: "run again")))
        }
        restarts += 1
        guard restarts <= DownloadMachine.mostRestarts else {
            return end(
                .fail(
                    HaulError(
                        .sourceChanged, "\(sources[0].given.redacted) keeps changing: \(why)",
                        advice: "try again later")))
        }
        return beginAgain(.notice(.restarted(why)), keepsUntilAnswer: keepsUntilAnswer)
    }

    mutating func beginAgain(_ notice: DownloadAction? = nil, keepsUntilAnswer: Bool = false)
        -> [DownloadAction]
    {
        let cancelled = cancelAll()
        let keeps = keepsUntilAnswer && phase == .fetching && done > 0
        let reset: [DownloadAction]
        if phase == .claiming, claiming != nil {
            wantsRestart = true
            reset = []
        } else {
            reset = keeps ? [] : [.restart]
        }
        isVoid = keeps
        file = nil
        plan = nil
        condition = nil
        comparing = [:]
        segmentationEnded = false
        usedSamples = false
        tuner = ConnectionTuner(fixed: configuration.connections)
        for index in sources.indices {
            sources[index].trust = .unknown
            sources[index].validator = nil
            sources[index].refreshes = 0
        }
        phase = keeps ? .probing : .claiming
        return cancelled + (notice.map { [$0] } ?? []) + reset
    }

    /// All bytes are there, and are not the right ones.
    mutating func checksumFailed(_ failure: Failure) -> [DownloadAction] {
        checksumFailures += 1
        let contributors = sources.indices.filter { sources[$0].delivered > 0 || sources.count == 1 }
        if let soloSource {
            sources[soloSource].isSuspect = true
        } else if contributors.count == 1, sources.count > 1, let only = contributors.first {
            sources[only].isSuspect = true
        }
        guard !configuration.isStream, configuration.isRepeatable else { return end(.fail(failure.error)) }
        let candidates = sources.indices.filter { sources[$0].isAlive && !sources[$0].isSuspect }
        guard let next = candidates.min(by: { sources[$0].delivered < sources[$1].delivered }),
            sources.count > 1 || checksumFailures < 2
        else { return end(.fail(failure.error)) }
        if sources.count > 1 { soloSource = next }
        // Both digests are told when the second try fails as well.
        return beginAgain(.notice(.restarted("what came does not match the checksum")))
    }

    /// What servers say to a Range they do not want, besides what they should (200 or 416).
    static let rangeRefusals: Set<Int> = [400, 403, 405, 406, 412, 417, 501]
    /// Bytes of one transfer that count as progress of its own.
    static let someProgress: Int64 = 64 << 10
    static let mostRestarts = 5
}
