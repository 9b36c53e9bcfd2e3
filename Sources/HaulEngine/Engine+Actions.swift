import HaulCore
import HaulDisk
import HaulPlatform
import HaulTransfer

// What machines decide is carried out here.
extension Engine {
    func perform(_ actions: [DownloadAction], _ run: Run) {
        for action in actions { perform(action, run) }
    }

    private func perform(_ action: DownloadAction, _ run: Run) {
        switch action {
        case .start(let id, let work): start(id, work, run)
        case .cancel(let id): command(.cancel(id))
        case .moveEnd(let id, let end): command(.moveEnd(id, to: end))
        case .claim(let id, let body, let url, let empties):
            claim(id, body, from: url, empties: empties, run)
        case .lookAgain: lookAgain(run)
        case .proceed(let id): if let sink = run.sink { command(.proceed(id, sink)) }
        case .setAside: setAside(run)
        case .restart: restart(run)
        case .compare(let id, let range): compare(id, range, run)
        case .storeWhole(let id, let body, let url): storeWhole(id, body, from: url, run)
        case .verify(let length): verify(length, run)
        case .publish(let length): publish(length, run)
        case .throttled(let source, let retryAfter): throttled(source, retryAfter, run)
        case .refresh(let source): refresh(source, run)
        case .notice(let notice): tell(.notice(run.id, notice))
        case .state(let state): change(run, to: state)
        case .finish(let wasThere): end(run, .finished(wasThere: wasThere))
        case .fail(let error): end(run, .failed(error))
        }
    }

    func change(_ run: Run, to state: DownloadState) {
        guard run.state != state else { return }
        run.state = state
        tell(.stateChanged(run.id, state))
    }

    // MARK: Connections

    /// Starts what the queue allows.
    func startWaiting() {
        guard shutdownError == nil else { return }
        for id in scheduler.startable() {
            guard let run = runs[id] else { continue }
            active[id] = run
            change(run, to: .probing)
            begin(run)
        }
    }

    /// The same thing asked for twice waits for the first: what that makes will do for both.
    private func begin(_ run: Run) {
        if let subject = run.subject {
            guard followers[subject] == nil else {
                followers[subject]?.append(run.id)
                run.jobs += 1
                return
            }
            followers[subject] = []
        }
        prepare(run)
    }

    private func beginFollowers(of run: Run) {
        guard let subject = run.subject, var waiting = followers[subject] else { return }
        guard !waiting.contains(run.id) else {
            followers[subject]?.removeAll { $0 == run.id }
            return
        }
        followers[subject] = nil
        while !waiting.isEmpty {
            guard let next = runs[waiting.removeFirst()] else { continue }
            next.jobs -= 1
            guard !next.hasEnded else {
                closeIfIdle(next)
                continue
            }
            followers[subject] = waiting
            prepare(next)
            return
        }
    }

    /// Gives a run the connections it wants and its hosts allow.
    func connect(_ run: Run) {
        guard !run.hasEnded, run.directory != nil || run.sink != nil else { return }
        waitingForHost.remove(run.id)
        var full: Set<Int> = []
        let now = MonotonicClock.now
        run.lastAsked = now
        while let source = run.machine.nextSource(now: now, excluding: full) {
            let origin = run.machine.sources[source].current.origin
            guard governor(of: origin).admission(now: now) == .granted else {
                full.insert(source)
                waitingForHost.insert(run.id)
                continue
            }
            let id = nextTransfer()
            let actions = run.machine.connect(id, source: source, now: now)
            // Nothing to do after all: asking on would give the same answer.
            guard actions.contains(where: { if case .start = $0 { true } else { false } }) else {
                perform(actions, run)
                return
            }
            _ = governors[origin]?.acquire(now: now)
            run.transfers[id] = origin
            owners[id] = run.id
            perform(actions, run)
        }
    }

    @discardableResult
    func governor(of origin: Origin) -> Governor {
        if let known = governors[origin] { return known }
        let made = Governor(cap: firstCap)
        governors[origin] = made
        return made
    }

    /// Connections at once to one host, until it answers over HTTP/2.
    private var firstCap: Int { max(ConnectionTuner.automaticCap, explicitConnections) }

    /// What the user asked for by `--jobs` and `--connections`: it raises the caps.
    private var explicitConnections: Int {
        let jobs = if case .fixed(let count) = options.jobs { count } else { 1 }
        return min(1024, jobs * mostFixedConnections)
    }

    func release(_ origin: Origin) {
        governors[origin]?.release()
        for id in waitingForHost.sorted() {
            guard let run = runs[id] else { continue }
            connect(run)
            // The host may have become closed until some time, which nobody else may be waiting for.
            noteDeadline(of: run)
        }
    }

