import HaulCore
import Testing

@Suite("DownloadMachine: failures, retries and checksums")
struct FailureTests {
    typealias Driver = MachineDriver

    @Test("a failed probe is tried again after the wait, as often as the policy says")
    func retries() throws {
        let driver = Driver { $0.retry = RetryPolicy(limit: 2) }
        driver.start()
        for attempt in 1...2 {
            let (id, _) = try #require(driver.next())
            let failure = Driver.failure()
            #expect(
                driver.finish(id, .failed(failure)) == [
                    .state(.retrying(seconds: 1, because: failure.error, attempt: attempt, of: 2))
                ])
            #expect(driver.next() == nil)
            #expect(driver.deadline == driver.now.advanced(by: 1))
            driver.wait(1)
        }
        let (id, _) = try #require(driver.next())
        let error = driver.finish(id, .failed(Driver.failure())).failure
        #expect(error?.message == "it broke; 2 retries did not help")
    }

    @Test("a mirror that fails while others are left is named once, with the reason")
    func leftOut() throws {
        let driver = Driver([Driver.url, Driver.mirror])
        driver.start()
        let (id, _) = try #require(driver.next())
        let name = Driver.url.redacted
        let lost = Failure(.connection, HaulError(.connectionLost, "the connection to \(name) was lost"))
        let actions = driver.finish(id, .failed(lost))
        let notice = "\(name) is left out for now: the connection to it was lost"
        #expect(actions.filter { $0 == .notice(.warning(notice)) }.count == 1)
        let (second, work) = try #require(driver.next())
        #expect(work.source == 1)
        let gone = driver.finish(second, Driver.status(404))
        #expect(
            gone.contains { action in
                if case .notice(.warning(let text)) = action {
                    text.contains(" is left out: ")
                } else {
                    false
                }
            })
    }

    @Test("progress resets the count")
    func progress() throws {
        let driver = Driver { $0.retry = RetryPolicy(limit: 1) }
        var id = try #require(driver.probe())
        for step in 0..<10 as Range<Int64> {
            driver.commit(id, step * 1000, step * 1000 + 1000)
            #expect(driver.finish(id, .failed(Driver.failure())).kinds == ["retrying"])
            driver.wait(5)
            let (next, work) = try #require(driver.next())
            #expect(work.range?.lower == step * 1000 + 1000)
            _ = driver.deliver(next)
            id = next
        }
    }

    @Test("the number of retries that is told is the one that holds for a host that never answered")
    func toldLimit() throws {
        let refused = TransferEnd.failed(Failure(.connection, HaulError(.connectFailed, "refused")))
        let driver = Driver()
        driver.start()
        for attempt in 1...2 {
            let (id, _) = try #require(driver.next())
            let told = driver.finish(id, refused).compactMap { action -> [Int?]? in
                guard case .state(.retrying(_, _, let attempt, let limit)) = action else { return nil }
                return [attempt, limit]
            }
            #expect(told == [[attempt, 2]])
            driver.wait(100)
        }
        let (id, _) = try #require(driver.next())
        #expect(driver.finish(id, refused).failure?.message == "refused; 2 retries did not help")
    }

    @Test("a connection that brought much and broke is made again at once")
    func atOnce() throws {
        let driver = Driver()
        let id = try #require(driver.probe())
        driver.commit(id, 0, 100_000)
        #expect(driver.finish(id, .failed(Driver.failure(.truncated))).isEmpty)
        #expect(driver.next()?.work.range?.lower == 100_000)
    }

    @Test("where nothing can be resumed, a break begins anew and counts, whatever came before")
    func noRanges() throws {
        let driver = Driver { $0.retry = RetryPolicy(limit: 1) }
        let id = try #require(driver.probe(Driver.file(ranges: false)))
        driver.commit(id, 0, 1_000_000)
        #expect(driver.finish(id, .failed(Driver.failure())).kinds == ["restart", "retrying"])
        _ = driver.restarted()
        driver.wait(5)
        let (again, work) = try #require(driver.next())
        #expect(work.delivery == .probe)
        _ = driver.deliver(again)
        _ = driver.headAccepted(again, Driver.body(Driver.file(ranges: false)))
        _ = driver.claimed(again)
        driver.commit(again, 0, 1_000_000)
        #expect(driver.finish(again, .failed(Driver.failure())).failure != nil)
    }

    @Test("a stream that cannot be resumed does not begin anew once bytes went out")
    func stream() throws {
        let driver = Driver { $0.isStream = true }
        let id = try #require(driver.probe(Driver.file(ranges: false)))
        driver.commit(id, 0, 10)
        #expect(driver.finish(id, .failed(Driver.failure())).kinds == ["fail"])
    }

    @Test("a throttled host is told to the governor with the time it named")
    func throttled() throws {
        let driver = Driver()
        driver.start()
        let (id, _) = try #require(driver.next())
        let actions = driver.finish(id, Driver.status(429, retryAfter: 30))
        #expect(actions.first == .throttled(source: 0, retryAfter: 30))
        #expect(actions.kinds == ["throttled", "retrying"])
        driver.wait(29)
        #expect(driver.next() == nil)
        driver.wait(1)
        #expect(driver.next() != nil)
    }

    @Test(
        "what is final is told at once",
        arguments: [402, 404, 407, 410, 451, 505] as [Int])
    func final(status: Int) throws {
        let driver = Driver()
        driver.start()
        let (id, _) = try #require(driver.next())
        let actions = driver.finish(id, Driver.status(status))
        #expect(actions.kinds == ["fail"])
        #expect(actions.failure?.status == status)
    }

    @Test(
        "what may only be about the Range is asked once more without one",
        arguments: [400, 403, 405, 406, 412, 417, 501] as [Int])
    func withoutRange(status: Int) throws {
        let driver = Driver()
        driver.start()
        let (id, work) = try #require(driver.next())
        #expect(work.range == ByteRange(0, .max))
        #expect(driver.finish(id, Driver.status(status)).isEmpty)
        let (again, plain) = try #require(driver.next())
        #expect(plain.range == nil)
        #expect(driver.finish(again, Driver.status(status)).kinds == ["fail"])
    }

    @Test("a failure of the disk ends the run and its transfers")
    func disk() throws {
        let driver = Driver { $0.connections = 2 }
        let id = try #require(driver.probe())
        _ = driver.endMoved(id, 4 * Driver.mebibyte)
        let (extra, _) = try #require(driver.next())
        let error = HaulError(.diskFull, "no room")
        #expect(driver.finish(id, .failed(Failure(.disk, error))) == [.cancel(extra), .fail(error)])
    }

    @Test("an answer without a byte counts as a failure, not as an endless loop")
    func emptyAnswer() throws {
        let driver = Driver { $0.retry = RetryPolicy(limit: 0) }
        _ = driver.resume([ByteRange(0, 1000)])
        let (id, _) = try #require(driver.next())
        _ = driver.deliver(id)
        #expect(driver.finish(id, .completed(isWhole: true)).failure?.code == .truncated)
    }

    static let mismatch = Failure(.checksum, HaulError(.checksumMismatch, "other bytes"))

    @Test("a checksum that does not hold is tried once more, then told; nothing is published")
    func checksum() throws {
        let driver = Driver { $0.hasChecksum = true }
        for round in 1...2 {
            let id: TransferID
            if round == 1 {
                id = try #require(driver.probe(Driver.file(1000)))
            } else {
                (id, _) = try #require(driver.next())
                _ = driver.deliver(id)
                _ = driver.headAccepted(id, Driver.body(Driver.file(1000)))
                _ = driver.claimed(id)
            }
            driver.commit(id, 0, 1000)
            _ = driver.finish(id, .completed(isWhole: true))
            let actions = driver.verified(Self.mismatch)
            #expect(actions.kinds == (round == 1 ? ["notice", "restart"] : ["fail"]))
            // The digests are told by the failure, and by nothing before it.
            let notice = DownloadAction.notice(.restarted("what came does not match the checksum"))
            if round == 1 { #expect(actions.first == notice) }
            _ = driver.restarted()
        }
    }

    @Test("after a mismatch one source alone is asked, and the one that failed alone not again")
    func suspects() throws {
        let driver = Driver(ResumeTests.both) { $0.hasChecksum = true }
        let id = try #require(driver.probe(Driver.file(1000)))
        driver.commit(id, 0, 1000)
        _ = driver.finish(id, .completed(isWhole: true))
        _ = driver.verified(Self.mismatch)
        _ = driver.restarted()
        let (second, work) = try #require(driver.next())
        #expect(work.source == 1)
        let body = Driver.body(Driver.file(1000))
        #expect(driver.finish(second, .whole(body)).kinds == ["storeWhole"])
        #expect(driver.wholeRefused(Self.mismatch).failure?.code == .checksumMismatch)
    }

    @Test("failures of requests that were under way together count as one")
    func together() throws {
        let driver = Driver {
            $0.connections = 4
            $0.retry = RetryPolicy(limit: 1)
        }
        _ = driver.resume([ByteRange(0, Driver.mebibyte)], Driver.file(64 * Driver.mebibyte))
        var open: [TransferID] = []
        while let (id, _) = driver.next() { open.append(id) }
        #expect(open.count == 4)
        driver.wait(1)
        for id in open { #expect(driver.finish(id, .failed(Driver.failure())).failure == nil) }
    }

    @Test(
        "a server that fails on any Range is asked once without, when the tries are used up",
        arguments: [500, 502, 503])
    func failsOnRanges(status: Int) throws {
        let driver = Driver { $0.retry = RetryPolicy(limit: 2) }
        driver.start()
        for _ in 1...3 {
            let (id, work) = try #require(driver.next())
            #expect(work.range == ByteRange(0, .max))
            #expect(driver.finish(id, Driver.status(status)).kinds.last == "retrying")
            driver.wait(100)
        }
        let (id, plain) = try #require(driver.next())
        #expect(plain.range == nil)
        #expect(driver.finish(id, Driver.status(status)).failure?.status == status, "once, not again")
    }

    @Test("a host that names a time, or does not answer at all, is not asked without Range")
    func notAboutRanges() throws {
        for end in [Driver.status(503, retryAfter: 1), Driver.status(429), .failed(Driver.failure())] {
            let driver = Driver { $0.retry = RetryPolicy(limit: 0) }
            driver.start()
            let (id, _) = try #require(driver.next())
            #expect(driver.finish(id, end).failure != nil)
        }
    }

    static let wrongRange = Refusal.otherRange("bytes 5-9 came")

    @Test(
        "wrong parts, or none to anybody, end as what they are, and what is on disk stays",
        arguments: [(wrongRange, HaulError.Code.badRange), (.status(416, retryAfter: nil), .rangeRefused)]
            as [(Refusal, HaulError.Code)])
    func wrongToEverything(refusal: Refusal, code: HaulError.Code) throws {
        let end = TransferEnd.refused(refusal, refusal.failure(of: Driver.url))
        for done in [[], [ByteRange(0, Driver.mebibyte)]] {
            let driver = Driver { $0.retry = RetryPolicy(limit: 0) }
            if done.isEmpty { driver.start() } else { _ = driver.resume(done) }
            let (id, _) = try #require(driver.next())
            let again = driver.finish(id, end)
            #expect(again.kinds == (done.isEmpty ? ["notice", "restart"] : ["notice"]))
            driver.restarted()
            let (plain, work) = try #require(driver.next())
            #expect(work.range == nil && work.delivery == .probe)
            let actions = driver.finish(plain, end)
            #expect(actions.kinds == ["fail"])
            #expect(actions.failure?.code == code)
        }
    }

    @Test("what is on disk is given up only when the file does come from its start")
    func voidOnceItComes() throws {
        let driver = Driver()
        _ = driver.resume([ByteRange(0, Driver.mebibyte)])
        let (id, _) = try #require(driver.next())
        _ = driver.finish(id, .refused(Self.wrongRange, Self.wrongRange.failure(of: Driver.url)))
        let (plain, work) = try #require(driver.next())
        _ = driver.deliver(plain)
        let body = Driver.body(Driver.file(ranges: false))
        #expect(
            driver.headAccepted(plain, body) == [
                .notice(.cannotResume), .claim(plain, body, from: work.url, empties: true),
            ])
        #expect(driver.claimed(plain).kinds == ["state", "proceed"])
        #expect(driver.done == 0)
    }

    @Test(
        "a part that was asked for by the user and is never given is refused, not asked for again and again")
    func wrongWindow() throws {
        let driver = Driver {
            $0.window = ByteRange(10, 20)
            $0.retry = RetryPolicy(limit: 1)
        }
        driver.start()
        let (id, _) = try #require(driver.next())
        let end = TransferEnd.refused(Self.wrongRange, Self.wrongRange.failure(of: Driver.url))
        #expect(driver.finish(id, end).kinds == ["retrying"], "one bad node")
        driver.wait(10)
        let (again, _) = try #require(driver.next())
        #expect(driver.finish(again, end).failure?.code == .badRange)
    }

    @Test("a wait that is out of the question does not close the host to others")
    func absurdWait() throws {
        let driver = Driver()
        driver.start()
        let (id, _) = try #require(driver.next())
        let actions = driver.finish(id, Driver.status(503, retryAfter: 31_536_000))
        #expect(actions.first == .throttled(source: 0, retryAfter: nil))
        #expect(actions.failure?.message.contains("365 days") == true)
    }

    @Test("a file that another process writes is waited for: everything begins anew")
    func heldElsewhere() throws {
        let driver = Driver()
        driver.start()
        let (id, _) = try #require(driver.next())
        _ = driver.deliver(id)
        _ = driver.headAccepted(id, Driver.body())
        #expect(driver.claimIsHeld(id) == [.cancel(id), .lookAgain])
        #expect(driver.finish(id, .cancelled).isEmpty)
        #expect(driver.next() == nil)
        #expect(driver.start() == [.state(.probing)])
        #expect(driver.next()?.work.delivery == .probe)
    }
}
