package import HaulCore
package import HaulPlatform

/// Digests of whole files.
package enum FileDigest {
    /// Bytes read at once.
    static let chunk = 256 << 10

    /// Reads a file through, following symbolic links; blocks.
    package static func compute(path: String, algorithms: Set<ChecksumAlgorithm>, system: any SystemCalls)
        throws(SystemFailure) -> [ChecksumValue]
    {
        let file = try system.open(path, in: nil, .readFollowing)
        let context = DigestContext(algorithms)
        try feed(context, from: file, ByteRange(0, .max), system: system)
        return context.finish()
    }

    /// The digests of bytes in memory.
    package static func compute(_ bytes: [UInt8], algorithms: Set<ChecksumAlgorithm>) -> [ChecksumValue] {
        let context = DigestContext(algorithms)
        bytes.withUnsafeBytes { context.update($0) }
        return context.finish()
    }

    /// Feeds bytes of a file to a context.
    /// - Returns: how many; fewer than the range has when the file ends before.
    @discardableResult
    static func feed(
        _ context: DigestContext, from file: Descriptor, _ range: ByteRange, system: any SystemCalls
    ) throws(SystemFailure) -> Int64 {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: chunk, alignment: 16)
        defer { buffer.deallocate() }
        var at = range.lower
        while at < range.upper {
            let window = UnsafeMutableRawBufferPointer(
                rebasing: buffer.prefix(Int(min(Int64(chunk), range.upper - at))))
            let count = try system.read(into: window, from: file, at: at)
            if count == 0 { break }
            context.update(UnsafeRawBufferPointer(rebasing: window.prefix(count)))
            at += Int64(count)
        }
        return at - range.lower
    }
}
