import Foundation
import HaulCore
import HaulPlatform
import HaulTestSupport
import Testing

@testable import HaulDisk

@Suite("Standard output")
struct StreamSinkTests {
    private func put(_ text: String, at offset: Int64, _ sink: StreamSink) throws {
        try Array(text.utf8).withUnsafeBytes { try sink.write($0, at: offset) }
    }

    @Test("takes bytes in order, however few at a time the reader takes")
    func inOrder() throws {
        let system = FakeSystem()
        system.put([], at: "out")
        let sink = StreamSink(try system.open("/out", in: nil, .update), system: system)
        let long = String(repeating: "x", count: 10_000)
        try put("ab", at: 0, sink)
        try put(long, at: 2, sink)
        #expect(sink.position == 10_002)
        #expect(system.contents("/out") == Array(("ab" + long).utf8))
    }

    @Test("refuses to go back or to leave a hole", arguments: [0, 1, 3])
    func outOfOrder(offset: Int64) throws {
        let system = FakeSystem()
        system.put([], at: "out")
        let sink = StreamSink(try system.open("/out", in: nil, .update), system: system)
        try put("ab", at: 0, sink)
        #expect { try put("c", at: offset, sink) } throws: { ($0 as? SystemFailure)?.isNotInOrder == true }
        #expect(system.contents("/out") == Array("ab".utf8))
    }

    @Test("says that the reader has gone")
    func brokenPipe() throws {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let system = LiveSystem()
        let sink = StreamSink(Descriptor(ends[1], path: "output", system: system), system: system)
        system.close(ends[0])
        #expect { try put("c", at: 0, sink) } throws: { ($0 as? SystemFailure)?.isBrokenPipe == true }
    }
}
