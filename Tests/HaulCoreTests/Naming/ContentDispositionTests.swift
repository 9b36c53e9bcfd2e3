import HaulCore
import HaulTestSupport
import Testing

@Suite("ContentDisposition")
struct ContentDispositionTests {
    private func name(_ value: String) -> String? {
        ContentDisposition.fileName(HeaderField("Content-Disposition", value))
    }

    private func name(_ prefix: String, bytes: [UInt8], _ suffix: String = "\"") -> String? {
        ContentDisposition.fileName(
            HeaderField(name: "Content-Disposition", bytes: Array(prefix.utf8) + bytes + Array(suffix.utf8)))
    }

    @Test(
        "plain names are read as browsers read them",
        arguments: [
            ("attachment; filename=\"report.bin\"", "report.bin"),
            ("attachment; filename=plain.txt;", "plain.txt"),
            ("attachment; filename=\"a;b.txt\"", "a;b.txt"), ("inline; filename=x.txt", "x.txt"),
            ("attachment;filename=\"x.txt\";size=5", "x.txt"), ("ATTACHMENT; FILENAME=x.txt", "x.txt"),
            ("attachment; filename = \"x.txt\" ; a=b", "x.txt"), ("filename=\"x.txt\"", "x.txt"),
            ("attachment; filename=my file.txt", "my file.txt"),
            ("attachment; filename=\"a\\\"b\\\\c.txt\"", "a\"b\\c.txt"),
            ("attachment; filename=\"..\\..\\evil.bin\"", "..\\..\\evil.bin"),
            ("attachment; filename=\"C:\\dir\\f.txt\"", "C:\\dir\\f.txt"),
            ("attachment; filename=\"open", "open"), ("attachment; size=3; filename=\"a=b.txt\"", "a=b.txt"),
            ("attachment; filename=\"first\"; filename=\"second\"", "first"),
            ("attachment; filename=\"..\"", ".."),
            ("attachment; filename=\"100%.txt\"", "100%.txt"), ("attachment; filename=ünï.txt", "ünï.txt"),
            ("attachment; filename=\"x.txt\" junk; a", "x.txt"), (";;; filename=x", "x"),
            ("attachment; =; filename=x", "x"),
            ("attachment; name=\"n\"; filename=\"a'b.txt\"", "a'b.txt"),
        ])
    func plain(value: String, expected: String) {
        #expect(name(value) == expected)
    }

    @Test(
        "no name is no name",
        arguments: [
            "", "attachment", "attachment;", "attachment; filename=", "attachment; filename=\"\"",
            "attachment; filename",
            "inline; name=x", "attachment; xfilename=y", "attachment; filename*=x",
            "attachment; filename*=UTF-8''",
            "attachment; filename*=UTF-8''%FF", "=", ";", "\"",
        ])
    func none(value: String) {
        #expect(name(value) == nil)
    }

    @Test(
        "filename* comes first and names its charset",
        arguments: [
            ("attachment; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.bin", "naïve €.bin"),
            ("attachment; filename=\"b\"; filename*=utf-8'en'a", "a"),
            ("attachment; filename*=UTF-8''a; filename=\"b\"", "a"),
            ("attachment; filename*=iso-8859-1''%A3.txt", "£.txt"),
            ("attachment; filename*=windows-1252''%80.txt", "€.txt"),
            ("attachment; filename*=Shift_JIS''%83e%83X%83g.txt", "テスト.txt"),
            ("attachment; filename*=\"UTF-8''q.txt\"", "q.txt"),
            ("attachment; filename*=UTF-8''a'b.txt", "a'b.txt"),
            ("attachment; filename*=UTF-8''%FF; filename=\"b\"", "b"),
            ("attachment; filename*=nonsense''x; filename=b", "b"),
            ("attachment; filename*=../x''x; filename=b", "b"),
            ("attachment; filename*=b.txt; filename=c", "c"), ("attachment; filename*=UTF-8''..%2Fx", "../x"),
            ("attachment; filename*0=\"a \"; filename*1=\"b.txt\"", "a b.txt"),
            ("attachment; filename*0*=UTF-8''%C3%A9; filename*1*=%C3%A8; filename*2=.txt", "éè.txt"),
        ])
    func extended(value: String, expected: String) {
        #expect(name(value) == expected)
    }

