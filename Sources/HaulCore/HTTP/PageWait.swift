/// Whether the page behind a head that brings no file is still waited for.
package enum PageWait {
    package enum Decision: Hashable, Sendable {
        case wait
        /// The head was never judged, and says enough: to be judged now.
        case judge
        /// Nothing more is needed of this answer.
        case settled
    }

    /// What to do with a transfer that has been silent for a while.
    ///
    /// - Parameters:
    ///   - silence: seconds since its last byte.
    ///   - isJudged: its head was judged.
    ///   - isDiscarded: what comes of its body is thrown away.
    ///   - status: of its last head; `nil`: none came yet.
    /// - Returns: what to do now.
    package static func decide(silence: Double, isJudged: Bool, isDiscarded: Bool, status: Int?) -> Decision {
        guard silence >= patience else { return .wait }
        if isDiscarded { return isJudged ? .settled : .wait }
        // libcurl answers the challenge of a 401 or 407 itself, on the same handle.
        guard !isJudged, let status, status >= 300, status != 401, status != 407 else { return .wait }
        return .judge
    }

    /// Seconds of silence after which the page of an error or a redirect is not waited for.
    package static let patience = 1.0
}
