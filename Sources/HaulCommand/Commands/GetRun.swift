import HaulCore
import HaulEngine

/// Feeds an engine and follows its events to the end; one run of `haul get`.
struct GetRun<Engine: DownloadEngine> {
    /// The most downloads that wait in the engine: enough to keep it busy, and memory within bounds.
    private static var window: Int { 2000 }
    /// The most that the engine is given at a time: the first ones start before the last line is read.
    private static var batch: Int { 64 }
    /// The most failures that the summary names.
    private static var mostNamed: Int { 100 }

    private struct Job {
        let subject: EventJSON.Subject
        var path: String?
        /// What came is of no use to a later run.
        var startsOver: Bool
    }

    private var session: EngineSession<Engine>
    private var plan: DownloadPlan
    private let total: Int
    private let configuration: GetConfiguration
    private let world: World
    private let dump: HeaderDump?
    private let reporter: Reporter
    private let hooks: Hooks
    private let ticker: Ticker?

    private var jobs: [DownloadID: Job] = [:]
    private var given = 0
    private var isExhausted = false
    /// A failure ended everything (`--fail-early`).
    private var isStopping = false
    private var finished = 0
    private var failed = 0
    private var failedURLs: [String] = []
    /// Interrupted downloads that a later run goes on with, and those it has to begin anew.
    private var interrupted = (toContinue: 0, toStartOver: 0)
    private var firstFailure: (index: Int, code: HaulError.Code)?
    private var cookies = CookieLines()
    /// What went wrong beside the downloads.
    private var sideFailure: HaulError?

    init(
        session: EngineSession<Engine>, plan: DownloadPlan, total: Int, configuration: GetConfiguration,
        world: World, dump: HeaderDump?
    ) {
        let style = Reporter.Style.of(configuration, hasBars: world.console.hasBars)
        let reporter = Reporter(
            style: style, isVerbose: configuration.isVerbose, console: world.console, total: total)
        self.session = session
        self.plan = plan
        self.total = total
        self.configuration = configuration
        self.world = world
        self.dump = dump
        self.reporter = reporter
        // The words were checked when the options were read.
        let words = { (text: String?) in text.flatMap { try? CommandLineWords.split($0, label: "") } }
        hooks = Hooks(
            onFinished: words(configuration.onFinished), onFailed: words(configuration.onFailed),
            environment: world.environment
        ) { await reporter.warn($0) }
        let engine = session.engine
        ticker = style.interval.map { interval in
            Ticker(
                interval: interval, samples: { await engine.samples() },
                show: { await reporter.progressed($0) })
        }
        cookies.add(configuration.download.cookies)
    }

    /// - Returns: the exit status.
    mutating func toTheEnd() async -> Int32 {
        await feed()
        while !jobs.isEmpty, let events = await session.next() {
            await handle(events)
            await feed()
        }
        await ticker?.stop()
        await reporter.clear()
        await hooks.drain()
        await session.close(because: HaulError(.cancelled, "everything was done"))
        saveCookies()
        return await conclude()
    }

    // MARK: Feeding

    private mutating func feed() async {
        while !isExhausted, !isStopping, session.signal == nil, jobs.count < limit {
            let specs = nextSpecs(min(limit - jobs.count, GetRun.batch))
            guard !specs.isEmpty else { return }
            var added: [(DownloadID, EventJSON.Subject)] = []
            for (id, spec) in zip(await session.engine.add(specs), specs) {
                given += 1
                let subject = EventJSON.Subject(index: given, url: spec.redactedURL)
                jobs[id] = Job(subject: subject, startsOver: !spec.options.mayResume)
                added.append((id, subject))
            }
            await reporter.added(added)
        }
    }

    private mutating func nextSpecs(_ count: Int) -> [DownloadSpec] {
        var specs: [DownloadSpec] = []
        do throws(HaulError) {
            while specs.count < count {
                guard let spec = try plan.next() else {
                    isExhausted = true
                    break
                }
                specs.append(spec)
            }
        } catch {
            // The list was checked before, so it has changed since; what follows cannot be trusted.
            isExhausted = true
            sideFailure = error
        }
        return specs
    }

    /// Standard output takes one download after the other.
    private var limit: Int { configuration.outputs.contains("-") ? 1 : GetRun.window }

    // MARK: Events

