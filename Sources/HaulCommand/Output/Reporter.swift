package import HaulCore
package import HaulEngine

/// Says what happens: paths of results on standard output, everything else on standard error.
package actor Reporter {
    /// What is said, and where.
    package enum Style: Hashable, Sendable {
        case bars
        case plain
        /// Messages, but no progress.
        case messages
        /// Only errors.
        case quiet
        /// JSON lines on standard output instead of everything.
        case json
        /// JSON lines on standard error, paths on standard output.
        case jsonProgress

        package static func of(_ configuration: GetConfiguration, hasBars: Bool) -> Style {
            if configuration.writesJSON { return .json }
            if configuration.progress == .json { return .jsonProgress }
            if configuration.isQuiet { return .quiet }
            switch configuration.progress {
            case .plain: return .plain
            case .some(.none): return .messages
            case .bar, .json, nil: return hasBars ? .bars : .plain
            }
        }

        /// Seconds between two looks at the progress; `nil`: none.
        package var interval: Double? {
            switch self {
            case .bars: 0.1
            case .plain: 10
            case .json, .jsonProgress: 0.5
            case .messages, .quiet: nil
            }
        }

        fileprivate var isHuman: Bool { self == .bars || self == .plain || self == .messages }
        fileprivate var isJSON: Bool { self == .json || self == .jsonProgress }
    }

    private struct Job {
        let subject: EventJSON.Subject
        var path: String?

        /// The last component of the path, or the URL until that is known.
        var name: String {
            guard let path, let slash = path.lastIndex(of: "/") else { return path ?? subject.url }
            return String(path[slash...].dropFirst())
        }
    }

    private let style: Style
    private let isVerbose: Bool
    private let console: Console
    private var jobs: [DownloadID: Job] = [:]
    private var tally: Tally
    private var display = ProgressDisplay()
    /// Seconds on the caller's clock before which no further line about a retry is wanted.
    private var quietUntil = -Double.infinity
    /// Lines for standard output: what happened at one moment is written at once.
    private var unwritten = ""
    private var isReporting = false
    /// The error number of the first write to standard output that failed, or 0.
    package private(set) var outputProblem: Int32 = 0

    package init(style: Style, isVerbose: Bool, console: Console, total: Int) {
        self.style = style
        self.isVerbose = isVerbose
        self.console = console
        tally = Tally(total: total)
    }

    // MARK: Events

    /// An event, and whether a person wants to read of it: those stopped by an interruption are not told.
    package struct Item: Sendable {
        package var event: EngineEvent
        package var isWanted: Bool

        package init(event: EngineEvent, isWanted: Bool = true) {
            self.event = event
            self.isWanted = isWanted
        }
    }

    package func added(_ downloads: [(DownloadID, EventJSON.Subject)]) {
        for (id, subject) in downloads { jobs[id] = Job(subject: subject) }
    }

    /// `now`: Seconds of a clock that does not go back.
    package func report(_ items: [Item], now: Double) {
        isReporting = true
        defer {
            isReporting = false
            flush()
        }
        for item in items {
            switch item.event {
            case .stateChanged(let id, let state): stateChanged(id, state, now: now)
            case .named(let id, let path): named(id, path: path)
            case .notice(let id, let notice): noticed(id, notice)
            case .finished(let id, let result): finished(id, result)
            case .failed(let id, let error): failed(id, error, isWanted: item.isWanted)
            case .head, .cookies: break
            }
        }
    }

    private func stateChanged(_ id: DownloadID, _ state: DownloadState, now: Double) {
        guard let job = jobs[id] else { return }
        if style.isJSON { emit(EventJSON.state(job.subject, state)) }
        guard let retry = Retry(state), style.isHuman, style != .bars || isVerbose
        else { return }
        guard isVerbose || now >= quietUntil else { return }
        quietUntil = now + 10
        say(Messages.retrying(job.name, retry))
    }

    private func named(_ id: DownloadID, path: String) {
        guard jobs[id] != nil else { return }
        jobs[id]?.path = path
        guard let job = jobs[id] else { return }
        if style.isJSON { emit(EventJSON.named(job.subject, path: path)) }
        if style == .plain && tally.total == 1 || style.isHuman && isVerbose { say(Messages.started(path)) }
    }

    private func noticed(_ id: DownloadID, _ notice: Notice) {
        guard let job = jobs[id] else { return }
        if style.isJSON { emit(EventJSON.notice(job.subject, notice)) }
        guard style.isHuman, let text = Messages.notice(job.name, notice, verbose: isVerbose) else { return }
        say(text)
    }

    private func finished(_ id: DownloadID, _ result: DownloadResult) {
        tally.finished += 1
        tally.finishedBytes &+= result.length
        guard var job = jobs.removeValue(forKey: id) else { return }
        job.path = result.path ?? job.path
        if style.isJSON { emit(EventJSON.finished(job.subject, result)) }
        // Where both streams are read by one person, the path is said once, with what there is to say of it.
        let isSaidOnce = style.isHuman && console.outputIsTerminal
        if isSaidOnce {
            say(Messages.finished(result.path ?? job.name, result))
        } else if style.isHuman {
            say(finishedLine(job.name, result))
        }
        if let path = result.path, style != .json, !isSaidOnce { print(path) }
        if style.isHuman, let advice = Messages.beside(result, exists: SmallFile.exists) { say(advice) }
    }

    /// Among bars one line stays one line: the whole path goes to standard output anyway.
    private func finishedLine(_ name: String, _ result: DownloadResult) -> String {
        let line = Messages.finished(name, result)
        let excess = DisplayText.cells(line) - console.size().columns
        guard style == .bars, excess > 0 else { return line }
        let name = DisplayText.safe(name)
        let short = DisplayText.fitted(name, cells: max(8, DisplayText.cells(name) - excess))
        return DisplayText.fitted(Messages.finished(short, result), cells: console.size().columns)
    }

    private func failed(_ id: DownloadID, _ error: HaulError, isWanted: Bool) {
        guard let job = jobs.removeValue(forKey: id) else { return }
        if isWanted { tally.failed += 1 }
        if style.isJSON {
            emit(EventJSON.failed(job.subject, error))
        } else if isWanted {
            say(Messages.failed(job.subject.url, error))
        }
    }

    // MARK: Progress

    package func progressed(_ samples: [DownloadSample]) {
        switch style {
        case .bars:
            let (columns, rows) = console.size()
            let lines = ProgressRenderer.frame(
                samples: samples, tally: tally, width: columns - 1, lines: max(1, min(10, rows - 1)),
                unicode: console.unicode, color: console.color)
            console.error(display.redrawn(lines, width: columns))
        case .plain: if let line = Messages.progress(samples, tally) { say(line) }
        case .json, .jsonProgress:
            for sample in samples where ProgressRenderer.isRunning(sample) {
                if let job = jobs[sample.id] { emit(EventJSON.progress(job.subject, sample)) }
            }
        case .messages, .quiet: break
        }
    }

    /// Takes the bars away.
    package func clear() {
        guard style == .bars else { return }
        let text = display.erased()
        if !text.isEmpty { console.error(text) }
    }

    // MARK: Lines

    /// A line for people; bars make way for it and come back with the next frame.
    package func say(_ line: String) {
        clear()
        console.error(line + "\n")
    }

    package func sayUnlessJSON(_ line: String) { if !style.isJSON { say(line) } }

    package func warn(_ text: String) {
        guard style.isHuman else { return }
        say(Messages.warning(text))
    }

    package func emit(_ value: JSONValue) {
        if style == .json { write(value.text) } else { console.error(value.text + "\n") }
    }

    package func emitIfJSON(_ value: JSONValue) { if style.isJSON { emit(value) } }

    /// The path of a result, exactly as it is: programs read it.
    package func print(_ path: String) {
        clear()
        write(path)
    }

    private func write(_ line: String) {
        unwritten += line + "\n"
        if !isReporting { flush() }
    }

    private func flush() {
        let problem = unwritten.isEmpty ? 0 : console.output(unwritten)
        outputProblem = outputProblem == 0 ? problem : outputProblem
        unwritten = ""
    }
}
