/// Haul's own number of one thing asked for.
package struct DownloadID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: DownloadID, right: DownloadID) -> Bool { left.rawValue < right.rawValue }
    package var description: String { String(rawValue) }
}

/// The number of one transfer (one request on the wire); never used twice in a process.
package struct TransferID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: TransferID, right: TransferID) -> Bool { left.rawValue < right.rawValue }
    package var description: String { "t\(rawValue)" }
}
