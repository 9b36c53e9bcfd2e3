/// Why one transfer ended badly, as the machines see it.
package struct Failure: Hashable, Sendable {
    package var error: HaulError
    package var kind: Kind

    package init(_ kind: Kind, _ error: HaulError) {
        self.kind = kind
        self.error = error
    }

    /// What a failure means for what to do next.
    package enum Kind: Hashable, Sendable {
        /// Resolve, connect, reset, timeout, stall, short body: again, later.
        case connection
        /// 408, 425, 5xx other than 501 and 505: again, later.
        case server
        /// 429 and 503: again, later, and slower for the whole host.
        case throttled
        /// 401, 403, 404, 410: final, unless the link was a temporary one.
        case refusedLink
        /// The answer speaks of other bytes than those on disk.
        case changed
        /// The server cannot (or will not) give the range that was asked.
        case ranges
        /// Final whatever one does: TLS verification, other 4xx, bad URL.
        case permanent
        /// Final, and about this machine's disk.
        case disk
        /// The bytes are all there and the checksum says no.
        case checksum
    }
}
