/// Why something failed: a stable code, what failed on what, and what a person can do about it.
///
/// Messages never hold secrets: URLs in them went through `URLReference.redacted`.
package struct HaulError: Error, Hashable, Sendable, CustomStringConvertible {
    package var code: Code
    /// What failed, on what and why, without a final period.
    package var message: String
    /// What the person can do, without a final period; `nil` when there is nothing sensible to say.
    package var advice: String?
    /// The HTTP status or FTP reply that the server gave, if it was the server that refused.
    package var status: Int?
    /// Seconds that the server asked to wait (`Retry-After`), measured from when its answer came.
    package var retryAfter: Double?

    package init(
        _ code: Code, _ message: String, advice: String? = nil, status: Int? = nil, retryAfter: Double? = nil
    ) {
        self.code = code
        self.message = message
        self.advice = advice
        self.status = status
        self.retryAfter = retryAfter
    }

    package var description: String { advice.map { "\(message); \($0)" } ?? message }

    /// A stable, machine-readable name of a kind of failure; part of the documented interface.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let rawValue: String
        package init(_ rawValue: String) { self.rawValue = rawValue }
        package var description: String { rawValue }
    }
}

extension HaulError.Code {
    // Asked for wrongly.
    package static let usage = Self("usage")
    package static let invalidURL = Self("invalid-url")
    package static let unsupportedScheme = Self("unsupported-scheme")
    // Getting there.
    package static let resolveFailed = Self("resolve-failed")
    package static let connectFailed = Self("connect-failed")
    package static let connectTimeout = Self("connect-timeout")
    package static let connectionLost = Self("connection-lost")
    package static let stalled = Self("stalled")
    package static let timeLimit = Self("time-limit")
    package static let proxyFailed = Self("proxy-failed")
    // TLS and SSH trust.
    package static let tlsVerification = Self("tls-verification")
    package static let tlsFailed = Self("tls-failed")
    package static let downgradeRefused = Self("downgrade-refused")
    package static let hostKeyRefused = Self("host-key-refused")
    // Who may.
    package static let authenticationFailed = Self("authentication-failed")
    package static let forbidden = Self("forbidden")
    // What the server answered.
    package static let serverError = Self("server-error")
    package static let notFound = Self("not-found")
    package static let throttled = Self("throttled")
    package static let timeoutStatus = Self("request-timeout")
    package static let httpStatus = Self("http-status")
    package static let tooManyRedirects = Self("too-many-redirects")
    package static let badRedirect = Self("bad-redirect")
    package static let protocolError = Self("protocol-error")
    package static let truncated = Self("truncated")
    package static let rangeRefused = Self("range-refused")
    package static let badRange = Self("bad-range")
    package static let badEncoding = Self("bad-encoding")
    package static let tooLarge = Self("too-large")
    // What came is not what was promised.
    package static let sourceChanged = Self("source-changed")
    package static let mirrorDiffers = Self("mirror-differs")
    package static let checksumMismatch = Self("checksum-mismatch")
    // Where it goes.
    package static let diskFull = Self("disk-full")
    package static let fileTooLarge = Self("file-too-large")
    package static let readOnly = Self("read-only")
    package static let permissionDenied = Self("permission-denied")
    package static let diskFailed = Self("disk-failed")
    package static let fileExists = Self("file-exists")
    package static let badName = Self("bad-name")
    package static let partialBusy = Self("partial-busy")
    package static let partialGone = Self("partial-gone")
    // Neither.
    package static let cancelled = Self("cancelled")
    package static let interrupted = Self("interrupted")
    package static let hookFailed = Self("hook-failed")
    package static let bug = Self("bug")

    /// Every code, in the order of the documentation.
    package static let all: [Self] = [
        .usage, .invalidURL, .unsupportedScheme, .resolveFailed, .connectFailed, .connectTimeout,
        .connectionLost,
        .stalled, .timeLimit, .proxyFailed, .tlsVerification, .tlsFailed, .downgradeRefused, .hostKeyRefused,
        .authenticationFailed, .forbidden, .serverError, .notFound, .throttled, .timeoutStatus, .httpStatus,
        .tooManyRedirects, .badRedirect, .protocolError, .truncated, .rangeRefused, .badRange, .badEncoding,
        .tooLarge, .sourceChanged, .mirrorDiffers, .checksumMismatch, .diskFull, .fileTooLarge, .readOnly,
        .permissionDenied, .diskFailed, .fileExists, .badName, .partialBusy, .partialGone, .cancelled,
        .interrupted, .hookFailed, .bug,
    ]
}
