import CCurl
package import HaulCore
import HaulPlatform

/// A failure below the answer: libcurl's code, the system's, and what the server said before.
package struct TransferFailure: Error, Hashable, Sendable {
    /// CURLcode.
    package var code: Int32
    /// The `errno` of a failed connect, 0 if there was none.
    package var systemCode: Int32
    /// libcurl's words about this one failure.
    package var detail: String
    /// The last response code: HTTP status or FTP reply, of a proxy too.
    package var responseCode: Int
    /// The status with which a proxy answered CONNECT; 0: it was not asked, or let it pass.
    package var connectCode = 0
    /// Nothing came for the stall timeout.
    package var isStall = false
    /// The body was accepted and ended before its length.
    package var isTruncated = false

    package init(code: Int32, systemCode: Int32 = 0, detail: String = "", responseCode: Int = 0) {
        self.code = code
        self.systemCode = systemCode
        self.detail = detail
        self.responseCode = responseCode
    }
}

extension TransferFailure {
    /// What it means for the download, in words for a person.
    ///
    /// `viaProxy`: The request may have gone through a proxy.
    package func failure(of url: URLReference, viaProxy: Bool = false) -> Failure {
        let place = url.isHTTP || url.scheme != "file" ? "\(url.hostForURL):\(url.effectivePort)" : url.path
        if isStall {
            return Failure(.connection, HaulError(.stalled, "\(url.redacted) stalled: \(detail)"))
        }
        if let refused = tunnelFailure() { return refused }
        if viaProxy, let failure = proxyFailure(of: url) { return failure }
        switch CURLcode(rawValue: UInt32(bitPattern: code)) {
        case CURLE_COULDNT_RESOLVE_HOST:
            return Failure(
                .connection,
                HaulError(
                    .resolveFailed, "cannot find the host \(url.host)",
                    advice: "check the name and the network"))
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
            return Failure(
                .connection,
                HaulError(
                    .proxyFailed, "the proxy cannot be used: \(words)", advice: TransferFailure.proxyAdvice))
        case CURLE_COULDNT_CONNECT:
            return Failure(
                .connection,
                HaulError(
                    .connectFailed, "cannot connect to \(place): \(words)",
                    advice: "check that the server runs and can be reached"))
        case CURLE_OPERATION_TIMEDOUT:
            return Failure(
                .connection,
                HaulError(
                    .connectTimeout, "\(place) did not answer in time", advice: "raise --connect-timeout"))
        case CURLE_PARTIAL_FILE:
            return Failure(
                .connection,
                HaulError(.truncated, "\(url.redacted) ended before all of it had come\(missing)"))
        default:
            return trustFailure(of: url, place) ?? fileFailure(of: url) ?? lostFailure(of: url)
        }
    }

    private static let proxyAdvice = "check --proxy, or http_proxy and the like in the environment"

    /// A proxy that could not be reached: libcurl names whom it called.
    private func proxyFailure(of url: URLReference) -> Failure? {
        guard CURLcode(UInt32(bitPattern: code)) == CURLE_COULDNT_CONNECT else { return nil }
        // "Failed to connect to HOST port PORT after 3 ms: …"
        let parts = detail.split(separator: " ")
        guard parts.count > 6, parts.starts(with: ["Failed", "to", "connect", "to"]), parts[5] == "port",
            parts[4] != url.host || parts[6] != "\(url.effectivePort)"
        else { return nil }
        let host = parts[4].contains(":") ? "[\(parts[4])]" : String(parts[4])
        return Failure(
            .connection,
            HaulError(
                .proxyFailed, "cannot connect to the proxy \(host):\(parts[6]): \(words)",
                advice: TransferFailure.proxyAdvice))
    }

    /// What a proxy answered to CONNECT.
    private func tunnelFailure() -> Failure? {
        guard connectCode >= 400 else { return nil }
        if connectCode == 401 || connectCode == 407 {
            return Failure(
                .permanent,
                HaulError(
                    .authenticationFailed, "the proxy wants a login (\(connectCode))",
                    advice: "give user and password with --proxy-user", status: connectCode))
        }
        return Failure(
            connectCode >= 500 ? .connection : .permanent,
            HaulError(
                .proxyFailed, "the proxy refuses the connection (\(connectCode))", advice: "check --proxy",
                status: connectCode))
    }

