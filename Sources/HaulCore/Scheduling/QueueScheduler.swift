/// Which waiting download starts next: in the order of creation, within the limits of all and of each host.
///
/// Costs of a call do not grow with the length of the queue.
package struct QueueScheduler: Sendable {
    /// A number that its owner gives to each host.
    package typealias Host = Int

    private struct Entry: Sendable {
        var sequence: UInt64
        var id: DownloadID
    }

    private struct Lane: Sendable {
        var waiting: [Entry] = []
        var head = 0
        var running = 0
        var limit: Int
        /// What of it is in the heap: older entries of the heap are void.
        var offered: UInt64?

        var first: Entry? { head < waiting.count ? waiting[head] : nil }

        mutating func popFirst() {
            head += 1
            if head > 64, head * 2 > waiting.count {
                waiting.removeFirst(head)
                head = 0
            }
        }
    }

    package var limit: Int
    package private(set) var running = 0
    private var lanes: [Host: Lane] = [:]
    private var offered: [(sequence: UInt64, host: Host)] = []
    private var hosts: [DownloadID: Host] = [:]
    /// Those that wait; an entry of a lane that is not here was removed, and is passed over.
    private var waitingPlaces: [DownloadID: (host: Host, sequence: UInt64)] = [:]
    private var sequence: UInt64 = 0
    private let hostLimit: Int

    /// - Parameters:
    ///   - limit: downloads at once.
    ///   - hostLimit: downloads at once of one host, until `setLimit` says otherwise.
    package init(limit: Int, hostLimit: Int) {
        self.limit = max(1, limit)
        self.hostLimit = max(1, hostLimit)
    }

    package var waiting: Int { waitingPlaces.count }

    package mutating func add(_ id: DownloadID, host: Host) {
        sequence += 1
        waitingPlaces[id] = (host, sequence)
        lanes[host, default: Lane(limit: hostLimit)].waiting.append(Entry(sequence: sequence, id: id))
        offer(host)
    }

    /// The downloads that may start now; they count as running.
    package mutating func startable() -> [DownloadID] {
        var started: [DownloadID] = []
        while running < limit, let next = popOffered() {
            guard lanes[next.host]?.offered == next.sequence else { continue }
            lanes[next.host]?.offered = nil
            guard let lane = lanes[next.host], let entry = lane.first, lane.running < lane.limit else {
                continue
            }
            guard entry.sequence == next.sequence else {
                offer(next.host)
                continue
            }
            lanes[next.host]?.popFirst()
            waitingPlaces[entry.id] = nil
            lanes[next.host]?.running += 1
            running += 1
            hosts[entry.id] = next.host
            started.append(entry.id)
            offer(next.host)
        }
        return started
    }

    /// A running download ended, whatever its end.
    package mutating func finished(_ id: DownloadID) {
        guard let host = hosts.removeValue(forKey: id) else { return }
        running -= 1
        lanes[host]?.running -= 1
        offer(host)
        forgetIfIdle(host)
    }

    /// Takes a waiting download out of the queue.
    ///
    /// - Returns: whether it was waiting.
    package mutating func remove(_ id: DownloadID) -> Bool {
        guard let host = waitingPlaces.removeValue(forKey: id)?.host else { return false }
        dropRemoved(host)
        offer(host)
        forgetIfIdle(host)
        return true
    }

    /// What was learnt of a host: more at once over HTTP/2, fewer where it refused.
    package mutating func setLimit(_ limit: Int, of host: Host) {
        lanes[host, default: Lane(limit: hostLimit)].limit = max(1, limit)
        offer(host)
    }

    /// Lets go of what was removed at the head of a lane.
    private mutating func dropRemoved(_ host: Host) {
        while let first = lanes[host]?.first, waitingPlaces[first.id]?.sequence != first.sequence {
            lanes[host]?.popFirst()
        }
    }

    private mutating func forgetIfIdle(_ host: Host) {
        guard let lane = lanes[host], lane.running == 0, lane.first == nil, lane.limit == hostLimit else {
            return
        }
        lanes[host] = nil
    }

    /// Puts a lane's head into the heap, once, if it has one and has room.
    private mutating func offer(_ host: Host) {
        dropRemoved(host)
        guard let lane = lanes[host], lane.running < lane.limit, let entry = lane.first,
            lane.offered != entry.sequence
        else { return }
        lanes[host]?.offered = entry.sequence
        offered.append((entry.sequence, host))
        var child = offered.count - 1
        while child > 0, offered[child].sequence < offered[(child - 1) / 2].sequence {
            offered.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func popOffered() -> (sequence: UInt64, host: Host)? {
        guard let first = offered.first else { return nil }
        let last = offered.removeLast()
        guard !offered.isEmpty else { return first }
        offered[0] = last
        var parent = 0
        while true {
            let left = parent * 2 + 1
            guard left < offered.count else { break }
            let right = left + 1
            let smaller =
                right < offered.count && offered[right].sequence < offered[left].sequence ? right : left
            guard offered[smaller].sequence < offered[parent].sequence else { break }
            offered.swapAt(smaller, parent)
            parent = smaller
        }
        return first
    }
}
