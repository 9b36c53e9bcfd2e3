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
                "debian-12.~tinst.iso  [#      ]   16%   0.44/2.60 GiB  12.3 MiB/s     2:59    8x",
                "???????.flac          [       ]                   5 B       0 B/s    --:--    1x",
            ])
    }

    static let frames: [Int: [String]] = [
        20: [
            "debian-…st.iso   16%",
            "音楽フ…🎵.flac      ",
            "http…e?…  connecting",
            "x  retry 1 …was lost",
            "done.bin   verifying",
            "3/12 fi…failed   16%",
        ],
        40: [
            "debian-12.7…etinst.iso   16%  12.3 MiB/s",
            "音楽ファイル🎵.flac                0 B/s",
            "https://host.e…ath/to/file?…  connecting",
            "x  retry 1 in 5 s: th…onnection was lost",
            "done.bin                       verifying",
            "3/12 files, 1 failed     16%  49.2 MiB/s",
        ],
        80: [
            "debian-12.…tinst.iso  ━────────   16%   0.44/2.60 GiB  12.3 MiB/s     2:59    8×",
            "音楽ファイル🎵.flac   ─────────                   5 B       0 B/s    --:--    1×",
            "https://host.example/path/to/file?…                                   connecting",
            "x                                        retry 1 in 5 s: the connection was lost",
            "done.bin                                                               verifying",
            "3/12 files, 1 failed  ━────────   16%  2.32/8.79 GiB+  49.2 MiB/s     4:00   33×",
        ],
        120: [
            "debian-12.7.0-amd64-netinst.iso           ━━━━─────────────────────────   16%   0.44/2.60 GiB  12.3 MiB/s"
                + "     2:59    8×",
            "音楽ファイル🎵.flac                       ─────────────────────────────                   5 B       0 B/s"
                + "    --:--    1×",
            "https://host.example/path/to/file?…                                                                      "
                + "     connecting",
            "x                                                                                retry 1 in 5 s: the conn"
                + "ection was lost",
            "done.bin                                                                                                 "
                + "      verifying",
            "3/12 files, 1 failed                      ━━━━─────────────────────────   16%  2.32/8.79 GiB+  49.2 MiB/s"
                + "     4:00   33×",
        ],
    ]

    static let names = [
        "x.iso", "debian-12.7.0-amd64-netinst-with-a-long-name.iso", "音楽ファイルのとても長い名前の音楽ファイル🎵.flac",
        String(repeating: "e\u{301}", count: 60), "👨‍👩‍👧‍👦 family.zip",
    ]

    @Test(
        "name, per cent and speed at every width; a bar from 60 columns on",
        arguments: [30, 40, 60, 80, 120, 200])
    func widths(_ columns: Int) {
        // The last column stays free.
        let width = columns - 1
        let samples = Self.names.enumerated().map { sample(UInt64($0 + 1), $1) }
        let frame = ProgressRenderer.frame(samples: samples, width: width, unicode: true, color: false)
        #expect(frame.count == samples.count)
        for (line, name) in zip(frame, Self.names) {
            #expect(DisplayText.cells(line) == width, "\(line)")
            #expect(line.unicodeScalars.first == name.unicodeScalars.first)
            #expect(line.contains("  16%") && line.contains("  12.3 MiB/s"))
            #expect(line.contains("━─") == (columns >= 60))
            #expect(line.contains(" 2:59") == (columns >= 60))
            #expect(line.contains("0.44/2.60 GiB") == (columns >= 80))
            // The bar takes no more than the name keeps.
            #expect(line.count { $0 == "━" || $0 == "─" } <= 40)
        }
        let shown = DisplayText.cells(String(frame[1].prefix { $0 != "━" && $0 != " " }))
        #expect(shown >= 10)
    }

    @Test("the total tells bytes, speed and time left beside the number of files")
    func total() {
        let samples = [
            sample(1, "a", received: 1 << 30, total: 2 << 30, rate: 1_048_576),
            sample(2, "b", received: 0, total: 1 << 30, rate: 1_048_576),
        ]
        let line = { (tally: Tally, samples: [DownloadSample]) in
            ProgressRenderer.frame(samples: samples, tally: tally, width: 99, unicode: false, color: false)
                .last
        }
        let known = Tally(total: 3, finished: 1, finishedBytes: 1 << 30)
        #expect(
            line(known, samples)
                == "1/3 files                      [########         ]   50%   2.00/4.00 GiB  2.00 MiB/s    17:04   16x"
        )
        // Two more that are not known yet: as long as the three others.
        let open = Tally(total: 6, finished: 1, failed: 1, finishedBytes: 1 << 30)
        #expect(
            line(open, samples)
                == "1/6 files, 1 failed            [#####            ]   30%  2.00/4.00 GiB+  2.00 MiB/s    39:50   16x"
        )
        // Without any length there is nothing to compare with.
        let blind = [sample(1, "a", received: 5, total: nil, rate: 1000, remaining: nil, connections: 1)]
        #expect(
            line(Tally(total: 2), blind)
                == "0/2 files                      [                 ]    0%          5/5 B+    1000 B/s    --:--    1x"
        )
    }

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
        #expect(frame[4].hasPrefix("0/50 files"))
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
        #expect(display.erased() == "")
        #expect(
            display.redrawn(["a", "b"], width: 80)
                == "\r\u{1B}[?7la\u{1B}[K\r\nb\u{1B}[J\u{1B}[?7h\r\u{1B}[1A")
        #expect(display.redrawn(["c"], width: 80) == "\r\u{1B}[?7lc\u{1B}[J\u{1B}[?7h\r")
        #expect(display.erased() == "\r\u{1B}[J")
        #expect(display.erased() == "")
        #expect(display.redrawn([], width: 80) == "")
    }

    @Test(
        "after any resize the screen holds what was there before and the bars, and nothing else",
        arguments: ScreenModel.Resizing.allCases)
    func resize(_ resizing: ScreenModel.Resizing) {
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var screen = ScreenModel(width: 100, resizing: resizing)
            var display = ProgressDisplay()
            let before = ["one", "$ haul"]
            screen.write(before.joined(separator: "\r\n") + "\r\n")
            for _ in 0..<20 {
                if Bool.random(using: &random) { screen.resize(to: .random(in: 10...150, using: &random)) }
                let samples = (1...Int.random(in: 1...8, using: &random)).map {
                    sample(UInt64($0), "file \($0)")
                }
                let lines = ProgressRenderer.frame(
                    samples: samples, width: screen.width - 1, unicode: true, color: false)
                screen.write(display.redrawn(lines, width: screen.width))
                #expect(screen.lines == before + lines, "seed \(seed)")
            }
            screen.resize(to: .random(in: 10...150, using: &random))
            screen.write(display.erased())
            #expect(screen.lines == before, "seed \(seed)")
        }
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
