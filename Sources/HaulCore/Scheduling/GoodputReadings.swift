/// Successive readings of the bytes a second that a number of connections brings together.
///
/// Written bytes are told about every tenth of a second, so a shorter reading would be of the telling.
struct GoodputReadings: Hashable, Sendable {
    /// Connections that these readings are of; 0: none yet.
    private(set) var connections = 0
    /// When the number of connections became what it is.
    private(set) var since = Instant(nanoseconds: 0)
    /// Bytes a second, the latest last; only as many as anybody looks at.
    private(set) var rates: [Double] = []
    /// Readings taken, with those that are forgotten.
    private(set) var count = 0
    private var start = Instant(nanoseconds: 0)
    private var bytes: Int64 = 0

    /// Takes a look; whether a reading was completed by it.
    ///
    /// A connection that came or went begins the readings anew: each is of one number of connections. What arrived
    /// before that look, as the burst with which many servers open, is in none of them.
    mutating func look(received: Int64, connections: Int, now: Instant) -> Bool {
        guard connections == self.connections else {
            self = GoodputReadings(connections: connections, since: now, start: now, bytes: received)
            return false
        }
        let elapsed = now.seconds(since: start)
        let length = isFirst ? GoodputReadings.firstLength : GoodputReadings.length
        guard elapsed >= length else { return false }
        rates.append(max(0, Double(received - bytes)) / elapsed)
        if rates.count > GoodputReadings.kept { rates.removeFirst() }
        count += 1
        start = now
        bytes = received
        return true
    }

    /// The mean of the last so many.
    func mean(last wanted: Int) -> Double {
        let found = rates.suffix(wanted)
        return found.isEmpty ? 0 : found.reduce(0, +) / Double(found.count)
    }

    init() {}

    private init(connections: Int, since: Instant, start: Instant, bytes: Int64) {
        self.connections = connections
        self.since = since
        self.start = start
        self.bytes = bytes
    }

    /// The only connection's first reading says mainly what had piled up before it was read.
    private var isFirst: Bool { connections == 1 && count == 0 }

    // A little less than two looks and one, which are a tenth of a second apart.
    private static let length = 0.19
    private static let firstLength = 0.09
    private static let kept = 8
}
