import Glibc

/// The two streams of the process and what is known of the terminal behind the second one.
package struct Console: Sendable {
    /// Writes to standard output; gives 0, or the error number.
    package var output: @Sendable (String) -> Int32
    /// Writes to standard error; failures are nobody's business.
    package var error: @Sendable (String) -> Void
    /// Columns and rows of the terminal; asked before every frame, so that a resize is seen at once.
    package var size: @Sendable () -> (columns: Int, rows: Int)
    /// Standard error is a terminal that understands cursor movement.
    package var hasBars: Bool
    /// Standard output is a terminal as well: what is written to both would be read twice.
    package var outputIsTerminal: Bool
    package var unicode: Bool
    package var color: Bool

    package init(
        output: @escaping @Sendable (String) -> Int32, error: @escaping @Sendable (String) -> Void,
        size: @escaping @Sendable () -> (columns: Int, rows: Int) = { (80, 24) }, hasBars: Bool = false,
        outputIsTerminal: Bool = false, unicode: Bool = true, color: Bool = false
    ) {
        self.output = output
        self.error = error
        self.size = size
        self.hasBars = hasBars
        self.outputIsTerminal = outputIsTerminal
        self.unicode = unicode
        self.color = color
    }

    /// The real streams of this process.
    package static func live(environment: @escaping @Sendable (String) -> String?) -> Console {
        let hasBars = movesCursor(environment)
        let columns = environment("COLUMNS").flatMap(Int.init).flatMap { $0 > 0 ? $0 : nil }
        return Console(
            output: { SmallFile.write($0, to: 1) }, error: { _ = SmallFile.write($0, to: 2) },
            size: { terminalSize(fallback: columns ?? 80) }, hasBars: hasBars,
            outputIsTerminal: isatty(1) == 1 && isatty(2) == 1, unicode: isUnicode(environment),
            color: hasBars && (environment("NO_COLOR") ?? "").isEmpty)
    }

    /// The status of a command that wrote to standard output, with what went wrong there; says so.
    ///
    /// Readers that have seen enough (`head`, a pager) go away, and nobody is there to be told.
    func concluded(_ status: Int32, outputProblem problem: Int32) -> Int32 {
        guard problem != 0 else { return status }
        if problem != EPIPE {
            error(Messages.error(SmallFile.failure("write to", "standard output", problem)) + "\n")
        }
        return status == ExitStatus.done ? ExitStatus.file : status
    }

    /// Whether standard error is a terminal that understands cursor movement.
    static func movesCursor(_ environment: (String) -> String?) -> Bool {
        let term = environment("TERM") ?? ""
        return isatty(2) == 1 && !term.isEmpty && term != "dumb"
    }

    /// The first of `LC_ALL`, `LC_CTYPE` and `LANG` that says something decides.
    package static func isUnicode(_ environment: (String) -> String?) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty } ?? ""
        return ["utf-8", "utf8"].contains {
            locale.lowercased().hasSuffix($0) || locale.lowercased().contains("\($0)@")
        }
    }

    private static func terminalSize(fallback: Int) -> (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(2, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (fallback, 24) }
        return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
    }
}