    private mutating func handle(_ events: [EngineEvent]) async {
        var told: [Reporter.Item] = []
        var ended: [(Job, Result<DownloadResult, HaulError>)] = []
        var wakes = false
        for event in events {
            var event = event
            var isWanted = true
            switch event {
            case .stateChanged(_, let state): wakes = wakes || state != .queued
            case .named(let id, let path): jobs[id]?.path = path
            case .head(_, let head):
                do throws(HaulError) { try dump?.write(head) } catch { sideFailure = sideFailure ?? error }
            case .notice(let id, .cannotResume): jobs[id]?.startsOver = true
            case .notice: break
            case .cookies(_, let lines): if configuration.saveCookies != nil { cookies.add(lines) }
            case .finished(let id, let result):
                guard let job = jobs.removeValue(forKey: id) else { continue }
                finished += 1
                ended.append((job, .success(result)))
            case .failed(let id, let error):
                guard let job = jobs.removeValue(forKey: id) else { continue }
                isWanted = count(error, of: job)
                if isWanted { ended.append((job, .failure(error))) }
                if error.code == .interrupted, job.startsOver {
                    var error = error
                    error.advice = "run again to start over"
                    event = .failed(id, error)
                }
            }
            told.append(Reporter.Item(event: event, isWanted: isWanted))
        }
        await reporter.report(told, now: world.now())
        if wakes { await ticker?.wake() }
        if hooks.areSet { for (job, result) in ended { await run(hooks, job, result) } }
        if failed > 0, configuration.failsEarly, !isStopping {
            isStopping = true
            await session.engine.shutdown(because: HaulError(.cancelled, "stopped after the first failure"))
        }
    }

    /// - Returns: whether it is a failure of its own, and not the end of everything that reached it.
    private mutating func count(_ error: HaulError, of job: Job) -> Bool {
        let wasStopped = error.code == .interrupted || error.code == .cancelled
        guard !(wasStopped && (isStopping || session.signal != nil)) else {
            let hasBegun = job.path != nil
            if hasBegun, job.startsOver { interrupted.toStartOver += 1 } else { interrupted.toContinue += 1 }
            return false
        }
        failed += 1
        if job.subject.index < firstFailure?.index ?? .max { firstFailure = (job.subject.index, error.code) }
        if failedURLs.count < GetRun.mostNamed { failedURLs.append(job.subject.url) }
        return true
    }

    private func run(_ hooks: Hooks, _ job: Job, _ result: Result<DownloadResult, HaulError>) async {
        switch result {
        case .success(let result): await hooks.finished(job.subject.url, result)
        case .failure(let error): await hooks.failed(job.subject.url, error, path: job.path)
        }
    }

    // MARK: The end

    private mutating func saveCookies() {
        guard let path = configuration.saveCookies else { return }
        do throws(HaulError) {
            try SmallFile.replace(path, with: CookieFile.text(cookies.lines))
        } catch {
            sideFailure = sideFailure ?? error
        }
    }

    private func conclude() async -> Int32 {
        var status = firstFailure.map { ExitStatus.of($0.code) } ?? ExitStatus.done
        let problem = await reporter.outputProblem
        if problem != 0 {
            // Whoever waits for the paths has to know, be it that nobody reads them.
            await reporter.say(Messages.error(SmallFile.failure("write to", "standard output", problem)))
            if status == ExitStatus.done { status = ExitStatus.file }
        }
        if let sideFailure {
            await reporter.say(Messages.error(sideFailure))
            if status == ExitStatus.done { status = ExitStatus.of(sideFailure.code) }
        }
        if let signal = session.signal, finished + failed < total {
            status = ExitStatus.of(signal: signal)
            let isStream = configuration.outputs.contains("-")
            let continues = interrupted.toContinue > 0 || finished > 0 || given < total
            await reporter.sayUnlessJSON(
                Messages.interrupted(
                    continues: continues && !isStream, startingOver: isStream ? 0 : interrupted.toStartOver))
        } else if total > 1, failed > 0 {
            let notStarted = isStopping ? total - finished - failed : 0
            for line in Messages.summary(
                failed: failed, total: total, urls: failedURLs, notStarted: notStarted)
            {
                await reporter.sayUnlessJSON(line)
            }
        }
        if status == ExitStatus.done, finished < total { status = ExitStatus.other }
        await reporter.emitIfJSON(
            EventJSON.summary(total: total, finished: finished, failed: failed, status: status))
        return status
    }
}

extension DownloadOptions {
    /// A later run may go on with what came of it, where the server can.
    fileprivate var mayResume: Bool { resume != .never && range == nil && (method ?? "GET") == "GET" }
}
