import HaulCore
import HaulTestSupport
import Testing

@Suite("DisplayText")
struct DisplayTextTests {
    @Test(
        "nothing that steers a terminal comes through",
        arguments: [
            ("plain ü テ 😀", "plain ü テ 😀"), ("x\u{1B}[2Jy", "x[2Jy"), ("a\r\nb\tc", "a  b c"),
            ("\u{7F}\u{9B}31m", "31m"),
            ("a\u{202E}b\u{2066}c\u{200F}d", "abcd"), ("a\0b", "ab"), ("a\u{2028}b", "a b"), ("👨‍👩‍👧", "👨👩👧"),
            ("\u{FEFF}a\u{AD}", "a"),
            ("\u{E0041}x", "x"),
        ])
    func safe(text: String, expected: String) {
        #expect(DisplayText.safe(text).unicodeScalars.elementsEqual(expected.unicodeScalars))
    }

    @Test(
        "cells are counted by grapheme, wide ones as two",
        arguments: [
            ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("テ", 2), ("한", 2),
            ("\u{1112}\u{1161}\u{11AB}", 2), ("😀", 2), ("👍🏽", 2),
            ("🇩🇪", 2), ("👨‍👩‍👧", 2), ("❤️", 2), ("…", 1), ("क्षि", 2), ("ａ", 2), ("\u{1B}", 0), ("\u{E000}", 1),
        ])
    func cells(text: String, expected: Int) {
        #expect(DisplayText.cells(text) == expected)
    }

    @Test(
        "long text loses its middle",
        arguments: [
            ("abcdef", 6, "abcdef"), ("abcdefg", 6, "abc…fg"), ("abcdefg", 1, "…"), ("abcdefg", 2, "a…"),
            ("abcdefg", 0, ""),
            ("テストテスト", 12, "テストテスト"), ("テストテスト", 7, "テ…スト"), ("a", 5, "a"), ("", 0, ""), ("", 3, ""),
        ])
    func fitted(text: String, limit: Int, expected: String) {
        #expect(DisplayText.fitted(text, cells: limit) == expected)
    }

    @Test(
        "fitted text is never wider than asked, and never longer than needed by more than a wide cell",
        arguments: 0..<20)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("abテ한😀é👍🏽🇩🇪e\u{301}. ")
        for _ in 0..<200 {
            let text = String(
                (0..<Int.random(in: 0..<60, using: &random)).compactMap { _ in
                    alphabet.randomElement(using: &random)
                })
            let limit = Int.random(in: 0..<50, using: &random)
            let fitted = DisplayText.fitted(text, cells: limit)
            #expect(DisplayText.cells(fitted) <= limit)
            if DisplayText.cells(text) > limit {
                #expect(DisplayText.cells(fitted) >= limit - 2)
            } else {
                #expect(fitted == text)
            }
        }
    }
}
