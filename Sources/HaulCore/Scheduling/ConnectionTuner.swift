/// How many connections one download should have: starts with one, grows while measured goodput grows.
///
/// It grows on little evidence and stops on much: a needless connection costs little, a missing one half of the speed.
/// Each doubling is compared with the `level` before it. One that brings its share is followed by the next at once;
/// only one that brings nothing over most of a second ends the growth. Then the number is held, but not for good:
/// when goodput leaves what it was held for, when the verdict was a close one, or when none of the surplus connections
/// of the last try is left, half as many more are tried, and kept if they bring their share. Each try doubles the time
/// to the next.
/// ([decision 5](docs/decisions/0005-held-connections.md))
package struct ConnectionTuner: Hashable, Sendable {
    /// What the tuner wants now.
    package private(set) var target: Int
    package let cap: Int
    private let isAdaptive: Bool
    private var phase = Phase.growing
    private var readings = GoodputReadings()
    /// What growth is measured by; `nil`: nothing measured yet.
    private var level: Level?
    /// Seconds that a number is held before it is doubted.
    private var patience = ConnectionTuner.shortestPatience

    private enum Phase: Hashable {
        case growing
        /// Growth brought nothing; looked at again.
        case holding(since: Instant)
        /// The host refused: what it allows is never exceeded.
        case limited
    }

    private struct Level: Hashable {
        var rate: Double
        var connections: Int
    }

    package static let automaticCap = 16

    /// `fixed`: connections wanted by the user; `nil`: adaptive.
    package init(fixed: Int?) {
        cap = max(1, fixed ?? ConnectionTuner.automaticCap)
        isAdaptive = fixed == nil
        target = fixed == nil ? 1 : cap
    }

    /// One look at how it goes.
    ///
    /// - Parameters:
    ///   - received: bytes of the download so far, over all connections.
    ///   - delivering: connections that receive a body.
    ///   - remaining: bytes to go; a download about to end gets no new connections.
    ///   - now: the time of the look.
    package mutating func sample(received: Int64, delivering: Int, remaining: Int64, now: Instant) {
        guard isAdaptive, phase != .limited, delivering > 0 else { return }
        guard readings.look(received: received, connections: delivering, now: now) else { return }
        switch phase {
        case .growing:
            // Connections that were wanted are still being opened.
            guard delivering >= target else { return }
            if let level, delivering > level.connections {
                compare(with: level, remaining: remaining, now: now)
            } else {
                settle(remaining: remaining)
            }
        case .holding(let since): doubt(since: since, remaining: remaining, now: now)
        case .limited: break
        }
    }

    /// The host refused or dropped a connection: hold what delivers.
    package mutating func backOff(delivering: Int) {
        target = max(1, min(target, delivering))
        if isAdaptive { phase = .limited }
    }

    /// Fixed numbers too: no more than so many from now on.
    package mutating func limit(to connections: Int) {
        target = max(1, min(target, connections))
        phase = .limited
    }
}

// MARK: - Judging the readings

extension ConnectionTuner {
    /// Waits for the first level: the end of slow start, or of what the server or the way had in store.
    private mutating func settle(remaining: Int64) {
        let rates = readings.rates
        guard rates.count >= 2, let last = rates.last else { return }
        let before = rates[rates.count - 2]
        if last < before * ConnectionTuner.collapse {
            // The store is empty now: what comes from here on is no more than this.
            grow(from: last, remaining: remaining)
        } else if last > 0, max(last, before) <= min(last, before) * ConnectionTuner.agreement {
            grow(from: readings.count > 2 ? (last + before) / 2 : last, remaining: remaining)
        } else if readings.count >= ConnectionTuner.longestSettling {
            grow(from: readings.mean(last: 3), remaining: remaining)
        }
    }

