import Testing

@testable import HaulCommand

@Suite("Figures")
struct FiguresTests {
    @Test(
        "sizes have three figures and a unit",
        arguments: [
            (0, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (1536, "1.50 KiB"),
            (10_239, "10.0 KiB"),
            (1_047_552, "1023 KiB"), (1_048_575, "1.00 MiB"), (12_900_000, "12.3 MiB"),
            (2_789_220_352, "2.60 GiB"),
            (.max, "8.00 EiB"), (-1, "0 B"), (1 << 40, "1.00 TiB"), (104_857_600, "100 MiB"),
        ] as [(Int64, String)])
    func sizes(_ bytes: Int64, _ text: String) {
        #expect(Figures.size(bytes) == text)
    }

    @Test(
        "rates are never nonsense",
        arguments: [
            (0, "0 B/s"), (-5, "0 B/s"), (.nan, "0 B/s"), (.infinity, "0 B/s"), (1e30, "7.81 EiB/s"),
            (12_900_000, "12.3 MiB/s"),
        ] as [(Double, String)])
    func rates(_ rate: Double, _ text: String) {
        #expect(Figures.rate(rate) == text)
    }

    @Test(
        "percent is between 0 and 100, and nothing of nothing is all of it",
        arguments: [
            (0, 100, 0), (99, 100, 99), (999, 1000, 99), (100, 100, 100), (200, 100, 100), (-5, 100, 0),
            (0, 0, 100),
            (5, nil, nil),
        ] as [(Int64, Int64?, Int?)])
    func percent(_ bytes: Int64, _ total: Int64?, _ percent: Int?) {
        #expect(Figures.percent(bytes, of: total) == percent)
    }

    @Test(
        "the time that is left looks like a clock, or like days",
        arguments: [
            (nil, "--:--"), (.nan, "--:--"), (.infinity, "--:--"), (-1, "--:--"), (1e12, "--:--"),
            (0, "0:00"), (0.2, "0:01"),
            (7, "0:07"), (754, "12:34"), (3599.5, "1:00:00"), (3723, "1:02:03"), (35_999, "9:59:59"),
            (36_000, "10h 00m"),
            (86_340, "23h 59m"), (86_400, "1d 00h"), (86_400 * 999, "999d 00h"),
        ] as [(Double?, String)])
    func remaining(_ seconds: Double?, _ text: String) {
        #expect(Figures.remaining(seconds) == text)
    }

    @Test(
        "the time that passed",
        arguments: [
            (0, "0.0 s"), (0.44, "0.4 s"), (9.96, "10 s"), (42, "42 s"), (59.6, "1:00"), (754, "12:34"),
            (.nan, "0.0 s"), (-1, "0.0 s"),
        ]
            as [(Double, String)])
    func elapsed(_ seconds: Double, _ text: String) {
        #expect(Figures.elapsed(seconds) == text)
    }

    @Test("what came of a total has the total's unit")
    func amounts() {
        #expect(Figures.amount(471_859_200, of: 2_789_220_352) == "0.44/2.60 GiB")
        #expect(Figures.amount(0, of: 5) == "0/5 B")
        #expect(Figures.amount(2048, of: 0) == "2.00/0.00 KiB")
    }
}
