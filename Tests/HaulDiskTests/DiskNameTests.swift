import Testing

@testable import HaulDisk

@Suite("Names on disk")
struct DiskNameTests {
    @Test(
        "puts the number before the extension",
        arguments: [
            ("a.bin", 1, "a (1).bin"), ("a.tar.gz", 2, "a (2).tar.gz"), ("a.TAR.zst", 3, "a (3).TAR.zst"),
            ("README", 1, "README (1)"), (".profile", 1, ".profile (1)"), ("v1.2 final", 1, "v1.2 final (1)"),
            ("a.tar", 1, "a (1).tar"), ("x", 0, "x"), (".tar.gz", 1, ".tar (1).gz"),
        ])
    func numbered(name: String, number: Int, expected: String) {
        #expect(DiskName.numbered(name, number) == expected)
    }

    @Test(
        "leaves room for every suffix, and cuts no character in two",
        arguments: ["x", "é", "文", "👩‍👩‍👧‍👦"])
    func longNames(character: String) {
        let name = String(repeating: character, count: 250 / character.utf8.count) + ".gz"
        for number in [0, 1, 99_999] {
            let numbered = DiskName.numbered(name, number)
            let journal = DiskName.journal(besidePartial: DiskName.partial(for: numbered))
            #expect(JournalFile.replacementName(journal).utf8.count <= 255)
            #expect(numbered.utf8.count <= 255)
            #expect(numbered.hasPrefix(character))
            #expect(number == 0 || numbered.hasSuffix(" (\(number)).gz"))
        }
    }

    @Test("takes no name that is not one entry of the directory", arguments: ["", ".", "..", "a/b", "a\0"])
    func plain(name: String) {
        #expect(!DiskName.isPlain(name))
        #expect(DiskName.isPlain("...") && DiskName.isPlain("a b"))
    }
}
