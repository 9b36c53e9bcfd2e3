import HaulCore
package import HaulEngine

/// How the whole job stands, for the total line.
package struct Tally: Hashable, Sendable {
    /// Downloads in all.
    package var total: Int
    package var finished: Int
    package var failed: Int
    /// Bytes of the finished ones.
    package var finishedBytes: Int64

    package init(total: Int, finished: Int = 0, failed: Int = 0, finishedBytes: Int64 = 0) {
        self.total = total
        self.finished = finished
        self.failed = failed
        self.finishedBytes = finishedBytes
    }
}

/// Makes the lines of the progress display; pure.
package enum ProgressRenderer {
    /// The lines from top to bottom, none wider than `width` cells.
    ///
    /// `samples`: Those that run are shown, one line each, in the order of their numbers.
    /// `tally`: With more than one download in it, a total line is added.
    /// `width`: Cells of a line.
    /// `lines`: The most lines there may be, at least 1.
    /// `unicode`: Whether the terminal shows more than ASCII.
    package static func frame(
        samples: [DownloadSample], tally: Tally? = nil, width: Int, lines: Int = 10, unicode: Bool,
        color: Bool
    ) -> [String] {
        let style = ProgressStyle(width: max(width, 1), unicode: unicode, color: color)
        let running = samples.filter(isRunning).sorted { $0.id < $1.id }
        let wantsTotal = (tally?.total ?? 0) > 1 && lines > 1
        let room = max(1, wantsTotal ? lines - 1 : lines)
        let shown = running.count > room ? max(1, room - 1) : running.count
        var frame = running.prefix(shown).map { style.line(for: $0) }
        if running.count > shown, room > 1 {
            frame.append(style.text("and \(running.count - shown) more"))
        }
        if let tally, wantsTotal, !running.isEmpty { frame.append(style.total(of: running, tally)) }
        return frame
    }

    /// Whether anything is worth a line.
    package static func isRunning(_ sample: DownloadSample) -> Bool {
        switch sample.state {
        case .probing, .downloading, .retrying, .verifying: true
        case .queued, .finished, .failed, .cancelled: false
        }
    }
}

/// What is known about the terminal, and how a line is laid out for it.
struct ProgressStyle {
    let width: Int
    let unicode: Bool
    let color: Bool

    /// The columns right of the name, from the left, by how wide the line is.
    private struct Row {
        var name: String
        var fraction: Double?
        var percent: Int?
        var amount: String
        var rate: Double
        var remaining: Double?
        var connections: Int
    }

    func line(for sample: DownloadSample) -> String {
        let name = DisplayText.safe(sample.name)
        switch sample.state {
        case .probing: return note(name, "connecting")
        case .verifying: return note(name, "verifying")
        case .retrying(let seconds, let error):
            let wait = seconds.isFinite && seconds > 0 ? Int(min(seconds, 1e6).rounded(.up)) : 0
            return note(name, "retry in \(wait) s: \(DisplayText.safe(error.message))")
        default: break
        }
        let percent = Figures.percent(sample.received, of: sample.total)
        return columns(
            Row(
                name: name, fraction: fraction(sample.received, sample.total), percent: percent,
                amount: amount(sample.received, sample.total), rate: sample.rate, remaining: sample.remaining,
                connections: sample.connections))
    }

    func total(of samples: [DownloadSample], _ tally: Tally) -> String {
        let ended = tally.finished + tally.failed
        let received = samples.reduce(tally.finishedBytes) { $0 &+ $1.received }
        let rate = samples.reduce(0) { $0 + ($1.rate.isFinite ? max(0, $1.rate) : 0) }
        let totals = samples.compactMap(\.total)
        let isKnown = totals.count == samples.count && ended + samples.count >= tally.total
        let left = totals.reduce(0, &+) &- samples.reduce(0) { $0 &+ $1.received }
        let failed = tally.failed > 0 ? ", \(tally.failed) failed" : ""
        return columns(
            Row(
                name: "\(tally.finished)/\(tally.total) done\(failed)",
                fraction: fraction(Int64(ended), Int64(tally.total)),
                percent: Figures.percent(Int64(ended), of: Int64(tally.total)),
                amount: Figures.size(received),
                rate: rate, remaining: isKnown && rate > 0 ? max(0, Double(left)) / rate : nil,
                connections: samples.reduce(0) { $0 + $1.connections }))
    }

    func text(_ text: String) -> String { DisplayText.fitted(plain(text), cells: width) }

    // MARK: Layout

    /// The name and one remark, which gets what the name leaves, and at least half of the line.
    private func note(_ name: String, _ remark: String) -> String {
        let cells = DisplayText.cells(plain(name))
        let remark = fitted(plain(remark), max(width / 2, width - cells - 2))
        let room = width - DisplayText.cells(remark) - 2
        guard room >= min(cells, 4), room > 0 else { return fitted(plain(name), width) }
        return padded(plain(name), room) + "  " + remark
    }

    private func columns(_ row: Row) -> String {
        let percent = right(row.percent.map { "\($0)%" } ?? "", 4)
        var fields = [percent]
        if width >= 72 { fields.append(right(row.amount, 13)) }
        if width >= 28 { fields.append(right(Figures.rate(row.rate), 10)) }
        if width >= 48 { fields.append(right(Figures.remaining(row.remaining), 7)) }
        if width >= 72 { fields.append(right("\(row.connections)\(unicode ? "×" : "x")", 4)) }
        let tail = fields.joined(separator: "  ")
        let room = width - tail.count - 2
        guard room > 3 else { return fitted(plain(row.name), width) }
        let bar = width >= 72 && room >= 32 ? min(40, (room - 2) / 2 - 5) : 0
        guard bar > 0 else { return padded(plain(row.name), room) + "  " + tail }
        let name = padded(plain(row.name), room - bar - 2)
        return name + "  " + self.bar(row.fraction, bar) + "  " + tail
    }

    private func bar(_ fraction: Double?, _ cells: Int) -> String {
        let inner = unicode ? cells : cells - 2
        let filled = Int((fraction ?? 0) * Double(inner))
        let (full, empty) = unicode ? ("━", "─") : ("#", " ")
        let done = String(repeating: full, count: filled)
        let rest = String(repeating: empty, count: inner - filled)
        let colored = color && filled > 0 ? "\u{1B}[32m\(done)\u{1B}[0m" : done
        return unicode ? colored + rest : "[\(colored)\(rest)]"
    }

    private func fraction(_ bytes: Int64, _ total: Int64?) -> Double? {
        guard let total else { return nil }
        return total > 0 ? max(0, min(1, Double(bytes) / Double(total))) : 1
    }

    private func amount(_ bytes: Int64, _ total: Int64?) -> String {
        total.map { Figures.amount(bytes, of: $0) } ?? Figures.size(bytes)
    }

    private func right(_ text: String, _ cells: Int) -> String {
        String(repeating: " ", count: max(0, cells - text.count)) + text
    }

    private func padded(_ text: String, _ cells: Int) -> String {
        let text = fitted(text, cells)
        return text + String(repeating: " ", count: max(0, cells - DisplayText.cells(text)))
    }

    private func fitted(_ text: String, _ cells: Int) -> String {
        let fitted = DisplayText.fitted(text, cells: cells)
        return unicode ? fitted : fitted.replacing("…", with: "~")
    }

    /// Where only ASCII can be shown, everything else becomes a question mark.
    private func plain(_ text: String) -> String {
        unicode ? text : String(text.map { $0.isASCII ? $0 : "?" })
    }
}
