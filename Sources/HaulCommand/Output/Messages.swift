package import HaulCore
package import HaulEngine

/// Every sentence that goes to the terminal, without a line end; safe to print, free of secrets.
package enum Messages {
    /// `haul: what failed: why`, and what to try on the next line.
    package static func error(_ error: HaulError) -> String {
        let text = "haul: \(DisplayText.safe(lowered(error.message)))"
        return error.advice.map { "\(text)\n  try: \(DisplayText.safe($0))" } ?? text
    }

    /// The failure of one download of several.
    package static func failed(_ url: String, _ error: HaulError) -> String {
        // Most messages name the URL already.
        if error.message.contains(url) { return Messages.error(error) }
        var named = error
        named.message = "\(url): \(lowered(error.message))"
        return Messages.error(named)
    }

    package static func warning(_ text: String) -> String {
        "haul: warning: \(DisplayText.safe(lowered(text)))"
    }

    package static func started(_ path: String) -> String {
        "downloading \(DisplayText.safe(path))"
    }

    /// `x.iso: 2.60 GiB in 1:20, 33.2 MiB/s, sha-256 verified`.
    package static func finished(_ name: String, _ result: DownloadResult) -> String {
        let name = DisplayText.safe(name)
        let checked = result.verified.map(\.algorithm.rawValue).joined(separator: " and ")
        let proof = checked.isEmpty ? "" : ", \(checked) verified"
        if result.wasThere { return "\(name): was there already\(proof)" }
        var text = "\(name): \(Figures.size(result.length)) in \(Figures.elapsed(result.seconds))"
        if result.seconds >= 0.05, result.received > 0 {
            text += ", \(Figures.rate(Double(result.received) / result.seconds))"
        }
        return text + proof
    }

    /// What to do about a verified file that had to take another name, `x (1).iso`, beside the one that is meant.
    ///
    /// - Returns: `nil` when it has the name that was meant.
    package static func beside(_ result: DownloadResult, exists: (String) -> Bool) -> String? {
        guard let path = result.path, !result.verified.isEmpty, !result.wasThere,
            let open = path.ranges(of: " (").last, let close = path[open.upperBound...].firstIndex(of: ")"),
            path[open.upperBound..<close].allSatisfy({ $0.isASCII && $0.isNumber }),
            !path[close...].contains("/")
        else { return nil }
        let meant = path[..<open.lowerBound] + path[close...].dropFirst()
        guard exists(String(meant)) else { return nil }
        return "haul: \(DisplayText.safe(String(meant))) is another file and was left as it is\n"
            + "  try: --if-exists replace, to put what was verified in its place"
    }

    /// `nil` for what a person need not know unless they ask.
    package static func notice(_ name: String, _ notice: Notice, verbose: Bool) -> String? {
        let name = DisplayText.safe(name)
        switch notice {
        case .resumed(let offset): return "\(name): resuming after \(Figures.size(offset))"
        case .restarted(let why): return "\(name): starting over: \(DisplayText.safe(lowered(why)))"
        case .warning(let text):
            // Before the file has a name it is called by its URL, which the text may begin with.
            return Messages.warning(text.contains(name) ? text : "\(name): \(lowered(text))")
        case .identityBySample: return "\(name): identity by sample: the server gave no strong validator"
        case .cannotResume:
            return verbose ? "\(name): the server cannot give ranges; a later run starts anew" : nil
        case .lengthUnknown:
            return "\(name): the server gave no length; only a checksum could prove it complete"
        }
    }

    /// `x.iso: the connection to host was lost: connection reset by peer; retry 1 of 5 in 1.2 s`.
    package static func retrying(_ name: String, _ retry: Retry) -> String {
        "\(DisplayText.safe(name)): \(why(retry.error)); \(which(retry)) in \(Figures.elapsed(retry.seconds))"
    }

    /// The same behind a name, where the wait is what matters: `retry 1 of 5 in 2 s: the connection ...`.
    package static func waiting(_ retry: Retry) -> String {
        let isTime = retry.seconds.isFinite && retry.seconds > 0
        let wait = isTime ? Int(min(retry.seconds, 1e6).rounded(.up)) : 0
        return "\(which(retry)) in \(wait) s: \(why(retry.error))"
    }

    private static func which(_ retry: Retry) -> String {
        "retry \(retry.attempt)" + (retry.limit.map { " of \($0)" } ?? "")
    }

    /// What failed, with hosts in the place of their URLs: the file is named beside it.
    private static func why(_ error: HaulError) -> String {
        var words: [String] = []
        for word in lowered(error.message).split(separator: " ", omittingEmptySubsequences: false) {
            guard let scheme = word.firstRange(of: "://") else {
                words.append(String(word))
                continue
            }
            let host = word[scheme.upperBound...].prefix { !"/?#".contains($0) }
            let mark = host.endIndex < word.endIndex ? word.suffix(1).filter { ":;,".contains($0) } : ""
            words.append(String(host) + mark)
        }
        return DisplayText.safe(words.joined(separator: " "))
    }

    /// The line that plain output gives at most every ten seconds.
    package static func progress(_ samples: [DownloadSample], _ tally: Tally) -> String? {
        let running = samples.filter(ProgressRenderer.isRunning)
        // Where all wait for a server there is no progress; that they are tried again is told by itself.
        guard let first = running.first, running.contains(where: moves) else { return nil }
        guard tally.total <= 1 else { return progress(JobTotals(running, tally), tally, running.count) }
        let rate = Figures.rate(first.rate)
        let name = DisplayText.safe(first.name)
        guard let total = first.total, let percent = Figures.percent(first.received, of: total) else {
            return "\(name): \(Figures.size(first.received)), \(rate)"
        }
        let left = first.remaining == nil ? "" : ", \(Figures.remaining(first.remaining)) left"
        return "\(name): \(percent)% of \(Figures.size(total)), \(rate)\(left)"
    }

    private static func moves(_ sample: DownloadSample) -> Bool {
        sample.state == .downloading || sample.state == .verifying
    }

    private static func progress(_ totals: JobTotals, _ tally: Tally, _ running: Int) -> String {
        let failed = tally.failed > 0 ? ", \(tally.failed) failed" : ""
        let amount = Figures.amount(totals.received, of: totals.known) + (totals.isComplete ? "" : "+")
        let left = totals.remaining.map { ", \(Figures.remaining($0)) left" } ?? ""
        return "\(tally.finished) of \(tally.total) files\(failed), \(running) running, "
            + "\(amount), \(Figures.rate(totals.rate))\(left)"
    }

    /// `3 of 10 failed`, and which: the reasons were told when they came.
    package static func summary(failed: Int, total: Int, urls: [String], notStarted: Int) -> [String] {
        var lines = ["haul: \(failed) of \(total) failed"]
        guard failed < total else { return lines }
        lines += urls.map { "  \(DisplayText.safe($0))" }
        if failed > urls.count { lines.append("  and \(failed - urls.count) more") }
        if notStarted > 0 { lines.append("  \(notStarted) not started") }
        return lines
    }

    /// One line of `--dry-run`.
    package static func planned(_ url: String, _ destination: Destination) -> String {
        let place =
            switch destination {
            case .standardOutput: "standard output"
            case .file(let path): path
            case .directory(let path): path.hasSuffix("/") ? path : "\(path)/"
            }
        return "\(DisplayText.safe(url)) -> \(DisplayText.safe(place))"
    }

    /// `continues`: A later run goes on with something of this one; `startingOver`: so many files it begins anew.
    package static func interrupted(continues: Bool = false, startingOver: Int = 0) -> String {
        guard continues || startingOver > 0 else { return "haul: interrupted" }
        guard continues else {
            return "haul: interrupted; what came cannot be resumed: run again to start over"
        }
        let others = startingOver > 0 ? " (what came of \(startingOver) cannot be resumed)" : ""
        return "haul: interrupted; run again to continue\(others)"
    }

    /// A sentence that goes on after a colon: its first letter small, unless it begins a name or an abbreviation.
    private static func lowered(_ text: String) -> String {
        guard let first = text.first, first.isUppercase else { return text }
        let word = text.prefix { $0 != " " }.dropFirst()
        guard word.allSatisfy({ $0.isLowercase || $0 == "'" }) else { return text }
        return first.lowercased() + text.dropFirst()
    }
}

/// A wait for the next try.
package struct Retry: Hashable, Sendable {
    package var seconds: Double
    package var error: HaulError
    /// Which try in a row comes next, from 1.
    package var attempt: Int
    /// How many there may be; `nil`: without end.
    package var limit: Int?

    package init(seconds: Double, error: HaulError, attempt: Int, limit: Int?) {
        self.seconds = seconds
        self.error = error
        self.attempt = attempt
        self.limit = limit
    }

    /// `nil`: no such state.
    package init?(_ state: DownloadState) {
        guard case .retrying(let seconds, let error, let attempt, let limit) = state else { return nil }
        self.init(seconds: seconds, error: error, attempt: attempt, limit: limit)
    }
}
