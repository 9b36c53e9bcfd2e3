import HaulCore

/// Which bytes of a file the running digests cover: always a prefix of it.
///
/// The context may be away with somebody who reads the file; bytes that come meanwhile are left for later.
struct OrderedDigests {
    let algorithms: Set<ChecksumAlgorithm>
    /// `nil` while it is away.
    private var context: DigestContext?
    /// The bytes below it are in the digests.
    private(set) var position: Int64 = 0
    /// The bytes below it are in the digests, or are being read by whoever has the context.
    private(set) var reach: Int64 = 0
    /// Bytes below `reach` changed while the context was away.
    private var isSpoilt = false

    init(_ algorithms: Set<ChecksumAlgorithm>) {
        self.algorithms = algorithms
        context = DigestContext(algorithms)
    }

    /// Bytes were written; they count now if they continue what is covered.
    mutating func wrote(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        guard let context, offset <= position, offset + Int64(bytes.count) > position else { return }
        context.update(UnsafeRawBufferPointer(rebasing: bytes[Int(position - offset)...]))
        position = offset + Int64(bytes.count)
        reach = position
    }

    /// Bytes that are covered were changed: everything has to be read again.
    mutating func spoil() {
        position = 0
        reach = 0
        isSpoilt = context == nil
        context?.reset()
    }

    /// Hands the context out to read the bytes below `end`; `putBack` must follow.
    mutating func takeOut(toReadBelow end: Int64) -> DigestContext? {
        guard let context else { return nil }
        self.context = nil
        reach = end
        return context
    }

    mutating func putBack(_ context: DigestContext, covered: Int64) {
        self.context = context
        if isSpoilt {
            isSpoilt = false
            context.reset()
        } else {
            position = covered
            reach = covered
        }
    }
}
