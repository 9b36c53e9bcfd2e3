import HaulCore
import HaulTestSupport
import Testing

/// The same queue, written to be obviously right.
private struct NaiveQueue {
    var limit: Int
    var hostLimit: Int
    var limits: [Int: Int] = [:]
    var waiting: [(id: DownloadID, host: Int)] = []
    var running: [DownloadID: Int] = [:]

    mutating func startable() -> [DownloadID] {
        var started: [DownloadID] = []
        var index = 0
        while index < waiting.count, running.count < limit {
            let (id, host) = waiting[index]
            guard running.values.count(where: { $0 == host }) < limits[host] ?? hostLimit else {
                index += 1
                continue
            }
            waiting.remove(at: index)
            running[id] = host
            started.append(id)
        }
        return started
    }
}

@Suite("QueueScheduler")
struct QueueSchedulerTests {
    static func ids(_ numbers: [UInt64]) -> [DownloadID] { numbers.map { DownloadID($0) } }

    @Test("downloads start in the order they came, as many as the limits allow")
    func order() {
        var queue = QueueScheduler(limit: 4, hostLimit: 2)
        for number in 1...6 as ClosedRange<UInt64> { queue.add(DownloadID(number), host: 1) }
        queue.add(DownloadID(7), host: 2)
        #expect(queue.waiting == 7)
        let first = queue.startable()
        #expect(first == Self.ids([1, 2, 7]))
        queue.finished(DownloadID(2))
        let second = queue.startable()
        #expect(second == Self.ids([3]))
        #expect(queue.running == 3)
        #expect(queue.waiting == 3)
    }

    @Test("one that was removed does not start, and those behind it keep their turn")
    func removal() {
        var queue = QueueScheduler(limit: 1, hostLimit: 1)
        queue.add(DownloadID(1), host: 1)
        queue.add(DownloadID(2), host: 2)
        queue.add(DownloadID(3), host: 1)
        let removed = queue.remove(DownloadID(1))
        let again = queue.remove(DownloadID(1))
        #expect(removed && !again)
        let started = queue.startable()
        #expect(started == Self.ids([2]), "the place of the removed one is not inherited")
        let running = queue.remove(DownloadID(2))
        #expect(!running)
    }

    @Test("one that was removed and added again stands at the end")
    func readded() {
        var queue = QueueScheduler(limit: 1, hostLimit: 1)
        queue.add(DownloadID(1), host: 1)
        queue.add(DownloadID(2), host: 1)
        _ = queue.remove(DownloadID(1))
        queue.add(DownloadID(1), host: 1)
        var order: [DownloadID] = []
        for _ in 0..<3 {
            let started = queue.startable()
            order += started
            started.forEach { queue.finished($0) }
        }
        #expect(order == Self.ids([2, 1]))
    }

    @Test("a host's limit can change while it runs")
    func hostLimits() {
        var queue = QueueScheduler(limit: 10, hostLimit: 1)
        for number in 1...6 as ClosedRange<UInt64> { queue.add(DownloadID(number), host: 1) }
        _ = queue.startable()
        queue.setLimit(3, of: 1)
        let more = queue.startable()
        #expect(more == Self.ids([2, 3]))
        queue.setLimit(1, of: 1)
        queue.finished(DownloadID(1))
        let none = queue.startable()
        #expect(none.isEmpty)
        queue.finished(DownloadID(2))
        queue.finished(DownloadID(3))
        let one = queue.startable()
        #expect(one == Self.ids([4]))
    }

    @Test("ending what never ran changes nothing")
    func strangers() {
        var queue = QueueScheduler(limit: 2, hostLimit: 2)
        queue.finished(DownloadID(9))
        #expect(queue.running == 0)
    }

    @Test(
        "agrees with a naive queue over random adding, ending, removing and changing limits",
        arguments: 0..<40)
    func walk(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let (limit, hostLimit) = (
            Int.random(in: 1...6, using: &random), Int.random(in: 1...3, using: &random)
        )
        var queue = QueueScheduler(limit: limit, hostLimit: hostLimit)
        var naive = NaiveQueue(limit: limit, hostLimit: hostLimit)
        var last: UInt64 = 0
        for _ in 0..<400 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3:
                last += 1
                let host = Int.random(in: 0..<4, using: &random)
                queue.add(DownloadID(last), host: host)
                naive.waiting.append((DownloadID(last), host))
            case 4...6:
                guard let id = naive.running.keys.sorted().randomElement(using: &random) else { continue }
                queue.finished(id)
                naive.running[id] = nil
            case 7:
                let id = DownloadID(UInt64.random(in: 0...last, using: &random))
                let was = queue.remove(id)
                #expect(was == naive.waiting.contains { $0.id == id })
                naive.waiting.removeAll { $0.id == id }
            case 8:
                let (host, limit) = (
                    Int.random(in: 0..<4, using: &random), Int.random(in: 1...4, using: &random)
                )
                queue.setLimit(limit, of: host)
                naive.limits[host] = limit
            default:
                let limit = Int.random(in: 1...8, using: &random)
                queue.limit = limit
                naive.limit = limit
            }
            let (started, expected) = (queue.startable(), naive.startable())
            #expect(started == expected)
            #expect(queue.running == naive.running.count)
            #expect(queue.waiting == naive.waiting.count)
        }
    }

    @Test("nobody starves: with steady newcomers every download starts in its turn")
    func noStarvation() {
        var queue = QueueScheduler(limit: 3, hostLimit: 2)
        var started: [DownloadID] = []
        var running: [DownloadID] = []
        for number in 1...2000 as ClosedRange<UInt64> {
            // Most come for one busy host.
            queue.add(DownloadID(number), host: number.isMultiple(of: 5) ? 1 : 0)
            if number.isMultiple(of: 2), !running.isEmpty { queue.finished(running.removeFirst()) }
            let new = queue.startable()
            started += new
            running += new
        }
        while !running.isEmpty {
            queue.finished(running.removeFirst())
            let new = queue.startable()
            started += new
            running += new
        }
        #expect(started.count == 2000)
        for host in 0...1 {
            let mine = started.filter { ($0.rawValue.isMultiple(of: 5) ? 1 : 0) == host }
            #expect(mine == mine.sorted())
        }
    }

    @Test("a hundred thousand waiting downloads are added, removed and started in a breath")
    func cost() {
        var queue = QueueScheduler(limit: 8, hostLimit: 4)
        let count: UInt64 = 100_000
        for number in 1...count { queue.add(DownloadID(number), host: Int(number % 500)) }
        var removed = 0
        for number in stride(from: UInt64(1), through: count, by: 2) where queue.remove(DownloadID(number)) {
            removed += 1
        }
        #expect(removed == 50_000)
        var started = 0
        while true {
            let new = queue.startable()
            if new.isEmpty { break }
            started += new.count
            for id in new { queue.finished(id) }
        }
        #expect(started == 50_000)
        #expect(queue.waiting == 0)
    }
}
