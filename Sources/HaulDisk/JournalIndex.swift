/// Which journals a directory holds, by what they are looked up with.
struct JournalIndex {
    struct Entry {
        var sources: [SourceDigest]
        var finalName: String
    }

    private var entries: [String: Entry] = [:]

    subscript(journal: String) -> Entry? {
        get { entries[journal] }
        set { entries[journal] = newValue }
    }

    /// The names of the journals that know one of these sources, in the order of their names.
    func journals(of digests: [SourceDigest]) -> [String] {
        let wanted = Set(digests)
        return entries.filter { !wanted.isDisjoint(with: $0.value.sources) }.keys.sorted()
    }

    /// The names of the journals of partial files that are to have that name.
    func journals(finalName: String) -> [String] {
        entries.filter { $0.value.finalName == finalName }.keys.sorted()
    }
}
