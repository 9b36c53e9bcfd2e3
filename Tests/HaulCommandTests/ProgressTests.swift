import HaulCore
import HaulEngine
import HaulTestSupport
import Testing

@testable import HaulCommand

private func sample(
    _ number: UInt64, _ name: String, _ state: DownloadState = .downloading, received: Int64 = 471_859_200,
    total: Int64? = 2_789_220_352, rate: Double = 12_900_000, remaining: Double? = 179, connections: Int = 8
) -> DownloadSample {
    DownloadSample(
        id: DownloadID(number), state: state, name: name, received: received, total: total, rate: rate,
        remaining: remaining, connections: connections)
}

@Suite("Progress lines")
struct ProgressRendererTests {
    static let samples = [
        sample(1, "debian-12.7.0-amd64-netinst.iso"),
        sample(2, "音楽ファイル🎵.flac", received: 5, total: nil, rate: 0, remaining: nil, connections: 1),
        sample(3, "https://host.example/path/to/file?…", .probing),
        sample(
            4, "x", .retrying(seconds: 4.2, because: HaulError(.connectionLost, "the connection was lost"))),
        sample(5, "done.bin", .verifying, received: 3, total: 3),
        sample(6, "later", .queued),
    ]
    static let tally = Tally(total: 12, finished: 3, failed: 1, finishedBytes: 1 << 30)

    @Test("the lines at a width", arguments: [20, 40, 80, 120])
    func snapshots(_ width: Int) {
        let frame = ProgressRenderer.frame(
            samples: Self.samples, tally: Self.tally, width: width, unicode: true, color: false)
        #expect(frame == Self.frames[width])
    }

    @Test("without Unicode the same in ASCII")
    func ascii() {
        let frame = ProgressRenderer.frame(
            samples: Array(Self.samples.prefix(2)), width: 80, unicode: false, color: false)
        #expect(
            frame == [
                "debian-12.~tinst.iso  [#       ]   16%  0.44/2.60 GiB  12.3 MiB/s     2:59    8x",
                "???????.flac          [        ]                  5 B       0 B/s    --:--    1x",
            ])
    }

    static let frames: [Int: [String]] = [
        20: [
            "debian-…st.iso   16%",
            "音楽フ…🎵.flac      ",
            "http…e?…  connecting",
            "x  retry in…was lost",
            "done.bin   verifying",
            "3/12 do…failed   33%",
        ],
        40: [
            "debian-12.7…etinst.iso   16%  12.3 MiB/s",
            "音楽ファイル🎵.flac                0 B/s",
            "https://host.e…ath/to/file?…  connecting",
            "x  retry in 5 s: the connection was lost",
            "done.bin                       verifying",
            "3/12 done, 1 failed      33%  49.2 MiB/s",
        ],
        80: [
            "debian-12.…tinst.iso  ━─────────   16%  0.44/2.60 GiB  12.3 MiB/s     2:59    8×",
            "音楽ファイル🎵.flac   ──────────                  5 B       0 B/s    --:--    1×",
            "https://host.example/path/to/file?…                                   connecting",
            "x                                          retry in 5 s: the connection was lost",
            "done.bin                                                               verifying",
            "3/12 done, 1 failed   ━━━───────   33%       2.32 GiB  49.2 MiB/s    --:--   33×",
        ],
        120: [
            "debian-12.7.0-amd64-netinst.iso           ━━━━━─────────────────────────   16%  0.44/2.60 GiB  12.3 MiB/s"
                + "     2:59    8×",
            "音楽ファイル🎵.flac                       ──────────────────────────────                  5 B       0 B/s"
                + "    --:--    1×",
            "https://host.example/path/to/file?…                                                                      "
                + "     connecting",
            "x                                                                                  retry in 5 s: the conn"
                + "ection was lost",
            "done.bin                                                                                                 "
                + "      verifying",
            "3/12 done, 1 failed                       ━━━━━━━━━━────────────────────   33%       2.32 GiB  49.2 MiB/s"
                + "    --:--   33×",
        ],
    ]

    @Test("no line is ever wider than the terminal, whatever the names", arguments: 1...130)
    func neverWraps(_ width: Int) {
        var random = SeededGenerator(seed: UInt64(width))
        let pieces = ["a", "漢", "🎵", "👨‍👩‍👧‍👦", "e\u{301}", "\u{202E}", "\u{1B}[31m", "\n", "ﷺ", "️", "x.iso"]
        let samples = (1...8).map { number in
            let name = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            let states: [DownloadState] = [
                .downloading, .probing, .verifying,
                .retrying(seconds: 1e300, because: HaulError(.stalled, name.joined())),
            ]
            return sample(
                UInt64(number), name.joined(), states[number % 4],
                received: .random(in: 0 ... .max, using: &random),
                total: Bool.random(using: &random) ? .random(in: 0 ... .max, using: &random) : nil,
                rate: .random(in: -1e20...1e20, using: &random),
                remaining: .random(in: -1e9...1e9, using: &random),
                connections: .random(in: 0...9999, using: &random))
        }
        for unicode in [true, false] {
            let frame = ProgressRenderer.frame(
                samples: samples, tally: Tally(total: 9), width: width, unicode: unicode, color: false)
            #expect(frame.count == 9)
            for line in frame {
                #expect(DisplayText.cells(line) <= width)
                #expect(!line.utf8.contains { $0 < 0x20 || $0 == 0x7F })
                #expect(!line.contains("nan") && !line.contains("inf"))
                if !unicode { #expect(line.utf8.allSatisfy { $0 < 0x80 }) }
            }
        }
    }

    @Test("more downloads than lines are counted, not shown")
    func manyDownloads() {
        let samples = (1...50).map { sample(UInt64($0), "f\($0)") }
        let frame = ProgressRenderer.frame(
            samples: samples, tally: Tally(total: 50), width: 40, lines: 5, unicode: true, color: false)
        #expect(frame.count == 5)
        #expect(frame[0].hasPrefix("f1 ") && frame[2].hasPrefix("f3 "))
        #expect(frame[3] == "and 47 more")
        #expect(frame[4].hasPrefix("0/50 done"))
        #expect(
            ProgressRenderer.frame(samples: samples, width: 40, lines: 1, unicode: true, color: false).count
                == 1)
    }

    @Test("nothing that runs means no line")
    func nothing() {
        let frame = ProgressRenderer.frame(
            samples: [sample(1, "x", .queued), sample(2, "y", .finished)], tally: Tally(total: 5), width: 80,
            unicode: true, color: true)
        #expect(frame.isEmpty)
    }

    @Test("colour is only in the bar, and only where it is wanted")
    func color() {
        let frame = ProgressRenderer.frame(samples: [sample(1, "x")], width: 100, unicode: true, color: true)
        #expect(frame[0].contains("\u{1B}[32m━━━\u{1B}[0m───"))
        let plain = ProgressRenderer.frame(samples: [sample(1, "x")], width: 100, unicode: true, color: false)
        #expect(frame[0].replacing("\u{1B}[32m", with: "").replacing("\u{1B}[0m", with: "") == plain[0])
    }
}

