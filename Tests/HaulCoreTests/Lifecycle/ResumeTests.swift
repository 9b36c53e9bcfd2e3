import Testing

@testable import HaulCore

@Suite("DownloadMachine: resuming and mirrors")
struct ResumeTests {
    typealias Driver = MachineDriver
    static let part = [ByteRange(0, 4 * Driver.mebibyte)]

    @Test("with a strong validator the rest is asked for under If-Range")
    func strong() throws {
        let driver = Driver()
        #expect(
            driver.resume(Self.part) == [.notice(.resumed(from: 4 * Driver.mebibyte)), .state(.downloading)])
        let (_, work) = try #require(driver.next())
        #expect(work.range == ByteRange(4 * Driver.mebibyte, 8 * Driver.mebibyte))
        #expect(work.ifRange == "\"v1\"")
        #expect(work.expectation.known == Driver.file())
        #expect(!work.expectation.toleratesOtherValidator)
    }

    @Test("also a few bytes with a strong validator are resumed, not waited on for ever")
    func few() throws {
        let driver = Driver()
        _ = driver.resume([ByteRange(0, 10)])
        #expect(driver.next()?.work.range?.lower == 10)
    }

    struct Row: Sendable {
        var policy: ResumePolicy
        var validator = Driver.strong
        var checksum = false
        var ranges = true
        var resumes: Bool
    }

    @Test(
        "each policy decides what of an earlier run may be used",
        arguments: [
            Row(policy: .never, resumes: false),
            Row(policy: .strict, resumes: true),
            Row(policy: .strict, validator: Driver.weak, resumes: false),
            Row(policy: .strict, validator: Driver.weak, checksum: true, resumes: true),
            Row(policy: .overlap, validator: Driver.weak, resumes: true),
            Row(policy: .length, validator: Driver.weak, resumes: true),
            Row(policy: .overlap, ranges: false, resumes: false),
        ])
    func policies(row: Row) {
        let driver = Driver {
            $0.resume = row.policy
            $0.hasChecksum = row.checksum
        }
        let file = Driver.file(ranges: row.ranges, validator: row.validator)
        let kinds = driver.resume(Self.part, file).kinds
        #expect(kinds == (row.resumes ? ["notice", "state"] : ["notice", "restart"]))
    }

    @Test("a partial of another URL is taken over when the first answer has its strong validator and length")
    func foreign() throws {
        let driver = Driver()
        #expect(driver.resume(Self.part, matchesURL: false) == [.state(.probing)])
        let (id, work) = try #require(driver.next())
        #expect(work.delivery == .probe)
        _ = driver.deliver(id)
        #expect(
            driver.headAccepted(id, Driver.body()) == [
                .cancel(id), .notice(.resumed(from: 4 * Driver.mebibyte)), .state(.downloading),
            ])
        _ = driver.finish(id, .cancelled)
        #expect(driver.next()?.work.range == ByteRange(4 * Driver.mebibyte, 8 * Driver.mebibyte))
    }

    @Test(
        "a partial of another URL that is not proved the same is left as it is",
        arguments: [
            Driver.file(9 * Driver.mebibyte), Driver.file(validator: Driver.weak), Driver.file(ranges: false),
            Driver.file(nil),
        ])
    func foreignOther(answer: RemoteFile) throws {
        let driver = Driver()
        _ = driver.resume(Self.part, matchesURL: false)
        let (id, _) = try #require(driver.next())
        _ = driver.deliver(id)
        let notice = answer.hasRanges && answer.length != nil ? [] : ["notice"]
        #expect(driver.headAccepted(id, Driver.body(answer)).kinds == ["setAside"] + notice + ["claim"])
        #expect(driver.claimed(id).kinds == ["state", "proceed"])
    }

    @Test("a partial of unknown length is void: its ranges must not stand beside new bytes")
    func unknownLength() {
        let driver = Driver()
        #expect(driver.resume(Self.part, Driver.file(nil)).kinds == ["notice", "restart"])
    }

    @Test("a partial that is complete is only checked")
    func complete() {
        let driver = Driver()
        #expect(
            driver.resume([ByteRange(0, 8 * Driver.mebibyte)]).kinds == ["notice", "state", "verify"])
    }

    @Test("without a strong validator start, middle and end are compared first")
    func overlap() throws {
        let driver = Driver { $0.connections = 4 }
        let file = Driver.file(validator: Driver.weak)
        _ = driver.resume(Self.part, file)
        let size = DownloadMachine.proofSize
        let end = 4 * Driver.mebibyte
        let expected = [
            ByteRange(0, size), ByteRange((end - size) / 2, (end + size) / 2), ByteRange(end - size, end),
        ]
        for (index, range) in expected.enumerated() {
            let (id, work) = try #require(driver.next())
            #expect(work.delivery == .sample)
            #expect(work.range == range)
            #expect(driver.next() == nil, "one proof at a time")
            let body = BodyPlan(offset: range.lower, length: range.count, file: file)
            #expect(driver.finish(id, .sampled(body)) == [.compare(id, range)])
            #expect(driver.next() == nil)
            let actions = driver.sampleCompared(id, isEqual: true)
            #expect(actions == (index == 2 ? [.notice(.identityBySample)] : []))
        }
        #expect(driver.next()?.work.range?.lower == end)
    }

    @Test("a sample that differs voids what is on disk")
    func differs() throws {
        let driver = Driver()
        let file = Driver.file(validator: Driver.weak)
        _ = driver.resume(Self.part, file)
        let (id, work) = try #require(driver.next())
        _ = driver.finish(id, .sampled(BodyPlan(offset: 0, length: work.range?.count, file: file)))
        #expect(
            driver.sampleCompared(id, isEqual: false).kinds == ["notice", "restart"])
    }

    @Test("a file that changed on the server is fetched anew, at most five times")
    func changed() throws {
        let driver = Driver()
        _ = driver.resume(Self.part)
        let refusal = Refusal.changed("its ETag is another")
        for _ in 1...5 {
            let (id, _) = try #require(driver.next())
            let actions = driver.finish(id, .refused(refusal, refusal.failure(of: Driver.url)))
            #expect(actions.kinds == ["notice", "restart"])
            _ = driver.restarted()
            let (probe, _) = try #require(driver.next())
            _ = driver.deliver(probe)
            _ = driver.headAccepted(probe, Driver.body())
            _ = driver.claimed(probe)
            driver.commit(probe, 0, 100_000)
            _ = driver.finish(probe, .failed(Driver.failure()))
        }
        let (id, _) = try #require(driver.next())
        #expect(
            driver.finish(id, .refused(refusal, refusal.failure(of: Driver.url))).failure?.code
                == .sourceChanged)
    }

    @Test("a 200 to If-Range whose validator is the known one is asked once more without")
    func ifRangeIgnored() throws {
        let driver = Driver()
        _ = driver.resume(Self.part)
        let (id, _) = try #require(driver.next())
        let end = TransferEnd.refused(.rangeIgnored, Refusal.rangeIgnored.failure(of: Driver.url))
        #expect(driver.finish(id, end).isEmpty)
        let (again, work) = try #require(driver.next())
        #expect(work.ifRange == nil)
        #expect(work.range?.lower == 4 * Driver.mebibyte)
        #expect(driver.finish(again, end).kinds == ["notice"])
        #expect(driver.next()?.work.range == nil, "what is on disk stays until the whole does come")
    }

    @Test("a 416 on a partial that is not complete voids it")
    func shorter() throws {
        let driver = Driver()
        _ = driver.resume(Self.part)
        let (id, _) = try #require(driver.next())
        #expect(driver.finish(id, .nothingLeft(length: 8 * Driver.mebibyte)).kinds == ["notice", "restart"])
    }

    @Test("a reset while a claim is under way waits for the claim's answer")
    func resetDuringClaim() throws {
        let driver = Driver()
        driver.start()
        let (id, _) = try #require(driver.next())
        _ = driver.deliver(id)
        _ = driver.headAccepted(id, Driver.body(Driver.file(ranges: false)))
        let actions = driver.finish(id, .failed(Driver.failure()))
        #expect(actions.kinds == ["retrying"])
        #expect(driver.restarted().isEmpty)
        #expect(driver.claimed(TransferID(77)).isEmpty, "not this claim")
        #expect(driver.claimed(id) == [.restart])
        #expect(driver.restarted().isEmpty)
        driver.wait(10)
        #expect(driver.next()?.work.delivery == .probe)
    }

    // MARK: Mirrors

    static let both = [Driver.url, Driver.mirror]

    @Test("when the first source is not there, a mirror is probed")
    func secondSource() throws {
        let driver = Driver(Self.both)
        driver.start()
        let (id, _) = try #require(driver.next())
        #expect(driver.finish(id, Driver.status(404)).kinds == ["notice"])
        #expect(driver.next()?.work.source == 1)
    }

    @Test("a mirror joins only after samples agree")
    func mirrorProof() throws {
        let driver = Driver(Self.both) { $0.connections = 2 }
        let id = try #require(driver.probe())
        driver.commit(id, 0, 100_000)
        _ = driver.endMoved(id, 4 * Driver.mebibyte)
        let (sample, work) = try #require(driver.next())
        #expect(work.source == 1)
        #expect(work.delivery == .sample)
        #expect(work.ifRange == nil)
        _ = driver.finish(
            sample, .sampled(BodyPlan(offset: 0, length: work.range?.count, file: Driver.file())))
        let actions = driver.sampleCompared(sample, isEqual: false)
        #expect(actions.kinds == ["notice"])
        #expect(driver.next()?.work.source == 0)
    }

    @Test("with a checksum a mirror with validators of its own serves, again and again")
    func mirrorWithChecksum() throws {
        let driver = Driver(Self.both) {
            $0.connections = 2
            $0.hasChecksum = true
        }
        let id = try #require(driver.probe())
        _ = driver.endMoved(id, 4 * Driver.mebibyte)
        for _ in 0..<3 {
            let (extra, work) = try #require(driver.next(excluding: [0]))
            #expect(work.source == 1)
            #expect(work.expectation.toleratesOtherValidator)
            #expect(work.ifRange == nil)
            _ = driver.deliver(extra)
            let lower = work.range?.lower ?? 0
            driver.commit(extra, lower, lower + 100_000)
            driver.wait(0.001)
            _ = driver.finish(extra, .completed(isWhole: true))
        }
    }

    @Test("when the trusted source dies early, another begins anew instead of waiting for ever")
    func stranded() throws {
        let driver = Driver(Self.both)
        let id = try #require(driver.probe())
        driver.commit(id, 0, 1000)
        let permanent = Failure(.permanent, HaulError(.tlsVerification, "no trust"))
        #expect(driver.finish(id, .failed(permanent)).kinds == ["notice", "notice", "restart"])
        _ = driver.restarted()
        #expect(driver.next()?.work.source == 1)
    }

    @Test("a mirror that ignores ranges is left out, the others go on")
    func mirrorWithoutRanges() throws {
        let driver = Driver(Self.both) {
            $0.connections = 2
            $0.hasChecksum = true
        }
        let id = try #require(driver.probe())
        _ = driver.endMoved(id, 4 * Driver.mebibyte)
        let (extra, _) = try #require(driver.next())
        let end = TransferEnd.refused(.rangeIgnored, Refusal.rangeIgnored.failure(of: Driver.mirror))
        #expect(driver.finish(extra, end).kinds == ["notice"])
        #expect(driver.next()?.work.source == 0)
    }
}
