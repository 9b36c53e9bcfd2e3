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
            Row(status: 407, kind: .permanent, code: .authenticationFailed),
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
        #expect(failure.error.message.contains(String(row.status)) || row.status == 407)
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
