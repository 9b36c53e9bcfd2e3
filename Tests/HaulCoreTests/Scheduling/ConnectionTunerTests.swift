import HaulCore
import Testing

/// A download of a simulated server, looked at every tenth of a second as the machine does.
private struct TunedDownload {
    var tuner = ConnectionTuner(fixed: nil)
    var now = Instant(nanoseconds: 0)
    var received = 0.0
    var opening: [Instant] = []
    var delivering = 1
    var remaining: Int64 = 10 << 30
    /// Bytes a second for so many connections.
    let rate: (Int) -> Double

    init(rate: @escaping (Int) -> Double) { self.rate = rate }

    mutating func tick() {
        now = now.advanced(by: 0.1)
        received += rate(delivering) * 0.1
        delivering += opening.count { $0 <= now }
        opening.removeAll { $0 <= now }
        tuner.sample(received: Int64(received), delivering: delivering, remaining: remaining, now: now)
        while delivering + opening.count < tuner.target { opening.append(now.advanced(by: 0.03)) }
    }

    /// Seconds until the target is reached, or `nil`.
    mutating func time(to target: Int, within seconds: Double) -> Double? {
        while now.seconds(since: Instant(nanoseconds: 0)) < seconds {
            tick()
            if delivering >= target { return now.seconds(since: Instant(nanoseconds: 0)) }
        }
        return nil
    }
}

@Suite("ConnectionTuner")
struct ConnectionTunerTests {
    private static let mebibyte = 1_048_576.0

    @Test("a server that gives each connection 4 MiB/s gets sixteen within a second and a half")
    func growsToCap() {
        var download = TunedDownload { Double($0) * 4 * Self.mebibyte }
        let time = download.time(to: 16, within: 10)
        #expect(time.map { $0 <= 1.45 } ?? false, "took \(String(describing: time)) s")
        #expect(download.tuner.target == 16)
    }

    @Test("a pipe that one connection fills stays with one")
    func singlePipe() {
        var download = TunedDownload { _ in 100 * Self.mebibyte }
        _ = download.time(to: 3, within: 10)
        #expect(download.tuner.target <= 2)
        #expect(download.delivering <= 2)
    }

    @Test("growth ends where it brings nothing more", arguments: [2, 4, 8])
    func plateau(enough: Int) {
        var download = TunedDownload { Double(min($0, enough)) * 4 * Self.mebibyte }
        _ = download.time(to: 17, within: 10)
        #expect(download.tuner.target >= enough)
        #expect(download.tuner.target <= enough * 2)
    }

    @Test("before the first goodput sample there is one connection")
    func beforeSample() {
        var tuner = ConnectionTuner(fixed: nil)
        #expect(tuner.target == 1)
        let now = Instant(nanoseconds: 0)
        tuner.sample(received: 0, delivering: 1, remaining: 1 << 40, now: now)
        tuner.sample(received: 1 << 20, delivering: 1, remaining: 1 << 40, now: now.advanced(by: 0.05))
        #expect(tuner.target == 1)
        tuner.sample(received: 1 << 22, delivering: 1, remaining: 1 << 40, now: now.advanced(by: 0.2))
        #expect(tuner.target == 2)
    }

    @Test("a target grows by no more than double at a time")
    func doubling() {
        var download = TunedDownload { Double($0) * 4 * Self.mebibyte }
        var targets = [1]
        for _ in 0..<40 {
            download.tick()
            if download.tuner.target != targets.last { targets.append(download.tuner.target) }
        }
        #expect(targets == [1, 2, 4, 8, 16])
    }

    @Test("a download that is about to end gets no new connections")
    func nearEnd() {
        var download = TunedDownload { Double($0) * 4 * Self.mebibyte }
        download.remaining = 1 << 20
        _ = download.time(to: 2, within: 5)
        #expect(download.tuner.target == 1)
    }

    @Test("a refusal holds the number that delivers, for good")
    func backsOff() {
        var download = TunedDownload { Double($0) * 4 * Self.mebibyte }
        _ = download.time(to: 8, within: 10)
        download.tuner.backOff(delivering: 5)
        #expect(download.tuner.target == 5)
        download.delivering = 5
        download.opening = []
        _ = download.time(to: 17, within: 10)
        #expect(download.tuner.target == 5)
        download.tuner.backOff(delivering: 0)
        #expect(download.tuner.target == 1)
    }

    @Test(
        "a number that the user fixed is wanted at once, and again after a loss", arguments: [-2, 1, 4, 100])
    func fixed(count: Int) {
        var tuner = ConnectionTuner(fixed: count)
        let wanted = max(1, count)
        #expect(tuner.target == wanted)
        #expect(tuner.cap == wanted)
        tuner.sample(received: 1, delivering: 1, remaining: 1, now: Instant(nanoseconds: 0))
        #expect(tuner.target == wanted)
        tuner.backOff(delivering: 1)
        #expect(tuner.target == 1)
    }

    @Test("a silent server does not make it grow")
    func silence() {
        var download = TunedDownload { _ in 0 }
        _ = download.time(to: 2, within: 5)
        #expect(download.tuner.target == 1)
    }
}
