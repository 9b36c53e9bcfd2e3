package import HaulCore

/// What the process tells its caller: wget's numbers, and more of them.
package enum ExitStatus {
    package static let done: Int32 = 0
    package static let other: Int32 = 1
    package static let usage: Int32 = 2
    package static let file: Int32 = 3
    package static let network: Int32 = 4
    package static let trust: Int32 = 5
    package static let authentication: Int32 = 6
    package static let protocolBroken: Int32 = 7
    package static let server: Int32 = 8
    package static let checksum: Int32 = 9
    package static let changed: Int32 = 10

    /// The status with its meaning, for the manual.
    package static let meanings: [(Int32, String)] = [
        (done, "everything was downloaded, or was there already"),
        (other, "another failure, such as a limit that was set"),
        (usage, "an option, URL or list is wrong; nothing was started"),
        (file, "a file or the disk: no room, no permission, taken"),
        (network, "the network: no such host, no connection, cut off, too slow"),
        (trust, "TLS or SSH: the server is not who it should be"),
        (authentication, "a user name and password are needed, or are wrong"),
        (protocolBroken, "the server broke the rules of the protocol"),
        (server, "the server said an error, such as 404"),
        (checksum, "what came does not match the checksum"),
        (changed, "the file changed on the server, or a mirror has another one"),
        (129, "ended by SIGHUP; 130 by SIGINT, 143 by SIGTERM. Run again to continue"),
    ]

    private static let byCode: [HaulError.Code: Int32] = [
        .usage: usage, .invalidURL: usage, .unsupportedScheme: usage,
        .resolveFailed: network, .connectFailed: network, .connectTimeout: network, .connectionLost: network,
        .stalled: network, .timeLimit: network, .proxyFailed: network, .truncated: network,
        .tlsVerification: trust, .tlsFailed: trust, .downgradeRefused: trust, .hostKeyRefused: trust,
        .authenticationFailed: authentication,
        .forbidden: server, .serverError: server, .notFound: server, .throttled: server,
        .timeoutStatus: server,
        .httpStatus: server,
        .tooManyRedirects: protocolBroken, .badRedirect: protocolBroken, .protocolError: protocolBroken,
        .rangeRefused: protocolBroken, .badRange: protocolBroken, .badEncoding: protocolBroken,
        .tooLarge: other,
        .sourceChanged: changed, .mirrorDiffers: changed, .checksumMismatch: checksum,
        .diskFull: file, .fileTooLarge: file, .readOnly: file, .permissionDenied: file, .diskFailed: file,
        .fileExists: file, .badName: file, .partialBusy: file, .partialGone: file,
        .cancelled: other, .interrupted: other, .hookFailed: other, .bug: other,
    ]

    /// Whether the table knows the code; the tests see to it that it knows all.
    package static func knows(_ code: HaulError.Code) -> Bool { byCode[code] != nil }

    package static func of(_ code: HaulError.Code) -> Int32 { byCode[code] ?? other }

    /// 128 and the number of the signal that ended the command, as shells have it.
    package static func of(signal: Int32) -> Int32 { 128 + signal }
}
