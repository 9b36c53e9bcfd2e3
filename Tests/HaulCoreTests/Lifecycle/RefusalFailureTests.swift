import HaulCore
import Testing

@Suite("What refused answers mean")
struct RefusalFailureTests {
    static let url = SimulatedWorld.source(0)

    struct Row: Sendable {
        var status: Int
        var kind: Failure.Kind
        var code: HaulError.Code
    }

    @Test(
        "each status has its code and its consequence",
        arguments: [
            Row(status: 204, kind: .permanent, code: .httpStatus),
            Row(status: 205, kind: .permanent, code: .httpStatus),
            Row(status: 300, kind: .permanent, code: .httpStatus),
            Row(status: 304, kind: .permanent, code: .httpStatus),
            Row(status: 400, kind: .permanent, code: .httpStatus),
            Row(status: 401, kind: .refusedLink, code: .authenticationFailed),
            Row(status: 403, kind: .refusedLink, code: .forbidden),
            Row(status: 404, kind: .refusedLink, code: .notFound),
            Row(status: 405, kind: .permanent, code: .httpStatus),
            Row(status: 407, kind: .permanent, code: .httpStatus),
            Row(status: 408, kind: .server, code: .timeoutStatus),
            Row(status: 410, kind: .refusedLink, code: .notFound),
            Row(status: 416, kind: .ranges, code: .rangeRefused),
            Row(status: 425, kind: .server, code: .timeoutStatus),
            Row(status: 429, kind: .throttled, code: .throttled),
            Row(status: 451, kind: .permanent, code: .httpStatus),
            Row(status: 500, kind: .server, code: .serverError),
            Row(status: 501, kind: .permanent, code: .serverError),
            Row(status: 502, kind: .server, code: .serverError),
            Row(status: 503, kind: .throttled, code: .throttled),
            Row(status: 504, kind: .server, code: .serverError),
            Row(status: 505, kind: .permanent, code: .serverError),
            Row(status: 599, kind: .server, code: .serverError),
        ])
    func statuses(row: Row) {
        let failure = Refusal.status(row.status, retryAfter: 7).failure(of: Self.url)
        #expect(failure.kind == row.kind)
        #expect(failure.error.code == row.code)
        #expect(failure.error.status == row.status)
        #expect(failure.error.retryAfter == 7)
        #expect(failure.error.message.contains(String(row.status)))
    }

    @Test("only a proxy wants a proxy login")
    func proxyLogin() {
        let refusal = Refusal.status(407, retryAfter: nil)
        let failure = refusal.failure(of: Self.url, viaProxy: true)
        #expect(failure.error.code == .authenticationFailed && failure.error.status == 407)
        #expect(failure.error.advice?.contains("--proxy-user") == true)
        #expect(refusal.failure(of: Self.url).error.advice?.contains("--proxy-user") != true)
    }

    @Test(
        "a proxy is possible where the option or the environment names one",
        arguments: [
            (nil, "http", [:], false), ("", "http", ["http_proxy": "http://p"], false),
            ("http://p", "http", [:], true), (nil, "http", ["http_proxy": "http://p"], true),
            (nil, "http", ["HTTP_PROXY": "http://p"], false),
            (nil, "https", ["http_proxy": "http://p"], false),
            (nil, "https", ["HTTPS_PROXY": "http://p"], true), (nil, "ftp", ["all_proxy": "http://p"], true),
            (nil, "http", ["http_proxy": ""], false),
        ] as [(String?, String, [String: String], Bool)])
    func proxies(option: String?, scheme: String, environment: [String: String], isPossible: Bool) {
        #expect(ProxyUse.isPossible(option: option, scheme: scheme) { environment[$0] } == isPossible)
    }

