import HaulCore
import Testing

@Suite("ConnectionTuner")
struct ConnectionTunerTests {
    private static let mebibyte = SimulatedLink.mebibyte
    private static let seeds = Array(UInt64(1)...8)

    private static func steady(_ mebibytes: Double) -> (Double) -> Double {
        { _ in mebibytes * mebibyte }
    }

    /// Four MiB/s for each connection over a way of that capacity.
    private static func slow(over capacity: Double = 1000) -> SimulatedLink {
        SimulatedLink(capacity: steady(capacity), perConnection: steady(4))
    }

    private static func pipe(_ capacity: Double) -> SimulatedLink {
        SimulatedLink(capacity: steady(capacity))
    }

    /// Seconds for 512 MiB, as a part of what sixteen connections from the start take.
    private static func cost(_ link: SimulatedLink, seed: UInt64 = 1, mebibytes: Double = 512) -> Double {
        var automatic = SimulatedDownload(link, length: mebibytes * mebibyte, seed: seed)
        var fixed = SimulatedDownload(link, length: mebibytes * mebibyte, fixed: 16, seed: seed)
        automatic.run(for: 1000)
        fixed.run(for: 1000)
        return automatic.time / fixed.time
    }

    // MARK: Growing

    @Test("a server that gives each connection 4 MiB/s gets sixteen within a second and a half")
    func growsToCap() {
        var download = SimulatedDownload(Self.slow())
        download.run(for: 10) { $0.delivering >= 16 }
        #expect(download.time <= 1.5)
        #expect(download.tuner.target == 16)
        #expect(Self.cost(Self.slow()) <= 1.2)
    }

    @Test("before the first goodput reading there is one connection, whatever the server does")
    func beforeReading() {
        for burst in [0, 1, 64] {
            var link = Self.slow()
            link.burst = Double(burst) * Self.mebibyte
            var download = SimulatedDownload(link)
            download.run(for: 0.2)
            #expect(download.openedEarly == 1)
            download.run(for: 0.2)
            #expect(download.opened <= 2)
        }
        var tuner = ConnectionTuner(fixed: nil)
        #expect(tuner.target == 1)
        let now = Instant(nanoseconds: 0)
        tuner.sample(received: 0, delivering: 1, remaining: 1 << 40, now: now)
        tuner.sample(received: 1 << 20, delivering: 1, remaining: 1 << 40, now: now.advanced(by: 0.05))
        tuner.sample(received: 1 << 21, delivering: 1, remaining: 1 << 40, now: now.advanced(by: 0.1))
        #expect(tuner.target == 1)
        tuner.sample(received: 3 << 21, delivering: 1, remaining: 1 << 40, now: now.advanced(by: 0.3))
        #expect(tuner.target == 2)
    }

    @Test("a target grows by no more than double at a time")
    func doubling() {
        var download = SimulatedDownload(Self.slow())
        download.run(for: 60)
        #expect(download.targets == [1, 2, 4, 8, 16])
    }

    @Test("a burst at the start of each connection does not end the growth", arguments: [0.5, 2, 4, 16])
    func openingBurst(mebibytes: Double) {
        for capacity in [100.0, 1000] {
            var link = Self.slow(over: capacity)
            link.burst = mebibytes * Self.mebibyte
            #expect(Self.cost(link) <= 1.25)
        }
    }

    @Test("bodies that come in pieces with rests between do not end it", arguments: [0.25, 0.5, 1, 2])
    func pieces(mebibytes: Double) {
        var link = Self.slow()
        link.piece = mebibytes * Self.mebibyte
        let costs = Self.seeds.map { Self.cost(link, seed: $0) }.sorted()
        #expect(costs[costs.count / 2] <= 1.3)
        // A verdict that chance made wrong is put right.
        #expect(costs.allSatisfy { $0 <= 1.75 })
    }

    @Test("uneven pieces and connections that vary cost no more than a wrong verdict", arguments: seeds)
    func noisyPieces(seed: UInt64) {
        var link = Self.slow()
        link.piece = Self.mebibyte
        link.noise = 0.3
        #expect(Self.cost(link, seed: seed) <= 2)
    }

    @Test("connections that vary by 30 % do not end the growth", arguments: seeds)
    func noisyGrowth(seed: UInt64) {
        var link = Self.slow()
        link.noise = 0.3
        #expect(Self.cost(link, seed: seed) <= 1.25)
    }

    @Test("connections in slow start are waited for", arguments: [0.02, 0.05, 0.1, 0.2])
    func slowStart(roundTrip: Double) {
        var link = Self.slow()
        link.roundTrip = roundTrip
        var download = SimulatedDownload(link)
        download.run(for: 20) { $0.delivering >= 16 }
        // Six round trips until a connection is at its full speed, five times one after the other.
        #expect(download.time <= 1.6 + 30 * roundTrip)
        #expect(download.targets == [1, 2, 4, 8, 16])
    }

    // MARK: Not growing

    @Test("a pipe that one connection fills stays with one", arguments: [0.1, 10, 1000])
    func singlePipe(capacity: Double) {
        var download = SimulatedDownload(Self.pipe(capacity))
        download.run(for: 60)
        #expect(download.tuner.target == 1)
        #expect(download.opened == 2)
    }

    @Test("a pipe that varies by 30 % gets no more than three more", arguments: seeds)
    func noisyPipe(seed: UInt64) {
        var link = Self.pipe(10)
        link.noise = 0.3
        var download = SimulatedDownload(link, seed: seed)
        download.run(for: 60)
        #expect(download.tuner.target <= 2)
        #expect(download.opened <= 4)
    }

