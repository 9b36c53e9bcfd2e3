package import HaulCore

/// Where a transfer's bytes go.
///
/// `HaulDisk.PartialFile` is the real one.
///
/// Both functions are called on the transfer thread only, and never for the same offset by two transfers at once.
package protocol ByteSink: AnyObject, Sendable {
    /// Puts all the bytes at that offset of the file, however many system calls it takes.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemFailure)

    /// Says that every byte of the range was written: from now on a killed process does not lose it.
    func commit(_ range: ByteRange) throws(SystemFailure)
}
