/// One request that a machine wants made.
package struct TransferWork: Hashable, Sendable {
    package enum Delivery: Hashable, Sendable {
        /// A first request: the name is still to be claimed.
        case probe
        /// Into the partial file, up to `end`.
        case segment(end: Int64)
        /// Compared with what is on disk.
        case sample
    }

    /// Index of the source.
    package var source: Int
    package var url: URLReference
    /// The URL that the source was given as: secrets go only to its origin.
    package var given: URLReference
    /// `nil`: no `Range` is sent.
    package var range: ByteRange?
    /// The value of `If-Range`.
    package var ifRange: String?
    /// Validators of a finished file, for `If-None-Match`/`If-Modified-Since`.
    package var condition: Validator?
    package var expectation: Expectation
    package var delivery: Delivery
    /// One of several connections for one file: HTTP/1.1, not shared.
    package var isExtra: Bool
    /// A redirect turned the request into a GET without a body.
    package var dropsBody: Bool
}

/// What a `DownloadMachine` wants done.
///
/// Carried out in order; nothing in it is alive.
package enum DownloadAction: Hashable, Sendable {
    indirect case start(TransferID, TransferWork)
    case cancel(TransferID)
    case moveEnd(TransferID, to: Int64)
    /// Claim a name and open the partial file for what this probe's head told; answered by `claimed` or `diskFailed`.
    indirect case claim(TransferID, BodyPlan, from: URLReference)
    /// Let a claimed probe write.
    case proceed(TransferID)
    /// The partial that was found is of another file: it stays as it is, and is not used.
    case setAside
    /// Nothing on disk counts any more; answered by `restarted` or `diskFailed`.
    case restart
    /// Compare a sample with the bytes on disk; answered by `sampleCompared`.
    case compare(TransferID, ByteRange)
    /// Check and publish a whole small body; answered by `verified` and `published`.
    indirect case storeWhole(TransferID, BodyPlan, from: URLReference)
    /// Compute the digests of the file of that length; answered by `verified`.
    case verify(length: Int64)
    /// Give the file its name; answered by `published`.
    case publish(length: Int64)
    /// The host of a source said 'too many' or 'later', in words or by refusing a connection.
    case throttled(source: Int, retryAfter: Double?)
    /// Ask for a fresh URL of a source (`--refresh-command`); answered by `refreshed`.
    case refresh(source: Int)
    case notice(Notice)
    case state(DownloadState)
    /// The terminal event of the run: it went well. `wasThere`: nothing was to be done.
    case finish(wasThere: Bool)
    /// The terminal event of the run: it did not.
    case fail(HaulError)
}

/// How one transfer ended, as a machine sees it.
package enum TransferEnd: Hashable, Sendable {
    /// What was wanted is in the file. `isWhole`: the server's own end was reached.
    case completed(isWhole: Bool)
    /// A probe's small body is in memory.
    case whole(BodyPlan)
    /// A sample is in memory.
    case sampled(BodyPlan)
    case redirect(status: Int, location: String)
    case notModified
    case nothingLeft(length: Int64)
    case refused(Refusal, Failure)
    case failed(Failure)
    case cancelled
}
