// Links that expire, refuse parts, or lead elsewhere.
extension DownloadMachine {
    /// 401, 403, 404 or 410: a temporary link may have expired, or an extra connection is not wanted.
    mutating func linkRefused(
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
    mutating func offsetRefused(
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
    func hasOtherTrusted(than index: Int) -> Bool {
        sources.indices.contains { $0 != index && isUsable($0) && sources[$0].trust == .trusted }
    }

    /// A fresh URL was supplied for a source, or there is none, and why.
    package mutating func refreshed(_ index: Int, _ answer: LinkAnswer, now: Instant) -> [DownloadAction] {
        guard sources.indices.contains(index), phase != .ended else { return [] }
        sources[index].notBefore = nil
        switch answer {
        case .none(let why):
            let error = HaulError(
                .forbidden,
                "\(sources[index].given.redacted) has expired and no fresh link was supplied: \(why)",
                advice: "get a fresh link and run again with the same output: the bytes are kept")
            return lose(index, error, now: now)
        case .fresh(let url):
            sources[index].replace(with: url)
            return fetchOn(now: now)
        }
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
}
