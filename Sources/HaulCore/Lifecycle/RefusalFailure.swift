/// What a refused answer means for the download, in words for a person.
extension Refusal {
    /// What the refusal of an answer of `url` means.
    ///
    /// `isImpostor`: a web page came instead of the known file: a login or throttle page, worth another try later.
    /// `viaProxy`: a proxy may have given the answer.
    /// `login`: what the request brought to identify the user, in words.
    package func failure(
        of url: URLReference, isImpostor: Bool = false, viaProxy: Bool = false, login: String? = nil
    ) -> Failure {
        switch self {
        case .status(407, let retryAfter) where viaProxy:
            return StatusFailure.proxyLogin(retryAfter: retryAfter)
        case .status(let status, let retryAfter):
            return StatusFailure.failure(status, retryAfter: retryAfter, url: url, login: login)
        case .changed(let what) where isImpostor:
            return Failure(
                .server,
                HaulError(
                    .sourceChanged, "\(url.redacted) sent a web page instead of the file: \(what)",
                    advice: "check whether the network or the site wants a login"))
        case .changed(let what):
            return Failure(
                .changed, HaulError(.sourceChanged, "\(url.redacted) changed on the server: \(what)"))
        case .rangeIgnored:
            return Failure(
                .ranges,
                HaulError(.rangeRefused, "\(url.redacted) was sent whole although a part was asked for"))
        case .otherRange(let what), .badRange(let what):
            return Failure(
                .ranges, HaulError(.badRange, "\(url.redacted) sent another part than asked: \(what)"))
        case .malformed(let what):
            let code: HaulError.Code = what.contains("cod") ? .badEncoding : .protocolError
            return Failure(
                .permanent, HaulError(code, "\(url.redacted) sent an answer that makes no sense: \(what)"))
        case .tooLarge(let length):
            return Failure(
                .permanent,
                HaulError(
                    .tooLarge, "\(url.redacted) is larger than wanted (\(length) bytes)",
                    advice: "raise --max-filesize"))
        }
    }
}

/// What each HTTP status that is no success means.
enum StatusFailure {
    static func failure(_ status: Int, retryAfter: Double?, url: URLReference, login: String?) -> Failure {
        var failure = classify(status, url, login)
        failure.error.status = status
        failure.error.retryAfter = retryAfter
        return failure
    }

    static func proxyLogin(retryAfter: Double?) -> Failure {
        Failure(
            .permanent,
            HaulError(
                .authenticationFailed, "the proxy wants a login (407)",
                advice: "give user and password with --proxy-user", status: 407, retryAfter: retryAfter))
    }

    private static func classify(_ status: Int, _ url: URLReference, _ login: String?) -> Failure {
        let place = url.redacted
        switch status {
        case 401 where login != nil:
            return Failure(
                .refusedLink,
                HaulError(
                    .authenticationFailed, "the server refused the \(login ?? "login") for \(place) (401)",
                    advice: "check the \(login ?? "login")"))
        case 401:
            return Failure(
                .refusedLink,
                HaulError(
                    .authenticationFailed, "\(place) wants a login (401)",
                    advice: "give user and password with --user or --netrc"))
        case 403:
            return Failure(.refusedLink, HaulError(.forbidden, "the server forbids \(place) (403)"))
        case 404, 410:
            return Failure(
                .refusedLink,
                HaulError(.notFound, "\(place) is not there (\(status))", advice: "check the URL"))
        case 408, 425:
            return Failure(
                .server, HaulError(.timeoutStatus, "the server gave up waiting for \(place) (\(status))"))
        case 416:
            return Failure(.ranges, HaulError(.rangeRefused, "the server has no such part of \(place) (416)"))
        case 429, 503:
            return Failure(
                .throttled, HaulError(.throttled, "the server asks to slow down for \(place) (\(status))"))
        case 501, 505:
            return Failure(
                .permanent, HaulError(.serverError, "the server cannot answer \(place) (\(status))"))
        case 500...:
            return Failure(.server, HaulError(.serverError, "the server failed on \(place) (\(status))"))
        case 204, 205:
            return Failure(.permanent, HaulError(.httpStatus, "\(place) has no content (\(status))"))
        default:
            return Failure(.permanent, HaulError(.httpStatus, "the server answered \(status) to \(place)"))
        }
    }
}