    @Test(
        "a web page is an impostor only of a known file that is none",
        arguments: [
            ("text/html", "application/zip", true), ("Text/HTML; charset=utf-8", nil, true),
            ("text/html", "text/html", false), ("application/zip", "application/zip", false),
            (nil, "application/zip", false),
        ] as [(String?, String?, Bool)])
    func impostors(contentType: String?, known: String?, isImpostor: Bool) {
        let file = RemoteFile(mediaType: known)
        #expect(WebPage.isImpostor(contentType: contentType, known: file) == isImpostor)
        #expect(!WebPage.isImpostor(contentType: contentType, known: nil))
    }

    @Test(
        "a page behind a head is waited for as long as it may still matter",
        arguments: [
            (0.9, true, true, 404, PageWait.Decision.wait), (1.0, true, true, 404, .settled),
            (1.0, false, true, 404, .wait), (1.0, true, false, 200, .wait), (1.0, false, false, 404, .judge),
            (1.0, false, false, 302, .judge), (1.0, false, false, 200, .wait),
            (1.0, false, false, 401, .wait),
            (1.0, false, false, 407, .wait), (1.0, false, false, nil, .wait),
        ] as [(Double, Bool, Bool, Int?, PageWait.Decision)])
    func pages(silence: Double, isJudged: Bool, isDiscarded: Bool, status: Int?, decision: PageWait.Decision)
    {
        #expect(
            PageWait.decide(silence: silence, isJudged: isJudged, isDiscarded: isDiscarded, status: status)
                == decision)
    }

    @Test(
        "as many streams as a host answers while one answer is on its way, within bounds",
        arguments: [
            (0.0, 64), (0.0064, 64), (0.01, 100), (0.02, 200), (0.05, 400), (1.0, 400),
            (Double.infinity, 400),
            (-1.0, 64),
        ])
    func streams(fastest: Double, expected: Int) {
        #expect(StreamAllowance.streams(fastestAnswer: fastest) == expected)
    }

    @Test(
        "each other refusal has its code and its consequence",
        arguments: [
            (Refusal.changed("x"), Failure.Kind.changed, HaulError.Code.sourceChanged),
            (.rangeIgnored, .ranges, .rangeRefused), (.otherRange("x"), .ranges, .badRange),
            (.badRange("x"), .ranges, .badRange),
            (.malformed("two Content-Lengths differ"), .permanent, .protocolError),
            (.malformed("the gzip coding is broken"), .permanent, .badEncoding),
            (.tooLarge(9), .permanent, .tooLarge),
        ] as [(Refusal, Failure.Kind, HaulError.Code)])
    func refusals(refusal: Refusal, kind: Failure.Kind, code: HaulError.Code) {
        let failure = refusal.failure(of: Self.url)
        #expect(failure.kind == kind)
        #expect(failure.error.code == code)
    }

    @Test("a web page instead of the known file is worth another try, not a restart")
    func impostor() {
        let failure = Refusal.changed("a web page came").failure(of: Self.url, isImpostor: true)
        #expect(failure.kind == .server)
        #expect(failure.error.advice != nil)
    }

    @Test("a 401 asks for a login, or says that the one that was given is refused")
    func login() {
        let refusal = Refusal.status(401, retryAfter: nil)
        let asked = refusal.failure(of: Self.url).error
        #expect(asked.message.contains("wants a login") && asked.advice?.contains("--user") == true)
        let refused = refusal.failure(of: Self.url, login: "user name or password").error
        #expect(refused.code == .authenticationFailed && refused.status == 401)
        #expect(refused.message.contains("refused the user name or password"))
        #expect(refused.advice == "check the user name or password")
    }

    @Test("no message holds what a URL keeps secret")
    func secrets() throws {
        let url = try URLReference(parsing: "https://me:hush@s.test/file?token=hush")
        let refusals: [Refusal] =
            [.changed("x"), .rangeIgnored, .otherRange("x"), .badRange("x"), .malformed("x"), .tooLarge(1)]
            + [204, 302, 400, 401, 403, 404, 407, 408, 416, 429, 500, 501].map {
                .status($0, retryAfter: nil)
            }
        for refusal in refusals {
            let error = refusal.failure(of: url).error
            #expect(!error.description.contains("hush"), "\(error)")
        }
    }
}