    /// TLS, SSH and passwords: final.
    private func trustFailure(of url: URLReference, _ place: String) -> Failure? {
        switch CURLcode(rawValue: UInt32(bitPattern: code)) {
        case CURLE_PEER_FAILED_VERIFICATION where url.scheme == "sftp":
            return Failure(
                .permanent,
                HaulError(
                    .hostKeyRefused, "the host key of \(place) is not the known one",
                    advice: "check the host, then correct the known-hosts file"))
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS:
            return Failure(
                .permanent,
                HaulError(
                    .tlsVerification, "the certificate of \(place) cannot be trusted: \(words)",
                    advice: trustAdvice))
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CRL_BADFILE, CURLE_SSL_CIPHER,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_USE_SSL_FAILED:
            return Failure(.permanent, HaulError(.tlsFailed, "TLS cannot be set up for \(place): \(words)"))
        case CURLE_SSL_CONNECT_ERROR where detail.contains("wrong version number"):
            // What OpenSSL says of an answer that is no TLS record.
            return Failure(
                .permanent,
                HaulError(
                    .tlsFailed, "\(place) does not speak TLS",
                    advice: "http:// instead of https://, or another port"))
        case CURLE_SSL_CONNECT_ERROR:
            return Failure(.connection, HaulError(.tlsFailed, "TLS with \(place) failed: \(words)"))
        case CURLE_LOGIN_DENIED:
            return Failure(
                .permanent,
                HaulError(
                    .authenticationFailed, "\(place) refused the login",
                    advice: "check user and password or key",
                    status: responseCode == 0 ? nil : responseCode))
        case CURLE_SSH where detail.contains("uthentication"):
            return Failure(
                .permanent,
                HaulError(
                    .authenticationFailed, "\(place) refused the login: \(words)",
                    advice: "check user, password and --ssh-key"))
        default: return nil
        }
    }

    private var trustAdvice: String {
        if CURLcode(UInt32(bitPattern: code)) == CURLE_SSL_PINNEDPUBKEYNOTMATCH {
            return "check --pinned-pubkey: the server's key is another"
        }
        let words = detail.lowercased()
        if words.contains("expired") || words.contains("not yet valid") {
            return "check this machine's clock, or ask the server's owner to renew it"
        }
        return words.contains("match") || words.contains("subject name")
            ? "check the host name: the certificate is for another" : "give its authority with --cacert"
    }

    private func fileFailure(of url: URLReference) -> Failure? {
        switch CURLcode(rawValue: UInt32(bitPattern: code)) {
        case CURLE_REMOTE_FILE_NOT_FOUND, CURLE_FTP_COULDNT_RETR_FILE, CURLE_FILE_COULDNT_READ_FILE:
            return Failure(
                .refusedLink,
                HaulError(
                    .notFound, "\(url.redacted) is not there: \(words)", advice: "check the path",
                    status: responseCode == 0 ? nil : responseCode))
        case CURLE_REMOTE_ACCESS_DENIED:
            return Failure(.permanent, HaulError(.forbidden, "\(url.redacted) may not be read: \(words)"))
        case CURLE_RANGE_ERROR, CURLE_FTP_COULDNT_USE_REST, CURLE_BAD_DOWNLOAD_RESUME:
            return Failure(.ranges, HaulError(.rangeRefused, "the server cannot resume \(url.redacted)"))
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_URL_MALFORMAT:
            return Failure(
                .permanent,
                HaulError(.protocolError, "\(url.redacted) did not give an answer that can be read: \(words)")
            )
        case CURLE_OUT_OF_MEMORY where responseCode != 0:
            // What libcurl says of a header line beyond its buffer, 100 KiB.
            return Failure(
                .permanent,
                HaulError(
                    .protocolError,
                    "\(url.redacted) did not give an answer that can be read: its head is too large"))
        case CURLE_OUT_OF_MEMORY where responseCode > 0:
            return Failure(
                .permanent, HaulError(.protocolError, "\(url.redacted) sent a head that is far too large"))
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT, CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION,
            CURLE_BAD_FUNCTION_ARGUMENT, CURLE_INTERFACE_FAILED:
            return Failure(.permanent, HaulError(.usage, "the transfer cannot be set up: \(words)"))
        default: return nil
        }
    }

    private func lostFailure(of url: URLReference) -> Failure {
        let code: HaulError.Code = isTruncated ? .truncated : .connectionLost
        return Failure(.connection, HaulError(code, "the connection to \(url.redacted) was lost: \(words)"))
    }
}
