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
        if let tally, wantsTotal, !running.isEmpty {
            frame.append(style.total(JobTotals(running, tally), tally))
        }
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
