import Glibc
import HaulCore
import HaulPlatform
import HaulTransfer

// What threads tell is handed to the machines here.
extension Engine {
    func handle(_ message: Inbound) {
        switch message {
        case .transfers(let batch): for event in batch { handle(event) }
        case .whole(let outcomes): for (id, outcome) in outcomes { wholeDone(id, outcome) }
        case .alarm: alarmRang()
        case .prepared(let batch): for (id, result) in batch { withRun(id) { prepared(result, $0) } }
        case .claimed(let id, let transfer, let result): withRun(id) { claimed(transfer, result, $0) }
        case .restarted(let id, let error): withRun(id) { restarted(error, $0) }
        case .compared(let id, let transfer, let isEqual): withRun(id) { compared(transfer, isEqual, $0) }
        case .verified(let id, let result): withRun(id) { verified(result, $0) }
        case .published(let id, let result): withRun(id) { published(result, $0) }
        case .synced(let id): withRun(id) { $0.isSyncing = false }
        case .refreshed(let id, let source, let answer): refreshed(id, source, answer)
        case .released(let id): withRun(id) { _ in }
        case .waitedLongEnough(let id): prepareAgain(id)
        }
    }

    /// One job of a run is done; then the run goes on or ends.
    private func withRun(_ id: DownloadID, _ body: (Run) -> Void) {
        guard let run = runs[id] else { return }
        run.jobs -= 1
        body(run)
        goOn(run)
    }

    private func refreshed(_ id: DownloadID, _ source: Int, _ answer: LinkAnswer) {
        guard let run = runs[id] else { return }
        run.refreshes -= 1
        perform(run.machine.refreshed(source, answer, now: MonotonicClock.now), run)
        goOn(run)
    }

    func goOn(_ run: Run) {
        guard run.ending == nil else { return closeIfIdle(run) }
        connect(run)
        noteDeadline(of: run)
        guard isStuck(run) else { return }
        perform(run.machine.interrupted(HaulError(.bug, "\(run.primary.redacted) waits for nothing")), run)
    }

    private func handle(_ event: TransferEvent) {
        switch event {
        case .head(let id, let body, let head):
            withOwner(id) { run in
                run.reportedHeads.insert(id)
                if options.reportsHeads { tell(.head(run.id, head)) }
                perform(run.machine.headAccepted(id, body, now: MonotonicClock.now), run)
            }
        case .delivering(let id):
            withOwner(id) { run in
                if let origin = run.transfers[id] { governors[origin]?.delivered() }
                perform(run.machine.delivering(id, now: MonotonicClock.now), run)
            }
        case .committed(let id, let range):
            withOwner(id) { run in
                perform(run.machine.committed(id, range, now: MonotonicClock.now), run)
                keepDurable(range, run)
            }
        case .endMoved(let id, let end):
            withOwner(id) { run in
                perform(run.machine.endMoved(id, end, now: MonotonicClock.now), run)
                connect(run)
            }
        case .finished(let id, let report):
            withOwner(id) { finished(id, report, $0) }
        }
    }

    private func withOwner(_ id: TransferID, _ body: (Run) -> Void) {
        guard let owner = owners[id], let run = runs[owner] else { return }
        body(run)
    }

    private func finished(_ id: TransferID, _ report: TransferReport, _ run: Run) {
        let origin = run.transfers.removeValue(forKey: id)
        owners[id] = nil
        run.received += report.received
        if case .whole = report.outcome, let origin { governors[origin]?.delivered() }
        learn(report, at: origin, run)
        if options.reportsHeads, let head = report.head, run.reportedHeads.remove(id) == nil {
            tell(.head(run.id, head))
        }
        let end = transferEnd(id, report, run)
        perform(run.machine.transferFinished(id, end, now: MonotonicClock.now, jitter: nextJitter()), run)
        if run.wantsRestart, run.transfers.isEmpty { restart(run) }
        goOn(run)
        if let origin { release(origin) }
    }

