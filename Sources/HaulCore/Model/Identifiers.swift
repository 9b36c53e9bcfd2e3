/// Haul's own number of one thing asked for.
package struct DownloadID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: DownloadID, right: DownloadID) -> Bool { left.rawValue < right.rawValue }
    package var description: String { String(rawValue) }
    package func _rawHashValue(seed: Int) -> Int { CountedNumber.hash(rawValue, seed) }
}

/// The number of one transfer (one request on the wire); never used twice in a process.
package struct TransferID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: TransferID, right: TransferID) -> Bool { left.rawValue < right.rawValue }
    package var description: String { "t\(rawValue)" }
    package func _rawHashValue(seed: Int) -> Int { CountedNumber.hash(rawValue, seed) }
}

/// Hashing for numbers that are counted up here: nobody outside can choose them, so nobody can make them collide.
///
/// What the standard library does against that (SipHash) was a tenth of the engine's work for a small file.
private enum CountedNumber {
    /// Murmur3's finaliser: neighbours end up far apart, in the low bits too.
    static func hash(_ number: UInt64, _ seed: Int) -> Int {
        var mixed = number ^ UInt64(truncatingIfNeeded: seed)
        mixed = (mixed ^ (mixed >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        mixed = (mixed ^ (mixed >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        return Int(truncatingIfNeeded: mixed ^ (mixed >> 33))
    }
}
