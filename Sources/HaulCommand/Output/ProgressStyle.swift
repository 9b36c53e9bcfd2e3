import HaulCore
import HaulEngine

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
        case .retrying: return note(name, Retry(sample.state).map(Messages.waiting) ?? "")
        default: break
        }
        let percent = Figures.percent(sample.received, of: sample.total)
        return columns(
            Row(
                name: name, fraction: fraction(sample.received, sample.total), percent: percent,
                amount: amount(sample.received, sample.total), rate: sample.rate, remaining: sample.remaining,
                connections: sample.connections))
    }

    func total(_ totals: JobTotals, _ tally: Tally) -> String {
        let failed = tally.failed > 0 ? ", \(tally.failed) failed" : ""
        let known = Figures.amount(totals.received, of: totals.known) + (totals.isComplete ? "" : "+")
        return columns(
            Row(
                name: "\(tally.finished)/\(tally.total) files\(failed)", fraction: totals.fraction,
                percent: Int(totals.fraction * 100), amount: known, rate: totals.rate,
                remaining: totals.remaining, connections: totals.connections))
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

    /// What there is room for, from the least that is of use up: name, per cent, speed; time left and a bar; amount
    /// and connections.
    private func columns(_ row: Row) -> String {
        var fields = [right(row.percent.map { "\($0)%" } ?? "", 4)]
        if width >= 72 { fields.append(right(row.amount, 14)) }
        if width >= 28 { fields.append(right(Figures.rate(row.rate), 10)) }
        if width >= 46 { fields.append(right(Figures.remaining(row.remaining), 7)) }
        if width >= 72 { fields.append(right("\(row.connections)\(unicode ? "×" : "x")", 4)) }
        let tail = fields.joined(separator: "  ")
        let room = width - tail.count - 2
        guard room > 3 else { return fitted(plain(row.name), width) }
        guard width >= 46, room >= 18 else { return padded(plain(row.name), room) + "  " + tail }
        let bar = max(6, min(40, (room - 2) / 2 - 5))
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