    @Test("slow start of one connection is no reason for many", arguments: [0.02, 0.05, 0.1, 0.2])
    func slowStartOfPipe(roundTrip: Double) {
        var link = Self.pipe(20)
        link.roundTrip = roundTrip
        var download = SimulatedDownload(link)
        download.run(for: 30)
        #expect(download.opened <= (roundTrip > 0.1 ? 4 : 2))
    }

    @Test("growth ends where it brings nothing more", arguments: [2, 3, 4, 8, 12])
    func plateau(enough: Int) {
        for noise in [0, 0.3] {
            for seed in Self.seeds.prefix(noise == 0 ? 1 : 3) {
                var link = Self.slow(over: Double(enough) * 4)
                link.noise = noise
                var download = SimulatedDownload(link, seed: seed)
                download.run(for: 10)
                #expect(download.rate(over: 20) >= Double(enough) * 4 * Self.mebibyte * 0.8, "seed \(seed)")
                #expect(download.opened <= min(16, enough * (noise == 0 ? 3 : 6)), "seed \(seed)")
            }
        }
    }

    @Test("a download that is about to end gets no new connections")
    func nearEnd() {
        var download = SimulatedDownload(Self.slow(), length: 4 * Self.mebibyte)
        download.run()
        #expect(download.opened == 1)
    }

    @Test("a silent server does not make it grow")
    func silence() {
        var download = SimulatedDownload(Self.pipe(0))
        download.run(for: 30)
        #expect(download.tuner.target == 1)
    }

    // MARK: What changes

    @Test("a held number grows when the way gets wider")
    func wider() {
        var link = Self.slow()
        link.capacity = { ($0 < 10 ? 8 : 1000) * Self.mebibyte }
        var download = SimulatedDownload(link)
        download.run(for: 10)
        #expect(download.most <= 4)
        download.run(for: 5)
        #expect(download.rate(over: 5) >= 63 * Self.mebibyte)
    }

    @Test("a way that gets narrower costs a few tries and no more", arguments: [2, 3, 10])
    func narrower(factor: Double) {
        var link = Self.pipe(100)
        link.capacity = { ($0 < 10 ? 100 : 100 / factor) * Self.mebibyte }
        var download = SimulatedDownload(link)
        download.run(for: 120)
        #expect(download.opened <= 6)
    }

    @Test("a server that slows its connections down later gets more of them")
    func slowedDown() {
        var link = Self.pipe(100)
        link.perConnection = { ($0 < 5 ? 100 : 4) * Self.mebibyte }
        var download = SimulatedDownload(link)
        download.run(for: 5)
        #expect(download.most == 2)
        download.run(for: 10)
        #expect(download.rate(over: 5) >= 60 * Self.mebibyte)
    }

    @Test("what was held during a jam is left after it")
    func jam() {
        var link = Self.slow()
        link.capacity = { ($0 > 0.6 && $0 < 3 ? 5 : 1000) * Self.mebibyte }
        #expect(Self.cost(link) <= 1.35)
    }

    @Test("a way that changes for ever does not make it oscillate", arguments: [2.0, 5, 20])
    func changing(period: Double) {
        var link = Self.pipe(100)
        link.capacity = { (Int($0 / period) % 2 == 0 ? 100 : 10) * Self.mebibyte }
        var download = SimulatedDownload(link)
        download.run(for: 300)
        #expect(download.opened <= 16)
        #expect(download.targets.count <= 40)
    }

    @Test("tries that bring nothing become rare")
    func rarer() {
        // Segments that end leave nothing of a try, so that the next is due.
        var link = Self.pipe(20)
        link.segment = 16 * Self.mebibyte
        var download = SimulatedDownload(link)
        download.run(for: 600)
        #expect(download.most == 2)
        #expect(download.targets.count { $0 == 2 } <= 12)
    }

    // MARK: Refusals

    @Test("a server that refuses more is not asked again", arguments: [1, 2, 3, 5, 11])
    func ceiling(allowed: Int) {
        var link = Self.slow()
        link.allowed = allowed
        var download = SimulatedDownload(link)
        download.run(for: 60)
        #expect(download.delivering == allowed)
        #expect(download.tuner.target == allowed)
        // Those that were asked together are refused together.
        #expect(download.refused <= 8)
        #expect(download.opened == allowed + download.refused)
    }

    @Test("a refusal holds the number that delivers, for good")
    func backsOff() {
        var tuner = ConnectionTuner(fixed: nil)
        tuner.backOff(delivering: 0)
        #expect(tuner.target == 1)
        for tenth in 0..<6000 {
            tuner.sample(
                received: Int64(tenth) << 20, delivering: 1, remaining: 1 << 40,
                now: Instant(nanoseconds: 0).advanced(by: Double(tenth) / 10))
        }
        #expect(tuner.target == 1)
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

    @Test("never more than the cap, whatever comes", arguments: seeds)
    func neverAboveCap(seed: UInt64) {
        var link = Self.slow()
        link.noise = 0.9
        link.piece = Double(seed) * 0.2 * Self.mebibyte
        link.burst = Double(seed % 4) * Self.mebibyte
        link.segment = Double(8 + seed) * Self.mebibyte
        var download = SimulatedDownload(link, seed: seed)
        download.run(for: 30) { $0.delivering > 16 }
        #expect(download.most <= 16)
        #expect(download.targets.allSatisfy { (1...16).contains($0) })
    }
}
