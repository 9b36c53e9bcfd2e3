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

    /// `nil` for what a person need not know unless they ask.
    package static func notice(_ name: String, _ notice: Notice, verbose: Bool) -> String? {
        let name = DisplayText.safe(name)
        switch notice {
        case .resumed(let offset): return "\(name): resuming after \(Figures.size(offset))"
        case .restarted(let why): return "\(name): starting over: \(DisplayText.safe(lowered(why)))"
        case .warning(let text): return "haul: warning: \(name): \(DisplayText.safe(lowered(text)))"
        case .identityBySample: return "\(name): identity by sample: the server gave no strong validator"
        case .cannotResume:
            return verbose ? "\(name): the server cannot give ranges; a later run starts anew" : nil
        case .lengthUnknown:
            return "\(name): the server gave no length; only a checksum could prove it complete"
        }
    }

    package static func retrying(_ name: String, _ seconds: Double, _ error: HaulError) -> String {
        let wait = Figures.elapsed(seconds)
        return
            "\(DisplayText.safe(name)): trying again in \(wait): \(DisplayText.safe(lowered(error.message)))"
    }

    /// The line that plain output gives at most every ten seconds.
    package static func progress(_ samples: [DownloadSample], _ tally: Tally) -> String? {
        let running = samples.filter(ProgressRenderer.isRunning)
        guard let first = running.first else { return nil }
        let rate = Figures.rate(running.reduce(0) { $0 + ($1.rate.isFinite ? $1.rate : 0) })
        guard tally.total <= 1 else {
            let failed = tally.failed > 0 ? ", \(tally.failed) failed" : ""
            return "\(tally.finished) of \(tally.total) done\(failed), \(running.count) running, \(rate)"
        }
        let name = DisplayText.safe(first.name)
        guard let total = first.total, let percent = Figures.percent(first.received, of: total) else {
            return "\(name): \(Figures.size(first.received)), \(rate)"
        }
        let left = first.remaining == nil ? "" : ", \(Figures.remaining(first.remaining)) left"
        return "\(name): \(percent)% of \(Figures.size(total)), \(rate)\(left)"
    }

    /// `3 of 10 failed`, each with its reason.
    package static func summary(
        failed: Int, total: Int, reasons: [(url: String, error: HaulError)], notStarted: Int
    ) -> [String] {
        var lines = ["haul: \(failed) of \(total) failed"]
        for (url, error) in reasons {
            let message = lowered(error.message)
            lines.append("  " + DisplayText.safe(message.contains(url) ? message : "\(url): \(message)"))
        }
        if failed > reasons.count { lines.append("  and \(failed - reasons.count) more") }
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

    package static func interrupted(isResumable: Bool) -> String {
        isResumable ? "haul: interrupted; run again to continue" : "haul: interrupted"
    }

    /// A sentence that goes on after a colon: its first letter small, unless it begins a name or an abbreviation.
    private static func lowered(_ text: String) -> String {
        guard let first = text.first, first.isUppercase else { return text }
        let word = text.prefix { $0 != " " }.dropFirst()
        guard word.allSatisfy({ $0.isLowercase || $0 == "'" }) else { return text }
        return first.lowercased() + text.dropFirst()
    }
}
