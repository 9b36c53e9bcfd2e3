import Glibc
import HaulPlatform

/// Where signals are waited for: on the main thread, which does nothing else.
///
/// Handlers would have to be safe in the middle of anything; a blocked signal that is fetched by `sigtimedwait`
/// is an ordinary value on an ordinary thread.
package final class Signals: Sendable {
    private struct State {
        var listener: AsyncStream<Int32>.Continuation?
    }

    /// How long a command may take to end after a signal, seconds; the engine needs at most 2.
    private static let patience = 2.5

    private let state = Guarded(State())

    package init() {}

    /// The signals that end a command, from now on; until then they end the process at once.
    package func listen() -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        state.withLock { $0.listener = continuation }
        return stream
    }

    /// Passes a signal on.
    ///
    /// - Returns: false when nobody listens.
    package func deliver(_ signal: Int32) -> Bool {
        let listener = state.withLock { $0.listener }
        listener?.yield(signal)
        return listener != nil
    }

    /// Blocks the signals that end a command, in this thread and those it starts.
    ///
    /// One that is ignored (`nohup`, a background job of a script) stays ignored. To be called before there
    /// are other threads.
    static func block() -> sigset_t {
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        return set
    }

    /// Waits for signals until the process ends; a second one, or patience at its end, ends it here.
    func serve(_ set: sigset_t) -> Never {
        var set = set
        var first: Int32?
        var deadline = 0.0
        while true {
            let signal = first == nil ? Signals.wait(&set, nil) : Signals.wait(&set, deadline - Signals.now())
            if let first {
                Signals.end(signal ?? first)
            } else if let signal {
                guard deliver(signal) else { Signals.end(signal) }
                first = signal
                deadline = Signals.now() + Signals.patience
            }
        }
    }

    /// The next signal; `nil` when the time is over.
    private static func wait(_ set: inout sigset_t, _ seconds: Double?) -> Int32? {
        while true {
            var signal: Int32 = 0
            if let seconds {
                let left = max(0, seconds)
                var limit = timespec(tv_sec: Int(left), tv_nsec: Int((left - left.rounded(.down)) * 1e9))
                signal = sigtimedwait(&set, nil, &limit)
                if signal < 0 && errno == EAGAIN { return nil }
            } else {
                signal = sigwaitinfo(&set, nil)
            }
            if signal > 0 { return signal }
        }
    }

    private static func end(_ signal: Int32) -> Never {
        // The cursor rests on the first bar.
        let hasBars = Console.movesCursor { name in getenv(name).map { String(cString: $0) } }
        if isatty(2) == 1 { _ = SmallFile.write(hasBars ? "\r\u{1B}[J" : "\n", to: 2) }
        _exit(ExitStatus.of(signal: signal))
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    private static func now() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
