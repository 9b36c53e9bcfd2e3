import HaulCore
import Testing

@testable import HaulCommand
@testable import HaulDisk

@Suite("haul inspect")
struct InspectTests {
    private var report: PartialReport {
        PartialReport(
            path: "/d/x.iso.part", finalName: "x.iso", length: 4 << 20, size: 3 << 20,
            usable: RangeSet([ByteRange(0, 2 << 20)]), durable: RangeSet([ByteRange(0, 1 << 20)]),
            hasRanges: true, validator: Validator(etag: EntityTag(opaque: "\"v1\"", isWeak: false)),
            mediaType: nil, sources: [], damage: nil, isTorn: false, isBusy: false, owner: 7)
    }

    @Test("the report for people, word for word")
    func text() {
        #expect(
            InspectCommand.text(report) == """
                partial file:  /d/x.iso.part
                becomes:       x.iso
                length:        4.00 MiB (4194304 bytes)
                on disk:       3.00 MiB (3145728 bytes)
                usable now:    2.00 MiB, 50%; the next run goes on from there
                durable:       1.00 MiB, 25%; so much would survive a power cut
                ranges:        the server gives them, so the download can be resumed
                validator:     "v1"
                sources:       0
                journal:       whole
                in use:        no

                """)
    }

    @Test("what is not known or not well is said as such")
    func odd() {
        var report = report
        report.length = nil
        report.size = nil
        report.hasRanges = false
        report.isTorn = true
        report.isBusy = true
        let text = InspectCommand.text(report)
        for line in [
            "length:        unknown", "on disk:       nothing: the partial file is gone",
            "usable now:    2.00 MiB; the next run goes on from there",
            "ranges:        not seen so far; without them the next run starts anew",
            "journal:       its last record was cut off, and is ignored",
            "in use:        yes, by process 7",
        ] { #expect(text.contains(line + "\n"), "\(line)") }
    }
}
