/// How many connections one download should have: starts small, grows while measured goodput grows.
package struct ConnectionTuner: Hashable, Sendable {
    /// What the tuner wants now.
    package private(set) var target: Int
    package let cap: Int
    private let isAdaptive: Bool
    private var phase = Phase.waiting
    private var previous: (rate: Double, connections: Int)?
    private var window: Window?

    private enum Phase: Hashable {
        /// No goodput sample yet: one connection.
        case waiting
        case growing
        /// Growth brought nothing, or the host refused: hold what there is.
        case holding
    }

    private struct Window: Hashable {
        var start: Instant
        var bytes: Int64
        var connections: Int
    }

    package static let automaticCap = 16
    /// Seconds of a goodput sample.
    private static let sampleTime = 0.12

    /// `fixed`: connections wanted by the user; `nil`: adaptive.
    package init(fixed: Int?) {
        cap = max(1, fixed ?? ConnectionTuner.automaticCap)
        isAdaptive = fixed == nil
        target = fixed == nil ? 1 : cap
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.target == right.target && left.cap == right.cap && left.isAdaptive == right.isAdaptive
            && left.phase == right.phase && left.window == right.window
            && left.previous?.rate == right.previous?.rate
            && left.previous?.connections == right.previous?.connections
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(target)
        hasher.combine(cap)
        hasher.combine(phase)
    }

    /// One look at how it goes.
    ///
    /// - Parameters:
    ///   - received: bytes of the download so far, over all connections.
    ///   - delivering: connections that receive a body.
    ///   - remaining: bytes to go; a download about to end gets no new connections.
    ///   - now: the time of the look.
    package mutating func sample(received: Int64, delivering: Int, remaining: Int64, now: Instant) {
        guard isAdaptive, phase != .holding, delivering > 0 else { return }
        guard let current = window, current.connections == delivering else {
            // A connection came or went: measure anew, so that a sample is of one number of connections.
            window = Window(start: now, bytes: received, connections: delivering)
            return
        }
        let elapsed = now.seconds(since: current.start)
        guard elapsed >= ConnectionTuner.sampleTime else { return }
        let rate = Double(received - current.bytes) / elapsed
        window = Window(start: now, bytes: received, connections: delivering)
        judge(rate: rate, delivering: delivering, remaining: remaining)
    }

    private mutating func judge(rate: Double, delivering: Int, remaining: Int64) {
        // Connections that were wanted are still being opened.
        guard delivering >= target || phase == .waiting else { return }
        if let previous, delivering > previous.connections {
            let growth = rate / max(previous.rate, 1)
            let ideal = Double(delivering) / Double(previous.connections)
            guard growth >= 1 + (ideal - 1) * 0.4 else {
                phase = .holding
                target = max(previous.connections, 1)
                return
            }
        }
        previous = (rate, delivering)
        phase = .growing
        guard rate > 0, Double(remaining) / rate > 1 else { return }
        target = min(cap, delivering * 2)
    }

    /// The host refused or dropped a connection: hold what delivers.
    package mutating func backOff(delivering: Int) {
        target = max(1, min(target, delivering))
        if isAdaptive { phase = .holding }
    }

    /// Fixed numbers too: no more than so many from now on.
    package mutating func limit(to connections: Int) {
        target = max(1, min(target, connections))
        phase = .holding
    }
}
