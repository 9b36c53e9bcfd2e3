import HaulCore
import Testing

@Suite("RetryPolicy")
struct RetryPolicyTests {
    static let now = Instant(nanoseconds: 1_000_000_000)

    static func failure(_ kind: Failure.Kind = .connection, retryAfter: Double? = nil) -> Failure {
        Failure(kind, HaulError(.connectionLost, "it broke", status: 503, retryAfter: retryAfter))
    }

    @Test(
        "the wait is the base and a random part of the base doubled each time, at most a minute of it",
        arguments: [
            (1, 0.0, 1.0), (1, 1.0, 3.0), (2, 0.5, 3.0), (3, 1.0, 9.0), (5, 1.0, 33.0), (6, 1.0, 61.0),
            (60, 1.0, 61.0), (1_000_000, 0.25, 16.0), (0, 1.0, 2.0),
        ])
    func waits(attempt: Int, jitter: Double, expected: Double) {
        #expect(RetryPolicy().backOff(attempt: attempt, jitter: jitter) == expected)
    }

    @Test("without a base there is no wait, and a negative base is none")
    func noWait() {
        #expect(RetryPolicy(wait: 0).backOff(attempt: 4, jitter: 0.9) == 0)
        #expect(RetryPolicy(wait: -3).backOff(attempt: 4, jitter: 0.9) == 0)
    }

