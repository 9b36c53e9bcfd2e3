import HaulCore
import Testing

@Suite("DownloadMachine: segments and the end")
struct SegmentationTests {
    typealias Driver = MachineDriver

    @Test("a fixed number of connections divides the file as soon as the probe is claimed")
    func fixed() throws {
        let driver = Driver { $0.connections = 4 }
        driver.start()
        let (id, _) = try #require(driver.next())
        _ = driver.deliver(id)
        _ = driver.headAccepted(id, Driver.body())
        #expect(
            driver.claimed(id)
                == [.state(.downloading), .proceed(id), .moveEnd(id, to: 2 * Driver.mebibyte)])
        #expect(driver.endMoved(id, 2 * Driver.mebibyte).isEmpty)
        var ranges: [ByteRange?] = []
        while let (_, work) = driver.next() {
            ranges.append(work.range)
            #expect(work.ifRange == "\"v1\"")
            #expect(work.isExtra)
            #expect(work.delivery == .segment(end: work.range?.upper ?? 0))
        }
        let mebibyte = Driver.mebibyte
        #expect(
            ranges == [
                ByteRange(2 * mebibyte, 4 * mebibyte), ByteRange(4 * mebibyte, 6 * mebibyte),
                ByteRange(6 * mebibyte, 8 * mebibyte),
            ])
        #expect(driver.connections == 4)
    }

    @Test("a download whose rate is limited is looked at less often", arguments: [false, true])
    func ticks(isLimited: Bool) throws {
        let driver = Driver { $0.isLimited = isLimited }
        let id = try #require(driver.probe())
        _ = driver.claimed(id)
        #expect(driver.deadline == driver.now.advanced(by: isLimited ? 0.5 : 0.1))
    }

    @Test("the rest is given away only as far as the transfer thread let go of it")
    func acceptedEnd() throws {
        let driver = Driver { $0.connections = 2 }
        let id = try #require(driver.probe())
        _ = driver.endMoved(id, 5 * Driver.mebibyte)
        #expect(driver.next()?.work.range == ByteRange(5 * Driver.mebibyte, 8 * Driver.mebibyte))
    }

    @Test("without a goodput sample an adaptive run has one connection")
    func adaptive() throws {
        let driver = Driver()
        let id = try #require(driver.probe())
        driver.commit(id, 0, 1000)
        #expect(driver.next() == nil)
        #expect(driver.ticked().isEmpty)
    }

    @Test("with growing goodput an adaptive run steals from the one that has longest to go")
    func steals() throws {
        let driver = Driver()
        let id = try #require(driver.probe(Driver.file(512 * Driver.mebibyte)))
        var actions: [DownloadAction] = []
        for step in 0..<5 {
            driver.wait(0.1)
            driver.commit(id, Int64(step) * Driver.mebibyte, Int64(step + 1) * Driver.mebibyte)
            actions += driver.ticked()
        }
        #expect(actions.kinds == ["moveEnd"])
    }

    @Test(
        "what cannot be shared is fetched by one connection",
        arguments: [
            Driver.file(ranges: false), Driver.file(nil),
            RemoteFile(length: nil, hasRanges: false, codings: ["gzip"]),
        ])
    func single(file: RemoteFile) throws {
        let driver = Driver { $0.connections = 8 }
        let id = try #require(driver.probe(file))
        driver.commit(id, 0, 100)
        #expect(driver.next() == nil)
        #expect(driver.ticked().isEmpty)
    }

    @Test(
        "a 4xx to an extra connection while another delivers ends the sharing, not the run",
        arguments: [401, 403, 404])
    func extraRefused(status: Int) throws {
        let driver = Driver { $0.connections = 2 }
        let id = try #require(driver.probe())
        _ = driver.endMoved(id, 4 * Driver.mebibyte)
        driver.commit(id, 0, 1000)
        let (extra, _) = try #require(driver.next())
        #expect(driver.finish(extra, Driver.status(status)) == [.moveEnd(id, to: 8 * Driver.mebibyte)])
        _ = driver.endMoved(id, 8 * Driver.mebibyte)
        driver.wait(100)
        #expect(driver.next() == nil)
    }

    @Test("a 4xx that comes just after the others were done is asked again alone, later, with the bytes kept")
    func lateRefusal() throws {
        let driver = Driver { $0.connections = 2 }
        let id = try #require(driver.probe())
        _ = driver.endMoved(id, 4 * Driver.mebibyte)
        let (extra, _) = try #require(driver.next())
        driver.commit(id, 0, 4 * Driver.mebibyte)
        _ = driver.finish(id, .completed(isWhole: false))
        driver.wait(0.1)
        #expect(driver.finish(extra, Driver.status(403)).isEmpty)
        #expect(driver.next() == nil)
        driver.wait(10)
        #expect(driver.next()?.work.range == ByteRange(4 * Driver.mebibyte, 8 * Driver.mebibyte))
        #expect(driver.done == 4 * Driver.mebibyte)
    }

    @Test("a throttled extra connection tells the host, and no more are wanted than deliver")
    func throttledExtra() throws {
        let driver = Driver { $0.connections = 2 }
        let id = try #require(driver.probe())
        _ = driver.endMoved(id, 4 * Driver.mebibyte)
        let (extra, _) = try #require(driver.next())
        #expect(
            driver.finish(extra, Driver.status(503, retryAfter: 9))
                == [.throttled(source: 0, retryAfter: 9)])
        driver.wait(60)
        #expect(driver.next() == nil)
    }

    @Test("a change seen by an extra connection spares what the others still deliver, then all begins anew")
    func changedExtra() throws {
        let driver = Driver { $0.connections = 2 }
        let id = try #require(driver.probe())
        _ = driver.endMoved(id, 4 * Driver.mebibyte)
        let (extra, _) = try #require(driver.next())
        let refusal = Refusal.changed("its ETag is another")
        let end = TransferEnd.refused(refusal, refusal.failure(of: Driver.url))
        #expect(driver.finish(extra, end).kinds == ["moveEnd"])
        driver.commit(id, 0, 4 * Driver.mebibyte)
        _ = driver.finish(id, .completed(isWhole: false))
        let (alone, _) = try #require(driver.next())
        #expect(driver.finish(alone, end).kinds == ["notice", "restart"])
    }

    @Test("an end is not moved before the head of that transfer was judged")
    func noEarlyMove() throws {
        let driver = Driver { $0.connections = 2 }
        _ = driver.resume([ByteRange(0, 7 * Driver.mebibyte)], Driver.file())
        _ = driver.next()
        driver.wait(1)
        #expect(driver.ticked().isEmpty)
    }

    @Test("all bytes there: checked, published, finished, once")
    func completes() throws {
        let driver = Driver()
        let id = try #require(driver.probe(Driver.file(1000)))
        driver.commit(id, 0, 1000)
        #expect(driver.finish(id, .completed(isWhole: true)) == [.state(.verifying), .verify(length: 1000)])
        #expect(driver.verified(nil) == [.publish(length: 1000)])
        #expect(driver.published() == [.finish(wasThere: false)])
        #expect(driver.published().isEmpty)
        #expect(driver.interrupted(HaulError(.interrupted, "stop")).isEmpty)
        #expect(driver.next() == nil)
    }

    @Test("a 200 of unknown length is whole when its body ends well")
    func endsUnknown() throws {
        let driver = Driver()
        let id = try #require(driver.probe(Driver.file(nil, ranges: false)))
        driver.commit(id, 0, 777)
        #expect(driver.finish(id, .completed(isWhole: true)) == [.state(.verifying), .verify(length: 777)])
        #expect(driver.length == 777)
    }

    @Test("a 206 without a total is whole only when nothing follows it")
    func endsOpen() throws {
        let driver = Driver()
        let id = try #require(driver.probe(Driver.file(nil)))
        driver.commit(id, 0, 777)
        #expect(driver.finish(id, .completed(isWhole: true)).isEmpty)
        let (next, work) = try #require(driver.next())
        #expect(work.range == ByteRange(777, .max))
        #expect(driver.finish(next, .nothingLeft(length: 777)) == [.state(.verifying), .verify(length: 777)])
    }

    @Test("an interruption ends the transfers and the run, and nothing after it")
    func interrupted() throws {
        let driver = Driver()
        let id = try #require(driver.probe())
        let error = HaulError(.interrupted, "stopped")
        #expect(driver.interrupted(error) == [.cancel(id), .fail(error)])
        #expect(driver.finish(id, .cancelled).isEmpty)
    }

    @Test("what a cancelled transfer still wrote before a restart is no error")
    func lateCommit() throws {
        let driver = Driver { $0.connections = 2 }
        let id = try #require(driver.probe())
        _ = driver.endMoved(id, 4 * Driver.mebibyte)
        let (extra, _) = try #require(driver.next())
        _ = driver.finish(id, .failed(Driver.failure()))
        driver.wait(10)
        let refusal = Refusal.changed("x")
        let (again, _) = try #require(driver.next())
        #expect(
            driver.finish(again, .refused(refusal, refusal.failure(of: Driver.url))).kinds
                == ["cancel", "notice", "restart"])
        #expect(driver.commit(extra, 4 * Driver.mebibyte, 5 * Driver.mebibyte).isEmpty)
        #expect(driver.finish(extra, .nothingLeft(length: 3)).isEmpty, "it speaks of a state that is past")
        #expect(driver.restarted().isEmpty)
        #expect(driver.next()?.work.delivery == .probe)
    }
}
