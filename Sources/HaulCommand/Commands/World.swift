import Glibc

/// What a command sees of the process around it.
package struct World: Sendable {
    package var environment: @Sendable (String) -> String?
    package var console: Console
    /// Begins to take the signals that end a command; called at most once.
    package var listen: @Sendable () -> AsyncStream<Int32>
    /// Seconds of a clock that does not go back.
    package var now: @Sendable () -> Double

    package init(
        environment: @escaping @Sendable (String) -> String?, console: Console,
        listen: @escaping @Sendable () -> AsyncStream<Int32>, now: @escaping @Sendable () -> Double
    ) {
        self.environment = environment
        self.console = console
        self.listen = listen
        self.now = now
    }

    /// The real one.
    package static func live(signals: Signals) -> World {
        let environment: @Sendable (String) -> String? = { name in getenv(name).map { String(cString: $0) } }
        return World(
            environment: environment, console: .live(environment: environment), listen: { signals.listen() },
            now: {
                var now = timespec()
                clock_gettime(CLOCK_MONOTONIC, &now)
                return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
            })
    }
}