    private func start(_ id: TransferID, _ work: TransferWork, _ run: Run) {
        let delivery: TransferRequest.Delivery
        switch work.delivery {
        case .probe: delivery = .probe(limit: run.sink is StreamSink ? 0 : Engine.wholeLimit)
        case .sample: delivery = .sample
        case .segment(let end):
            guard let sink = run.sink else { return }
            delivery = .segment(sink, end: end)
        }
        let request = run.builder.request(
            id, work, delivery: delivery, group: run.id, cookies: run.cookies,
            scheme: run.schemes[work.url.origin] ?? .negotiate)
        allowHostConnections(for: request, run)
        command(.start(request))
    }

    /// libcurl shares few connections among many HTTP/2 streams; HTTP/1.1 needs one for each request.
    private func allowHostConnections(for request: TransferRequest, _ run: Run) {
        let isShared =
            request.url.scheme == "https" && !request.usesOwnConnection
            && !request.connection.usesHTTP1Only
        let mayShare =
            isShared && (fastestResponse[request.url.origin] != nil || run.machine.connections <= 1)
        guard !mayShare || singleConnectionHosts.contains(request.url.origin) else { return }
        let wanted = max(64, explicitConnections)
        guard wanted > hostConnections else { return }
        hostConnections = wanted
        command(.hostConnections(wanted))
    }

    private func throttled(_ source: Int, _ retryAfter: Double?, _ run: Run) {
        let origin = run.machine.sources[source].current.origin
        governor(of: origin)
        // What counts is what the host gives to all downloads together.
        let delivering = active.values.reduce(0) { sum, run in
            sum + run.transfers.count { $0.value == origin && run.machine.isDelivering($0.key) }
        }
        governors[origin]?.throttled(
            retryAfter: retryAfter, delivering: delivering, wait: run.spec.options.retryWait,
            now: MonotonicClock.now)
    }

    // MARK: Ends

    private func end(_ run: Run, _ ending: Run.Ending) {
        guard run.ending == nil else { return }
        run.ending = ending
        closeIfIdle(run)
    }

    /// The terminal event comes when no transfer and no job of the run is alive any more.
    func closeIfIdle(_ run: Run) {
        guard let ending = run.ending, run.transfers.isEmpty, run.jobs == 0, runs[run.id] != nil else {
            return
        }
        if let aside = run.aside {
            run.aside = nil
            let id = run.id
            return submit(run) {
                aside.keep()
                return .released(id)
            }
        }
        guard let partial = run.partial, !isPublished(ending) else { return close(run, ending) }
        run.partial = nil
        run.sink = nil
        let discards = isWorthless(run, ending)
        let syncs = shutdownError == nil
        let id = run.id
        submit(run) {
            if discards { partial.discard() } else { partial.keep(sync: syncs) }
            return .released(id)
        }
    }

    private func isPublished(_ ending: Run.Ending) -> Bool {
        if case .finished(wasThere: false) = ending { true } else { false }
    }

    /// Bytes that no later run could use.
    private func isWorthless(_ run: Run, _ ending: Run.Ending) -> Bool {
        guard case .failed(let error) = ending else { return false }
        if error.code == .diskFull { return false }
        return error.code == .checksumMismatch || run.machine.file.map { !$0.hasRanges } ?? false
    }

    private func length(of run: Run, _ wasThere: Bool) -> Int64 {
        if wasThere, let existing = run.existingLength { return existing }
        return run.wholeLength ?? run.machine.length ?? run.machine.done
    }

    func close(_ run: Run, _ ending: Run.Ending) {
        runs[run.id] = nil
        beginFollowers(of: run)
        waitingForHost.remove(run.id)
        if active.removeValue(forKey: run.id) == nil {
            _ = scheduler.remove(run.id)
        } else if run.hasFreedSlot {
            unpublished -= 1
        } else {
            scheduler.finished(run.id)
        }
        if run.cookies != run.spec.options.cookies { tell(.cookies(run.id, run.cookies)) }
        switch ending {
        case .finished(let wasThere):
            let result = DownloadResult(
                path: run.path, length: length(of: run, wasThere), received: run.received,
                seconds: max(0, MonotonicClock.now.seconds(since: run.started)), wasThere: wasThere,
                verified: run.verified)
            change(run, to: .finished)
            tell(.finished(run.id, result))
        case .failed(let error):
            change(run, to: error.code == .cancelled ? .cancelled : .failed)
            tell(.failed(run.id, error))
        }
        if runs.isEmpty {
            closers.forEach { $0.resume() }
            closers = []
        }
    }

    /// A body that is whole within so many bytes needs no partial file.
    static let wholeLimit = 256 << 10
}
