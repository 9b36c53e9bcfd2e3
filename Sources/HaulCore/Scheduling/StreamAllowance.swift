/// How many HTTP/2 streams at once keep one host busy.
///
/// Those that a fast host answers in the time of one answer are few, and behind a long line many are needed (Little's
/// law).
package enum StreamAllowance {
    /// Streams at once, by the host's fastest answer so far, seconds from the request to the first byte.
    package static func streams(fastestAnswer: Double) -> Int {
        let wanted = max(0, fastestAnswer) * answersPerSecond
        return wanted >= Double(most) ? most : max(fewest, Int(wanted))
    }

    /// Over a few connections of about 100 each.
    package static let most = 400
    package static let fewest = 64
    /// Answers a second that a host is trusted with.
    private static let answersPerSecond = 10_000.0
}
