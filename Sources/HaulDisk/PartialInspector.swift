package import HaulCore
package import HaulPlatform

/// What a partial file holds, for a person to read.
package struct PartialReport: Hashable, Sendable {
    /// The path of the partial file.
    package var path: String
    package var finalName: String?
    /// Bytes of the whole file, when known.
    package var length: Int64?
    /// Bytes of the partial file as it is; `nil` when it is gone.
    package var size: Int64?
    /// What a run that starts now could use.
    package var usable: RangeSet
    /// What would be left if the power failed now.
    package var durable: RangeSet
    package var hasRanges: Bool
    package var validator: Validator
    package var mediaType: String?
    package var sources: [SourceDigest]
    /// Why nothing of the journal can be believed.
    package var damage: JournalDamage?
    /// A record was cut off at the end of the journal.
    package var isTorn: Bool
    /// Some download holds the file now.
    package var isBusy: Bool
    /// The process that took the file last; that holds it, if `isBusy`.
    package var owner: Int32?
}

package enum PartialInspector {
    /// Looks at a partial file without changing anything.
    ///
    /// The path may be the final one, that of the partial file or that of its journal. A missing journal fails with
    /// `isNoSuchName`.
    package static func inspect(path: String, system: any SystemCalls) throws(SystemFailure) -> PartialReport
    {
        let partial = partialPath(path)
        let journal = DiskName.journal(besidePartial: partial)
        let file = try system.open(journal, in: nil, .read)
        let contents = JournalReader.read(try JournalFile.bytes(of: file, system: system) ?? [0])
        let size = try system.statusIfThere(of: partial, in: nil)?.size
        let facts = contents.header?.file
        return PartialReport(
            path: partial, finalName: contents.header?.finalName, length: facts?.length, size: size,
            usable: contents.usable(boot: system.bootID, size: size ?? 0),
            durable: contents.durable.prefix(below: size ?? 0), hasRanges: facts?.hasRanges ?? false,
            validator: facts?.validator ?? Validator(), mediaType: facts?.mediaType,
            sources: contents.header?.sources ?? [], damage: contents.damage, isTorn: contents.isTorn,
            isBusy: isBusy(partial, system), owner: contents.owner)
    }

    private static func partialPath(_ path: String) -> String {
        if path.hasSuffix(DiskName.journalSuffix) { return String(path.dropLast(5)) }
        if path.hasSuffix(DiskName.partialSuffix) { return path }
        guard let slash = path.lastIndex(of: "/") else { return DiskName.partial(for: path) }
        return path[...slash] + DiskName.partial(for: String(path[slash...].dropFirst()))
    }

    private static func isBusy(_ partial: String, _ system: any SystemCalls) -> Bool {
        guard let file = try? system.open(partial, in: nil, .read), let isFree = try? system.lock(file) else {
            return false
        }
        return !isFree
    }
}
