import HaulCore
import HaulTestSupport

/// A way to a server and the server's habits, in bytes and seconds.
struct SimulatedLink {
    /// What all connections share, at a time.
    var capacity: (Double) -> Double = { _ in 1e12 }
    /// What the server gives each connection, at a time.
    var perConnection: (Double) -> Double = { _ in 1e12 }
    /// What each connection gets at full speed first (`limit_rate_after`).
    var burst = 0.0
    /// The server writes so much at once, then rests until its rate is kept.
    var piece = 0.0
    /// Seconds in which slow start doubles a connection's speed; 0: none.
    var roundTrip = 0.0
    /// The part by which the way and each connection vary from one tenth of a second to the next.
    var noise = 0.0
    /// Connections that the server has at once; the next is refused.
    var allowed = Int.max
    /// Bytes after which a connection has done its segment and is closed.
    var segment = 1e15

    static let mebibyte = 1_048_576.0
}

/// An automatic download over such a link, looked at every tenth of a second as the machine does.
struct SimulatedDownload {
    private struct Connection {
        var begun: Double
        var received = 0.0
        /// The part that the last look was told of.
        var told = 0.0
        var factor = 1.0
    }

    let link: SimulatedLink
    let length: Double
    private(set) var tuner: ConnectionTuner
    private(set) var time = 0.0
    private(set) var received = 0.0
    /// Connections ever opened, and open at once.
    private(set) var opened = 1
    private(set) var most = 1
    private(set) var refused = 0
    /// Connections ever opened when the first reading was due.
    private(set) var openedEarly = 0
    /// What the tuner wanted, without repetitions.
    private(set) var targets: [Int] = []
    private var connections = [Connection(begun: 0)]
    private var opening: [Double] = []
    private var capacityFactor = 1.0
    private var told = 0.0
    private var random: SeededGenerator

    init(_ link: SimulatedLink, length: Double = 1e15, fixed: Int? = nil, seed: UInt64 = 1) {
        self.link = link
        self.length = length
        tuner = ConnectionTuner(fixed: fixed)
        random = SeededGenerator(seed: seed)
        targets = [tuner.target]
        open()
    }

    var delivering: Int { connections.count }
    var isDone: Bool { received >= length }

    /// Runs to the end, or for so many seconds.
    mutating func run(for seconds: Double = 1e6, until isReached: (Self) -> Bool = { _ in false }) {
        let end = time + seconds
        while time < end, !isDone, !isReached(self) { tick() }
    }

    /// Mean bytes a second over the next so many seconds.
    mutating func rate(over seconds: Double) -> Double {
        let before = (received, time)
        run(for: seconds)
        return (received - before.0) / max(time - before.1, 0.01)
    }

    /// A tenth of a second.
    private mutating func tick() {
        capacityFactor = factor()
        for index in connections.indices { connections[index].factor = factor() }
        for _ in 0..<SimulatedDownload.steps where !isDone { step() }
        tell()
        tuner.sample(
            received: Int64(told), delivering: delivering, remaining: Int64(max(0, length - told)),
            now: Instant(nanoseconds: 0).advanced(by: time))
        if time < 0.15 { openedEarly = opened + max(0, tuner.target - delivering) }
        if tuner.target != targets.last { targets.append(tuner.target) }
        open()
    }

    private mutating func factor() -> Double {
        link.noise == 0 ? 1 : Double.random(in: 1 - link.noise...1 + link.noise, using: &random)
    }

    private mutating func step() {
        time += SimulatedDownload.stepTime
        let due = opening.count { $0 <= time }
        opening.removeAll { $0 <= time }
        for _ in 0..<due { connect() }
        flow()
        connections.removeAll { connection in
            guard connection.received >= link.segment else { return false }
            told += connection.received - connection.told
            return true
        }
    }

    private mutating func connect() {
        guard connections.count < link.allowed else {
            refused += 1
            tuner.backOff(delivering: delivering)
            return
        }
        connections.append(Connection(begun: time))
        most = max(most, connections.count)
    }

    private mutating func open() {
        while connections.count + opening.count < tuner.target {
            opened += 1
            opening.append(time + 0.03)
        }
    }

    /// The way is shared fairly: who wants less than a fair part leaves the rest to the others.
    private mutating func flow() {
        var left = link.capacity(time) * capacityFactor * SimulatedDownload.stepTime
        let wishes = connections.map(wish)
        var open = connections.count
        for index in connections.indices.sorted(by: { wishes[$0] < wishes[$1] }) {
            let got = min(wishes[index], left / Double(open))
            connections[index].received += got
            received += got
            left -= got
            open -= 1
        }
    }

    private func wish(_ connection: Connection) -> Double {
        let age = time - connection.begun
        let rate = link.perConnection(time) * connection.factor
        var wish = rate * SimulatedDownload.stepTime
        if connection.received < link.burst {
            wish = link.burst - connection.received
        } else if link.piece > 0 {
            let due = (((age * rate) / link.piece).rounded(.down) + 1) * link.piece + link.burst
            wish = max(0, due - connection.received)
        }
        guard link.roundTrip > 0 else { return wish }
        let window = 14_600 * Double(1 << min(30, Int(age / link.roundTrip)))
        return min(wish, window / link.roundTrip * SimulatedDownload.stepTime)
    }

    /// Written bytes are told at the transfer's own looks, a little before.
    private mutating func tell() {
        for index in connections.indices {
            let missing = connections[index].received - connections[index].told
            // Some of it is still under way to the machine.
            let part = missing * Double.random(in: 0.7...1, using: &random)
            connections[index].told += part
            told += part
        }
    }

    private static let steps = 10
    private static let stepTime = 0.01
}
