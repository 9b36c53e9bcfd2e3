package import HaulCore
package import HaulPlatform
import Synchronization

/// Bytes that go out in order as they come: standard output.
///
/// Nothing can be taken back or read again.
package final class StreamSink: ByteSink {
    private let output: Descriptor
    private let system: any SystemCalls
    private let written = Atomic<Int64>(0)
    private let digests: DigestContext?

    /// The output stays open until the last reference goes.
    ///
    /// `digests`: what `finishDigests` is to tell.
    package init(_ output: Descriptor, system: any SystemCalls, digests: Set<ChecksumAlgorithm> = []) {
        self.output = output
        self.system = system
        self.digests = digests.isEmpty ? nil : DigestContext(digests)
    }

    /// The digests of everything that went out; once, when nobody writes any more.
    package func finishDigests() -> [ChecksumValue] { digests?.finish() ?? [] }

    /// Bytes that went out: the only offset that can be written to.
    package var position: Int64 { written.load(ordering: .acquiring) }

    /// Blocks while the reader is slow.
    /// - Throws: `isBrokenPipe` when the reader has gone; `isNotInOrder` for any offset but `position`.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemFailure) {
        guard offset == position else { throw SystemFailure.notInOrder(output.path) }
        digests?.update(bytes)
        var rest = bytes
        while !rest.isEmpty {
            let count = try system.write(rest, to: output)
            written.add(Int64(count), ordering: .releasing)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
    }

    package func commit(_ range: ByteRange) {}
}
