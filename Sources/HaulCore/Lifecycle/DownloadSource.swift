/// What became of the question for a fresh link.
package enum LinkAnswer: Hashable, Sendable {
    case fresh(URLReference)
    /// There is none, and why, as a part of a sentence.
    case none(because: String)
}

/// One URL the bytes may come from, and what is known of it.
package struct DownloadSource: Hashable, Sendable {
    /// Whether its bytes may join those on disk.
    package enum Trust: Hashable, Sendable {
        /// Nothing was received from it yet.
        case unknown
        /// Samples that still have to agree, in order.
        case proving([ByteRange])
        case trusted
    }

    package private(set) var given: URLReference
    /// Where redirects led; where the next request goes.
    package internal(set) var current: URLReference
    var hops = 0
    var trust = Trust.unknown
    /// Its samples agreed, and nothing was asked since.
    var isFreshlyProven = false
    /// Its own validators: mirrors of the same bytes may have others.
    var validator: Validator?
    /// Those of its last sample.
    var sampledValidator: Validator?
    /// Answers 200 to `If-Range` although nothing changed: asked without.
    var ignoresIfRange = false
    /// The temporary link is being renewed by one request; the others wait.
    var isRefreshing = false
    /// It refused an offset and was asked for its first bytes, to tell a dead link from one without ranges.
    var wasAskedIfAlive = false
    /// When it last refused an offset.
    var offsetRefused: Instant?
    /// Renewals in a row that brought nothing.
    var refreshes = 0
    var failures = 0
    var notBefore: Instant?
    /// Why it is not asked any more in this run.
    var death: HaulError?
    /// Mean rate of its transfers, bytes a second.
    var rate: Double?
    var delivered: Int64 = 0
    /// A checksum failed with bytes of this source alone.
    var isSuspect = false
    /// A redirect (303, or 301/302 after POST) made it a GET without a body.
    var dropsBody = false

    init(_ given: URLReference) {
        self.given = given
        current = given
    }

    var isAlive: Bool { death == nil }

    /// A fresh link stands for the expired one from now on.
    mutating func replace(with url: URLReference) {
        given = url
        current = url
        hops = 0
        isRefreshing = false
    }
}