    @Test(
        "percent-coding in a plain name is undone, unless separators, controls or no UTF-8 come out",
        arguments: [
            ("%E3%83%86.txt", "テ.txt"), ("a%20b.txt", "a b.txt"), ("..%2F..%2Fevil", "..%2F..%2Fevil"),
            ("a%00b", "a%00b"),
            ("a%5Cb", "a%5Cb"), ("a%0Ab", "a%0Ab"), ("%FF.txt", "%FF.txt"), ("%zz.txt", "%zz.txt"),
            ("a+b", "a+b"),
        ])
    func percent(value: String, expected: String) {
        #expect(name("attachment; filename=\"\(value)\"") == expected)
    }

    @Test(
        "encoded words of mail are decoded",
        arguments: [
            ("=?UTF-8?B?w6QudHh0?=", "ä.txt"), ("=?utf-8?q?=C3=A4_b.txt?=", "ä b.txt"),
            ("=?iso-8859-1?Q?=E4.txt?=", "ä.txt"),
            ("=?UTF-8?B?w6Q=?= =?UTF-8?B?w7Y=?=.txt", "äö.txt"), ("a =?UTF-8?B?w6Q=?= b", "a ä b"),
            ("=?GB2312?B?1tC5+g==?=.txt", "中国.txt"), ("=?UTF-8*en?Q?x?=", "x"), ("=?x", "=?x"),
            ("=?UTF-8?X?a?=", "=?UTF-8?X?a?="),
            ("=?UTF-8?B?!?=", "=?UTF-8?B?!?="), ("=?nonsense?Q?a?=", "=?nonsense?Q?a?="),
            ("=?UTF-8?Q?a", "=?UTF-8?Q?a"),
        ])
    func encodedWords(value: String, expected: String) {
        #expect(name("attachment; filename=\"\(value)\"") == expected)
    }

    @Test(
        "raw bytes of other charsets are guessed",
        arguments: [
            ([0x67, 0x72, 0xFC, 0x6E, 0x2E, 0x74, 0x78, 0x74], "grün.txt"),
            ([0x63, 0x61, 0x66, 0xE9, 0x2E, 0x70, 0x64, 0x66], "café.pdf"),
            // Shift_JIS, GBK, EUC-KR, Windows-1251, UTF-8.
            (
                [
                    0x83, 0x65, 0x83, 0x58, 0x83, 0x67, 0x93, 0xFA, 0x96, 0x7B, 0x8C, 0xEA, 0x82, 0xCC, 0x83,
                    0x74, 0x83, 0x40, 0x83, 0x43, 0x83, 0x8B,
                ], "テスト日本語のファイル"
            ),
            (
                [
                    0xD6, 0xD0, 0xB9, 0xFA, 0xC8, 0xCB, 0xC3, 0xF1, 0xB5, 0xC4, 0xCE, 0xC4, 0xBC, 0xFE, 0xC3,
                    0xFB, 0xB3, 0xC6,
                ], "中国人民的文件名称"
            ),
            (
                [
                    0xCE, 0xF2, 0xF7, 0xE5, 0xF2, 0x20, 0xE7, 0xE0, 0x20, 0xEF, 0xE5, 0xF0, 0xE2, 0xFB, 0xE9,
                    0x20, 0xEA, 0xE2, 0xE0, 0xF0, 0xF2, 0xE0, 0xEB,
                ], "Отчет за первый квартал"
            ),
            (Array("テ.txt".utf8), "テ.txt"),
        ] as [([UInt8], String)])
    func charsets(bytes: [UInt8], expected: String) {
        #expect(name("attachment; filename=\"", bytes: bytes) == expected)
    }

    @Test("no bytes make it crash, and every name it gives can be made safe or refused", arguments: 0..<20)
    func randomBytes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces: [[UInt8]] = [
            "attachment", ";", " ", "filename", "filename*", "=", "\"", "\\", "UTF-8''", "=?UTF-8?B?", "?=",
            "%2F", "../", "*0*", "'",
        ].map { Array($0.utf8) }
        for _ in 0..<300 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0..<14, using: &random) {
                bytes += pieces.randomElement(using: &random) ?? []
                if Bool.random(using: &random) { bytes.append(UInt8.random(in: 0...255, using: &random)) }
            }
            let field = HeaderField(name: "Content-Disposition", bytes: bytes)
            if let name = ContentDisposition.fileName(field).flatMap(FileName.sanitized) {
                SafeName.check(name)
            }
        }
    }
}
