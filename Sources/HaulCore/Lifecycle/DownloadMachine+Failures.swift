// What goes wrong, and what is done about it.
extension DownloadMachine {
    mutating func failed(_ failure: Failure, _ run: Running, now: Instant, jitter: Double) -> [DownloadAction]
    {
        switch failure.kind {
        case .connection, .server, .throttled: return transient(failure, run, now: now, jitter: jitter)
        case .refusedLink: return linkRefused(failure, run, now: now, jitter: jitter)
        case .ranges: return rangesUnusable(failure.error.message, run, now: now)
        case .changed: return changed(failure, run)
        case .checksum: return checksumFailed(failure)
        case .disk: return end(.fail(failure.error))
        case .permanent: return finalAnswer(failure, run, now: now, jitter: jitter)
        }
    }

    /// A final refusal of the file, or only of asking for a part of it.
    private mutating func finalAnswer(
        _ failure: Failure, _ run: Running, now: Instant, jitter: Double
    ) -> [DownloadAction] {
        guard let status = failure.error.status, status != 407, let range = run.work.range,
            configuration.isPlainGet, configuration.window == nil
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
            actions.append(
                .throttled(source: index, retryAfter: failure.error.retryAfter))
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
        let decision = configuration.retry.decide(
            after: failure, attempt: sources[index].failures, now: now, jitter: jitter)
        switch decision {
        case .giveUp(let error):
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
            let (attempt, limit) = (sources[index].failures, configuration.retry.limit)
            return [
                .state(.retrying(seconds: delay, because: failure.error, attempt: attempt, of: limit))
            ]
        }
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
        return beginAgain(.notice(.cannotResume)) + wait
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

    // MARK: Links

    /// 401, 403, 404 or 410: a temporary link may have expired, or an extra connection is not wanted.
    private mutating func linkRefused(
        _ failure: Failure, _ run: Running, now: Instant, jitter: Double
    ) -> [DownloadAction] {
        let index = run.work.source
        let limit = max(1, configuration.retry.limit ?? 5)
        if run.work.url != sources[index].current { return fetchOn(now: now) }
        if sources[index].current != sources[index].given, sources[index].refreshes < limit {
            sources[index].current = sources[index].given
            sources[index].hops = 0
            sources[index].refreshes += 1
            sources[index].isRefreshing = true
            return fetchOn(now: now)
        }
        if configuration.hasRefresher, sources[index].refreshes < limit {
            sources[index].refreshes += 1
            sources[index].isRefreshing = true
            sources[index].notBefore = .distantFuture
            return [.refresh(source: index)]
        }
        guard phase == .fetching, let range = run.work.range, range != ByteRange(0, .max) else {
            return failure.error.status == 403
                ? finalAnswer(failure, run, now: now, jitter: jitter) : lose(index, failure.error, now: now)
        }
        return offsetRefused(failure, run, now: now, jitter: jitter)
    }

    /// A part was refused as if the link were dead: too many connections, no ranges, or it is.
    private mutating func offsetRefused(
        _ failure: Failure, _ run: Running, now: Instant, jitter: Double
    ) -> [DownloadAction] {
        let index = run.work.source
        if sources[index].delivered == 0, hasOtherTrusted(than: index) {
            return lose(index, failure.error, now: now)
        }
        // Requests that were under way together are refused together, for one reason.
        if let last = sources[index].offsetRefused, run.started < last { return fetchOn(now: now) }
        sources[index].offsetRefused = now
        if delivering > 0 || isSplittable && sources[index].delivered > 0 {
            let ended = endSegmentation()
            // The server may still count a connection that has just ended.
            sources[index].notBefore = now.advanced(
                by: configuration.retry.backOff(attempt: 1, jitter: jitter))
            return ended
        }
        guard !sources[index].wasAskedIfAlive else {
            return hasOtherTrusted(than: index)
                ? lose(index, failure.error, now: now) : startOver(cannotResume(failure))
        }
        return askIfAlive(failure, index, now: now)
    }

    /// What is on disk is given up only for a link that does give the first bytes.
    private mutating func askIfAlive(_ failure: Failure, _ index: Int, now: Instant) -> [DownloadAction] {
        // With nothing on disk a new probe costs nothing.
        if done == 0 { return startOver(failure.error.message) }
        guard !configuration.isStream, let first = plan?.done.ranges.first, first.lower == 0 else {
            return lose(index, failure.error, now: now)
        }
        let beginning = ByteRange(0, min(first.upper, DownloadMachine.proofSize))
        var samples = [beginning]
        if case .proving(let others) = sources[index].trust { samples += others.filter { $0 != beginning } }
        sources[index].wasAskedIfAlive = true
        sources[index].trust = .proving(samples)
        return fetchOn(now: now)
    }

    private mutating func cannotResume(_ failure: Failure) -> String {
        rangesFailed = true
        return "the server cannot resume: \(failure.error.message)"
    }

    /// Another source has the same bytes and can go on.
    private func hasOtherTrusted(than index: Int) -> Bool {
        sources.indices.contains { $0 != index && isUsable($0) && sources[$0].trust == .trusted }
    }

    /// A fresh URL was supplied for a source, or `nil`: there is none.
    package mutating func refreshed(_ index: Int, _ url: URLReference?, now: Instant) -> [DownloadAction] {
        guard sources.indices.contains(index), phase != .ended else { return [] }
        sources[index].notBefore = nil
        guard let url else {
            let error = HaulError(
                .forbidden, "\(sources[index].given.redacted) has expired and no fresh link was supplied",
                advice: "get a fresh link and run again with the same output: the bytes are kept")
            return lose(index, error, now: now)
        }
        sources[index].replace(with: url)
        return fetchOn(now: now)
    }

    private mutating func redirectedTo(_ url: URLReference, _ index: Int, dropsBody: Bool) {
        sources[index].current = url
        sources[index].hops += 1
        if dropsBody { sources[index].dropsBody = true }
    }

    mutating func redirected(_ run: Running, _ status: Int, _ location: String) -> [DownloadAction] {
        let index = run.work.source
        // Another request has followed already; hops count along one path, not over parallel requests.
        guard run.work.url == sources[index].current else { return [] }
        do throws(HaulError) {
            let url = try run.work.url.resolving(location)
            let next = try RedirectPolicy.next(
                from: run.work.url, to: url, hop: sources[index].hops + 1, status: status,
                method: run.work.dropsBody ? "GET" : configuration.method,
                allowsDowngrade: configuration.allowsDowngrade)
            redirectedTo(url, index, dropsBody: !next.keepsBody)
            return []
        } catch {
            return lose(index, error, now: run.started)
        }
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
    private mutating func rangesUnusable(_ why: String, _ run: Running, now: Instant) -> [DownloadAction] {
        if hasOtherTrusted(than: run.work.source) {
            return lose(run.work.source, HaulError(.rangeRefused, why), now: now)
        }
        guard delivering == 0 else { return endSegmentation() }
        rangesFailed = true
        return startOver("the server cannot resume: \(why)")
    }

    private mutating func endSegmentation() -> [DownloadAction] {
        segmentationEnded = true
        tuner.limit(to: max(1, delivering))
        return giveBack()
    }

    /// Everything on disk is void: the file changed, or cannot be continued.
    mutating func startOver(_ why: String) -> [DownloadAction] {
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
        return beginAgain(.notice(.restarted(why)))
    }

    mutating func beginAgain(_ notice: DownloadAction) -> [DownloadAction] {
        let cancelled = cancelAll()
        let reset: [DownloadAction]
        if phase == .claiming, claiming != nil {
            wantsRestart = true
            reset = []
        } else {
            reset = [.restart]
        }
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
        phase = .claiming
        return cancelled + [notice] + reset
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
        return beginAgain(.notice(.restarted(failure.error.message)))
    }

    /// What servers say to a Range they do not want, besides what they should (200 or 416).
    static let rangeRefusals: Set<Int> = [400, 403, 405, 406, 412, 417, 501]
    /// Bytes of one transfer that count as progress of its own.
    static let someProgress: Int64 = 64 << 10
    static let mostRestarts = 5
}
