package import HaulCore

/// How a download ended well.
package struct DownloadResult: Hashable, Sendable {
    /// The final path; `nil` for standard output.
    package var path: String?
    /// Bytes of the file.
    package var length: Int64
    /// Bytes that came over the network in this run.
    package var received: Int64
    /// Seconds from start to finish.
    package var seconds: Double
    /// The file was there already, unchanged, or `--if-exists skip`.
    package var wasThere: Bool
    /// The checksums that were checked and held.
    package var verified: [ChecksumValue]

    package init(
        path: String?, length: Int64, received: Int64, seconds: Double, wasThere: Bool,
        verified: [ChecksumValue]
    ) {
        self.path = path
        self.length = length
        self.received = received
        self.seconds = seconds
        self.wasThere = wasThere
        self.verified = verified
    }
}

/// What an engine tells its owner, in order.
package enum EngineEvent: Sendable {
    case stateChanged(DownloadID, DownloadState)
    /// The file's name is known (and claimed): the path it will have.
    case named(DownloadID, path: String)
    /// The final head of an answer, for `--dump-header`; secrets (`Set-Cookie`) included.
    indirect case head(DownloadID, ResponseHead)
    case notice(DownloadID, Notice)
    /// The terminal event of a run that went well.
    indirect case finished(DownloadID, DownloadResult)
    /// The terminal event of a run that did not.
    case failed(DownloadID, HaulError)
    /// Cookies that the servers set, as lines of a Netscape cookie file; before the terminal event.
    case cookies(DownloadID, [String])
}

/// A progress figure of one download: unnumbered, mergeable, smoothed.
package struct DownloadSample: Hashable, Sendable {
    package var id: DownloadID
    package var state: DownloadState
    /// Redacted URL or final name, whichever is known best.
    package var name: String
    /// Bytes on disk, those of earlier runs included.
    package var received: Int64
    package var total: Int64?
    /// Bytes a second, smoothed.
    package var rate: Double
    /// Seconds to the end at that rate; `nil`: unknown.
    package var remaining: Double?
    package var connections: Int

    package init(
        id: DownloadID, state: DownloadState, name: String, received: Int64, total: Int64?, rate: Double,
        remaining: Double?, connections: Int
    ) {
        self.id = id
        self.state = state
        self.name = name
        self.received = received
        self.total = total
        self.rate = rate
        self.remaining = remaining
        self.connections = connections
    }
}