    @Test(
        "what cannot get better is given up at once",
        arguments: [
            Failure.Kind.permanent, .disk, .changed, .ranges, .refusedLink, .checksum,
        ])
    func final(kind: Failure.Kind) {
        let failure = Self.failure(kind)
        #expect(
            RetryPolicy(limit: nil).decide(after: failure, attempt: 1, now: Self.now, jitter: 0)
                == .giveUp(failure.error))
    }

    @Test(
        "what may get better is tried as often as the limit says, then the count is told",
        arguments: [
            Failure.Kind.connection, .server, .throttled,
        ])
    func limit(kind: Failure.Kind) {
        let policy = RetryPolicy(limit: 3)
        for attempt in 1...3 {
            #expect(
                policy.decide(after: Self.failure(kind), attempt: attempt, now: Self.now, jitter: 0)
                    == .retry(after: 1))
        }
        guard
            case .giveUp(let error) = policy.decide(
                after: Self.failure(kind), attempt: 4, now: Self.now, jitter: 0)
        else {
            Issue.record("tried too often")
            return
        }
        #expect(error.message == "it broke; 3 retries did not help")
        #expect(error.code == .connectionLost)
    }

    @Test(
        "where nothing ever came, a host that is not found or refuses is given up sooner, unless a number was given",
        arguments: [
            (.resolveFailed, nil, 5, false, false, 1), (.connectFailed, nil, 5, false, false, 2),
            (.proxyFailed, nil, 5, false, false, 2), (.proxyFailed, 502, 5, false, false, 5),
            (.connectTimeout, nil, 5, false, false, 5), (.connectionLost, nil, 5, false, false, 5),
            (.resolveFailed, nil, 5, false, true, 5), (.connectFailed, nil, 5, false, true, 5),
            (.resolveFailed, nil, 5, true, false, 5), (.connectFailed, nil, 7, true, false, 7),
            (.resolveFailed, nil, nil, true, false, nil), (.connectFailed, nil, 1, false, false, 1),
            (.resolveFailed, nil, 0, false, false, 0),
        ] as [(HaulError.Code, Int?, Int?, Bool, Bool, Int?)])
    func nobodyThere(
        _ code: HaulError.Code, _ status: Int?, _ limit: Int?, _ isGiven: Bool, _ hasBytes: Bool,
        _ expected: Int?
    ) {
        var policy = RetryPolicy(limit: limit)
        policy.isLimitGiven = isGiven
        let failure = Failure(.connection, HaulError(code, "nobody there", status: status))
        #expect(policy.limit(after: failure, hasBytes: hasBytes) == expected)
        let decide = {
            policy.decide(after: failure, attempt: $0, hasBytes: hasBytes, now: Self.now, jitter: 0)
        }
        if let expected {
            if expected > 0 { #expect(decide(expected) == .retry(after: 1)) }
            guard case .giveUp(let error) = decide(expected + 1) else {
                Issue.record("tried too often")
                return
            }
            let retries = expected == 1 ? "1 retry" : "\(expected) retries"
            #expect(error.message == "nobody there" + (expected > 0 ? "; \(retries) did not help" : ""))
        } else {
            #expect(decide(1000) == .retry(after: 1))
        }
    }

    @Test("with no retries the first failure is told as it is")
    func none() {
        let failure = Self.failure()
        #expect(
            RetryPolicy(limit: 0).decide(after: failure, attempt: 1, now: Self.now, jitter: 0)
                == .giveUp(failure.error))
    }

    @Test("without a limit it is tried for ever")
    func endless() {
        let decision = RetryPolicy(limit: nil).decide(
            after: Self.failure(), attempt: .max, now: Self.now, jitter: 0.999)
        guard case .retry(let delay) = decision else {
            Issue.record("gave up")
            return
        }
        #expect(delay > 1 && delay <= 61)
    }

    @Test(
        "the server's Retry-After counts where it is longer",
        arguments: [(0.5, 1.0), (10.0, 10.0), (3600.0, 3600.0)])
    func retryAfter(asked: Double, expected: Double) {
        #expect(
            RetryPolicy().decide(
                after: Self.failure(.throttled, retryAfter: asked), attempt: 1, now: Self.now, jitter: 0)
                == .retry(after: expected))
    }

    @Test(
        "a wait is acceptable within the time limit, or within an hour where there is none",
        arguments: [
            (nil, 3600.0, true), (nil, 3601.0, false), (7200.0, 7199.0, true), (7200.0, 7200.0, false),
            (60.0, 61.0, false),
        ] as [(Double?, Double, Bool)])
    func acceptable(limit: Double?, asked: Double, isAcceptable: Bool) {
        let policy = RetryPolicy(limit: nil, deadline: limit.map { Self.now.advanced(by: $0) })
        #expect(policy.acceptable(asked, now: Self.now) == (isAcceptable ? asked : nil))
        let failure = Self.failure(.throttled, retryAfter: asked)
        let decision = policy.decide(after: failure, attempt: 1, now: Self.now, jitter: 0)
        if isAcceptable {
            #expect(decision == .retry(after: asked))
        } else if case .giveUp(let error) = decision {
            #expect(error.message.hasSuffix("the server asks to wait \(RetryPolicy.spoken(asked))"))
            #expect(error.advice?.contains("--max-time") == true)
        } else {
            Issue.record("waits")
        }
    }

    @Test("a Retry-After beyond the time limit fails at once and says so")
    func beyondDeadline() {
        let policy = RetryPolicy(deadline: Self.now.advanced(by: 60))
        let failure = Self.failure(.throttled, retryAfter: 86_400)
        guard case .giveUp(let error) = policy.decide(after: failure, attempt: 1, now: Self.now, jitter: 0)
        else {
            Issue.record("waits in vain")
            return
        }
        #expect(error.message == "it broke, and the server asks to wait 24 h")
        #expect(error.advice == "try again later or raise --max-time")
        #expect(error.status == 503)
        #expect(error.retryAfter == 86_400)
    }

    @Test("a wait of its own beyond the time limit is a time limit")
    func ownWaitBeyondDeadline() {
        let policy = RetryPolicy(deadline: Self.now.advanced(by: 0.5))
        guard
            case .giveUp(let error) = policy.decide(
                after: Self.failure(), attempt: 1, now: Self.now, jitter: 0)
        else {
            Issue.record("waits in vain")
            return
        }
        #expect(error.code == .timeLimit)
        let before = RetryPolicy(deadline: Self.now.advanced(by: 1.5))
        #expect(
            before.decide(after: Self.failure(), attempt: 1, now: Self.now, jitter: 0) == .retry(after: 1))
    }

    @Test(
        "waits are spoken as people do",
        arguments: [(0.2, "1 s"), (90, "90 s"), (600, "10 min"), (7200, "2 h"), (259_200, "3 days")])
    func spoken(seconds: Double, expected: String) {
        #expect(RetryPolicy.spoken(seconds) == expected)
    }
}