    /// Whether the connections that were added bring their share.
    private mutating func compare(with level: Level, remaining: Int64, now: Instant) {
        let count = readings.count
        let rate = readings.mean(last: 3)
        let share = share(of: rate, over: level)
        let isMuch = share > ConnectionTuner.mostCredible
        if share >= (count < ConnectionTuner.enough ? ConnectionTuner.quickShare : ConnectionTuner.share) {
            // More than all of the share is chance, and far more shows that the level was none: once more.
            if isMuch, count < 2 { return }
            grow(from: isMuch ? rate : min(rate, ideal(over: level)), remaining: remaining)
        } else if count >= 2, readings.mean(last: 2) < level.rate * ConnectionTuner.collapse {
            // More connections bring much less than fewer did: that was a burst, or the way has changed.
            grow(from: readings.mean(last: 2), remaining: remaining)
        } else if count >= ConnectionTuner.enough, !isRising || count >= ConnectionTuner.longestSettling {
            target = max(1, level.connections)
            phase = .holding(since: now)
        }
    }

    /// Whether what was held is still right.
    private mutating func doubt(since: Instant, remaining: Int64, now: Instant) {
        guard let level, readings.count >= ConnectionTuner.longEnough else { return }
        let held = now.seconds(since: since)
        guard held >= patience else { return }
        let rate = readings.mean(last: ConnectionTuner.longEnough)
        let share = readings.connections > level.connections ? share(of: rate, over: level) : nil
        if let share, (ConnectionTuner.quickShare...ConnectionTuner.mostCredible).contains(share) {
            // The surplus of the last try does bring its share.
            phase = .growing
            grow(from: rate, remaining: remaining)
        } else if rate < level.rate * ConnectionTuner.decline || share ?? 0 > ConnectionTuner.mostCredible {
            // It is the way that has changed.
            attempt(from: rate, remaining: remaining)
        } else if let share {
            guard share >= ConnectionTuner.doubtful, held >= patience * ConnectionTuner.shortRest else {
                return
            }
            attempt(from: rate, remaining: remaining)
        } else if held >= patience * ConnectionTuner.rest {
            attempt(from: rate, remaining: remaining)
        }
    }

    /// Tries half as many more.
    private mutating func attempt(from rate: Double, remaining: Int64) {
        guard rate > 0, Double(remaining) / rate > ConnectionTuner.worthwhile else { return }
        let connections = readings.connections
        patience = min(patience * 2, ConnectionTuner.longestPatience)
        level = Level(rate: rate, connections: connections)
        target = max(target, min(cap, connections + max(1, connections / 2)))
        phase = .growing
    }

    private mutating func grow(from level: Double, remaining: Int64) {
        let connections = readings.connections
        self.level = Level(rate: level, connections: connections)
        // Kept by those that are there, also where there is no time for more.
        target = max(target, min(cap, connections))
        let rate = readings.mean(last: 2)
        guard rate > 0, Double(remaining) / rate > 1 else { return }
        target = min(cap, connections * 2)
    }

    /// New connections may still be in slow start.
    private var isRising: Bool {
        readings.mean(last: 1) > readings.mean(last: 3) * 1.03
    }

    /// What the connections would bring if each brought as much as those before.
    private func ideal(over level: Level) -> Double {
        level.rate * Double(readings.connections) / Double(level.connections)
    }

    /// The part of what each connection brought before that each new one brings: 1 is ideal, 0 is nothing.
    private func share(of rate: Double, over level: Level) -> Double {
        let growth = rate / max(level.rate, 1) - 1
        return growth / (Double(readings.connections) / Double(level.connections) - 1)
    }

    /// The share that makes connections worth having.
    private static let share = 0.4
    /// The share that is believed before there are `enough` readings, and against an earlier verdict.
    private static let quickShare = 0.5
    /// Less than this is nothing, more than that is not the connections' doing.
    private static let doubtful = 0.2
    private static let mostCredible = 2.0
    /// Readings that end the growth when they show nothing.
    private static let enough = 4
    /// Readings that put what is held in doubt.
    private static let longEnough = 8
    /// Two readings whose ratio is at most this agree.
    private static let agreement = 1.35
    /// Readings of which one or the other must be believed at last.
    private static let longestSettling = 8
    /// The part of an earlier rate below which that was a burst.
    private static let collapse = 0.5
    /// The part of the held rate below which the number is doubted.
    private static let decline = 0.65
    /// Seconds.
    private static let shortestPatience = 1.0
    private static let longestPatience = 60.0
    /// So many times the patience before a number that nothing speaks against is doubted; after a close verdict.
    private static let rest = 4.0
    private static let shortRest = 2.0
    /// Seconds that a download must have to go for a try.
    private static let worthwhile = 3.0
}