@Suite("Drawing")
struct ProgressDisplayTests {
    @Test("lines take the place of those before, and leave nothing behind")
    func redraws() {
        var display = ProgressDisplay()
        #expect(display.erased(width: 80) == "")
        #expect(display.redrawn(["a", "b"], width: 80) == "\u{1B}[?7la\u{1B}[K\r\nb\u{1B}[J\u{1B}[?7h")
        #expect(display.redrawn(["c"], width: 80) == "\r\u{1B}[1A\u{1B}[?7lc\u{1B}[J\u{1B}[?7h")
        #expect(display.erased(width: 80) == "\r\u{1B}[J")
        #expect(display.erased(width: 80) == "")
        #expect(display.redrawn([], width: 80) == "")
    }

    @Test("lines that a narrower terminal broke in two are taken away whole")
    func resize() {
        var display = ProgressDisplay()
        _ = display.redrawn([String(repeating: "x", count: 79), "\u{1B}[32my\u{1B}[0m"], width: 80)
        #expect(display.erased(width: 40) == "\r\u{1B}[2A\u{1B}[J")
    }

    @Test(
        "bars are for terminals; the locale decides on more than ASCII",
        arguments: [
            (["LANG": "en_US.UTF-8"], true), (["LANG": "C"], false),
            (["LC_ALL": "C", "LANG": "en_US.UTF-8"], false),
            (["LC_CTYPE": "de_DE.utf8@euro"], true), ([:], false), (["LC_ALL": "", "LANG": "C.UTF-8"], true),
        ])
    func locale(_ environment: [String: String], _ isUnicode: Bool) {
        #expect(Console.isUnicode { environment[$0] } == isUnicode)
    }
}
