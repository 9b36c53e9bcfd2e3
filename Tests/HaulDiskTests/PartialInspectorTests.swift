import HaulCore
import HaulPlatform
import Testing

@testable import HaulDisk

@Suite("Inspecting a partial file")
struct PartialInspectorTests {
    let scratch: Scratch
    let body = Body()

    init() throws { scratch = try Scratch() }

    private func start() throws -> PartialFile {
        let file = try scratch.target().createPartial(name: "file.bin", exactName: true, header: body.header)
        try file.fill(body, ByteRange(0, 100))
        try file.makeDurable()
        try file.fill(body, ByteRange(200, 300))
        return file
    }

    @Test(
        "tells the same by any of the three names",
        arguments: ["file.bin", "file.bin.part", "file.bin.part.haul"])
    func names(name: String) throws {
        let file = try start()
        let report = try PartialInspector.inspect(path: scratch.path(name), system: scratch.system)
        #expect(report.path == scratch.path("file.bin.part") && report.finalName == "file.bin")
        #expect(report.usable == RangeSet([ByteRange(0, 100), ByteRange(200, 300)]))
        #expect(report.durable == RangeSet([ByteRange(0, 100)]))
        #expect(report.length == body.length && report.size == 300 && report.sources == [Body.source])
        #expect(report.validator == body.header.file.validator && report.hasRanges)
        #expect(report.isBusy && report.owner == scratch.system.processID && report.damage == nil)
        file.keep(sync: false)
        let later = try PartialInspector.inspect(path: scratch.path(name), system: scratch.system)
        #expect(!later.isBusy && later.usable == report.usable)
    }

    @Test("tells why a journal cannot be believed, and that the partial file is gone")
    func damaged() throws {
        try start().keep()
        scratch.cut("file.bin.part.haul", to: 0)
        try scratch.remove("file.bin.part")
        let report = try PartialInspector.inspect(path: scratch.path("file.bin"), system: scratch.system)
        #expect(report.damage == .empty && report.size == nil && report.usable.isEmpty && !report.isBusy)
    }

    @Test("fails where there is no journal")
    func absent() throws {
        #expect { try PartialInspector.inspect(path: scratch.path("x"), system: scratch.system) } throws: {
            ($0 as? SystemFailure)?.isNoSuchName == true
        }
    }
}