    private func learn(_ report: TransferReport, at origin: Origin?, _ run: Run) {
        if let cookies = report.cookies { run.cookies = cookies }
        guard let origin, report.head != nil else { return }
        if let scheme = report.offeredScheme { run.schemes[origin] = scheme }
        if report.isHTTP2 {
            allowStreams(of: origin, response: report.response)
        } else if origin.scheme == "https" {
            singleConnectionHosts.insert(origin)
        }
    }

    /// What the host's fastest answer allows.
    private func allowStreams(of origin: Origin, response: Double) {
        let fastest = min(fastestResponse[origin] ?? .infinity, response)
        guard fastestResponse[origin] != fastest else { return }
        fastestResponse[origin] = fastest
        let streams = StreamAllowance.streams(fastestAnswer: fastest)
        governors[origin]?.configuredCap = streams
        guard case .auto = options.jobs else { return }
        scheduler.limit = max(scheduler.limit, streams)
        scheduler.setLimit(streams, of: hostNumber(of: origin))
    }

    private func transferEnd(_ id: TransferID, _ report: TransferReport, _ run: Run) -> TransferEnd {
        let url = run.machine.url(of: id) ?? run.primary
        switch report.outcome {
        case .completed(let isWhole): return .completed(isWhole: isWhole)
        case .whole(let bytes, let body):
            run.bytes[id] = bytes
            return .whole(body)
        case .sampled(let bytes, let body):
            run.bytes[id] = bytes
            return .sampled(body)
        case .failed(let failure): return .failed(failure.failure(of: url, viaProxy: viaProxy(url, run)))
        case .sinkFailed(let failure): return .failed(Failure(.disk, DiskErrors.error(failure)))
        case .cancelled: return .cancelled
        case .verdict(let verdict): return verdictEnd(verdict, report, url, run)
        }
    }

    private func viaProxy(_ url: URLReference, _ run: Run) -> Bool {
        ProxyUse.isPossible(option: run.spec.options.connection.proxy, scheme: url.scheme) {
            getenv($0).map { String(cString: $0) }
        }
    }

    private func verdictEnd(
        _ verdict: Verdict, _ report: TransferReport, _ url: URLReference, _ run: Run
    ) -> TransferEnd {
        switch verdict {
        case .redirect(let status, let location): return .redirect(status: status, location: location)
        case .notModified: return .notModified
        case .nothingLeft(let length): return .nothingLeft(length: length)
        case .refused(let refusal):
            let isImpostor = WebPage.isImpostor(
                contentType: report.head?.fields["Content-Type"], known: run.machine.file)
            return .refused(
                refusal,
                refusal.failure(
                    of: url, isImpostor: isImpostor, viaProxy: viaProxy(url, run),
                    login: run.builder.login(for: url)))
        case .body:
            // A body is never a verdict on its own: the transfer thread reports it as what became of it.
            return .failed(Failure(.permanent, HaulError(.bug, "a body was reported as a verdict")))
        }
    }

    private func wholeDone(_ id: DownloadID, _ outcome: WholePublisher.Outcome) {
        guard let run = runs[id] else { return }
        run.jobs -= 1
        switch outcome {
        case .published(let path, let verified):
            run.path = path
            run.verified = verified
            perform(run.machine.published(), run)
        case .wasThere(let path):
            run.path = path
            perform(run.machine.wasThere(), run)
        case .mismatch(let computed, let expected):
            perform(run.machine.wholeRefused(ChecksumMismatch.failure(computed, expected, run.primary)), run)
        case .failed(let failure): perform(run.machine.diskFailed(DiskErrors.error(failure)), run)
        }
        goOn(run)
    }
}

/// Bytes that are all there and are not the right ones.
enum ChecksumMismatch {
    static func failure(_ computed: ChecksumValue, _ expected: ChecksumValue, _ url: URLReference) -> Failure
    {
        Failure(
            .checksum,
            HaulError(
                .checksumMismatch,
                "\(url.redacted) has the \(expected.algorithm.rawValue) \(computed.hex), not \(expected.hex)",
                advice: "the file was not kept; check the checksum and the source"))
    }
}
