import Testing

@testable import HaulCore

@Suite("DownloadMachine: the probe, redirects and links")
struct ProbeTests {
    typealias Driver = MachineDriver

    @Test("the first request is a GET from byte 0 to the end, alone")
    func first() throws {
        let driver = Driver { $0.connections = 8 }
        #expect(driver.start() == [.state(.probing)])
        let (_, work) = try #require(driver.next())
        #expect(work.range == ByteRange(0, .max))
        #expect(work.ifRange == nil)
        #expect(work.delivery == .probe)
        #expect(work.url == Driver.url)
        #expect(!work.isExtra)
        #expect(driver.next() == nil)
    }

    @Test("its answer is claimed before a byte is written, and its body is used")
    func claim() throws {
        let driver = Driver()
        driver.start()
        let (id, work) = try #require(driver.next())
        let body = Driver.body()
        #expect(driver.deliver(id).isEmpty)
        let actions = driver.headAccepted(id, body)
        #expect(actions == [.claim(id, body, from: work.url)])
        let claimed = driver.claimed(id)
        #expect(claimed == [.state(.downloading), .proceed(id)])
        #expect(driver.length == 8 * Driver.mebibyte)
    }

    @Test("a small body that is whole in memory is stored at once")
    func whole() throws {
        let driver = Driver()
        driver.start()
        let (id, work) = try #require(driver.next())
        let body = Driver.body(Driver.file(5))
        #expect(driver.finish(id, .whole(body)) == [.storeWhole(id, body, from: work.url)])
        #expect(driver.published() == [.finish(wasThere: false)])
        #expect(driver.isEnded)
    }

    @Test("a file whose completeness cannot be verified is said to be one")
    func unknownLength() throws {
        let driver = Driver()
        driver.start()
        let (id, _) = try #require(driver.next())
        var body = Driver.body(Driver.file(nil, ranges: false))
        body.endsWithConnection = true
        let actions = driver.headAccepted(id, body)
        #expect(actions.first == .notice(.lengthUnknown))
    }

    @Test("an empty file that answers 416 is asked for plainly")
    func empty() throws {
        let driver = Driver()
        driver.start()
        let (id, _) = try #require(driver.next())
        #expect(driver.finish(id, .nothingLeft(length: 0)).isEmpty)
        let (_, work) = try #require(driver.next())
        #expect(work.range == nil)
        #expect(work.delivery == .probe)
    }

    @Test("a conditional request that is answered 304 ends the run well")
    func notModified() throws {
        let driver = Driver()
        driver.start(condition: Driver.strong)
        let (id, work) = try #require(driver.next())
        #expect(work.condition == Driver.strong)
        #expect(work.expectation.isConditional)
        #expect(driver.finish(id, .notModified) == [.finish(wasThere: true)])
    }

    @Test("a redirect is followed by a fresh request that knows where it came from")
    func redirect() throws {
        let driver = Driver()
        driver.start()
        let (id, _) = try #require(driver.next())
        #expect(driver.finish(id, .redirect(status: 302, location: "http://cdn.test/x")).isEmpty)
        let (_, work) = try #require(driver.next())
        #expect(work.url.urlString == "http://cdn.test/x")
        #expect(work.given == Driver.url)
    }

    @Test("after twenty redirects the twenty-first ends the run")
    func redirectLoop() throws {
        let driver = Driver()
        driver.start()
        for hop in 1...20 {
            let (id, _) = try #require(driver.next())
            #expect(driver.finish(id, .redirect(status: 302, location: "/\(hop)")).isEmpty)
        }
        let (id, _) = try #require(driver.next())
        #expect(driver.finish(id, .redirect(status: 302, location: "/21")).failure?.code == .tooManyRedirects)
    }

    @Test("redirects of parallel requests are one path, not many hops")
    func parallelRedirects() throws {
        let driver = Driver { $0.connections = 16 }
        _ = driver.resume([ByteRange(0, 1000)], Driver.file(64 * Driver.mebibyte))
        var open: [TransferID] = []
        while let (id, _) = driver.next() { open.append(id) }
        #expect(open.count == 16)
        for id in open { #expect(driver.finish(id, .redirect(status: 302, location: "/hop")).isEmpty) }
        open = []
        while let (id, work) = driver.next() {
            #expect(work.url.path == "/hop")
            open.append(id)
        }
        for id in open { #expect(driver.finish(id, .redirect(status: 302, location: "/end")).isEmpty) }
        let (_, work) = try #require(driver.next())
        #expect(work.url.path == "/end")
    }

    @Test(
        "a POST that is redirected by 303 goes on as a GET, by 307 as it was",
        arguments: [(303, true), (307, false)])
    func dropsBody(status: Int, drops: Bool) throws {
        let driver = Driver { $0.method = "POST" }
        driver.start()
        let (id, work) = try #require(driver.next())
        #expect(work.range == nil)
        _ = driver.finish(id, .redirect(status: status, location: "/done"))
        #expect(driver.next()?.work.dropsBody == drops)
    }

    @Test("a request that may have had its effect is not made twice")
    func postOnce() throws {
        let driver = Driver { $0.method = "POST" }
        driver.start()
        let (id, _) = try #require(driver.next())
        #expect(driver.finish(id, .failed(Driver.failure())).failure?.code == .connectionLost)
        let second = Driver { $0.method = "POST" }
        second.start()
        let (other, _) = try #require(second.next())
        let refused = second.finish(other, .failed(Driver.failure(.connectFailed)))
        #expect(refused.kinds == ["retrying"], "it never arrived")
    }

    @Test(
        "an expired link goes back to the URL that was given, one request at a time",
        arguments: [401, 403, 404, 410])
    func expired(status: Int) throws {
        let driver = Driver { $0.connections = 4 }
        driver.start()
        let (hop, _) = try #require(driver.next())
        _ = driver.finish(hop, .redirect(status: 302, location: "/signed"))
        let (id, _) = try #require(driver.next())
        _ = driver.deliver(id)
        _ = driver.headAccepted(id, Driver.body())
        _ = driver.claimed(id)
        driver.commit(id, 0, Driver.mebibyte)
        _ = driver.finish(id, .failed(Driver.failure(.truncated)))
        let (again, work) = try #require(driver.next())
        #expect(work.url.path == "/signed")
        while driver.next() != nil {}
        #expect(driver.finish(again, Driver.status(status)).isEmpty)
        #expect(driver.next() == nil, "the others of that link are still under way")
        #expect(driver.done == Driver.mebibyte)
    }

    @Test("a fresh link is asked for where there is a refresher, and the bytes are kept")
    func refresher() throws {
        let driver = Driver { $0.hasRefresher = true }
        _ = driver.resume([ByteRange(0, Driver.mebibyte)])
        let (id, _) = try #require(driver.next())
        #expect(driver.finish(id, Driver.status(403)) == [.refresh(source: 0)])
        #expect(driver.next() == nil)
        let fresh = try URLReference(parsing: "http://s0.test/fresh")
        #expect(driver.refreshed(0, .fresh(fresh)).isEmpty)
        let (_, work) = try #require(driver.next())
        #expect(work.url == fresh)
        #expect(work.range?.lower == Driver.mebibyte)
    }

    @Test("without a fresh link the run fails and says that the bytes are kept")
    func noFreshLink() throws {
        let driver = Driver { $0.hasRefresher = true }
        _ = driver.resume([ByteRange(0, Driver.mebibyte)])
        let (id, _) = try #require(driver.next())
        _ = driver.finish(id, Driver.status(403))
        let error = driver.refreshed(0, .none(because: "the command ended with status 3")).failure
        #expect(error?.message.hasSuffix("was supplied: the command ended with status 3") == true)
        #expect(error?.advice?.contains("the bytes are kept") == true)
    }

    @Test("a dead link does not cost the bytes on disk: the beginning is asked for before they are given up")
    func deadLink() throws {
        let driver = Driver()
        _ = driver.resume([ByteRange(0, Driver.mebibyte)])
        let (id, work) = try #require(driver.next())
        #expect(work.range?.lower == Driver.mebibyte)
        #expect(driver.finish(id, Driver.status(404)).isEmpty)
        let (sample, asked) = try #require(driver.next())
        #expect(asked.range == ByteRange(0, .max))
        #expect(asked.delivery == .sample)
        let actions = driver.finish(sample, Driver.status(404))
        #expect(actions.kinds == ["fail"])
        #expect(actions.failure?.code == .notFound)
    }

    @Test("a link that gives its beginning and refuses offsets is fetched anew, whole")
    func offsetsRefused() throws {
        let driver = Driver()
        _ = driver.resume([ByteRange(0, Driver.mebibyte)])
        let (id, _) = try #require(driver.next())
        _ = driver.finish(id, Driver.status(403))
        let (sample, _) = try #require(driver.next())
        let body = BodyPlan(offset: 0, length: nil, file: Driver.file())
        #expect(
            driver.finish(sample, .sampled(body)) == [
                .compare(sample, ByteRange(0, DownloadMachine.proofSize))
            ])
        #expect(driver.sampleCompared(sample, isEqual: true).isEmpty)
        let (again, _) = try #require(driver.next())
        #expect(driver.finish(again, Driver.status(403)).kinds == ["notice", "restart"])
        _ = driver.restarted()
        #expect(driver.next()?.work.range == nil)
    }

    @Test("with nothing on disk a refused part is no reason to give up: the probe is made again")
    func refusedWithNothing() throws {
        let driver = Driver()
        let id = try #require(driver.probe())
        _ = driver.finish(id, .failed(Driver.failure()))
        driver.wait(10)
        let (segment, _) = try #require(driver.next())
        #expect(driver.finish(segment, Driver.status(403)).kinds == ["notice", "restart"])
        driver.restarted()
        #expect(driver.next()?.work.range == ByteRange(0, .max))
    }

    @Test("a part that was asked for by --range must come as that part")
    func window() throws {
        let driver = Driver { $0.window = ByteRange(100, 200) }
        driver.start()
        let (id, work) = try #require(driver.next())
        #expect(work.range == ByteRange(100, 200))
        #expect(
            driver.headAccepted(id, Driver.body(Driver.file(1000, ranges: false)))
                .failure?.code
                == .rangeRefused)
    }

    @Test("a part that comes short is no success")
    func shortWindow() throws {
        let driver = Driver { $0.window = ByteRange(100, 200) }
        driver.start()
        let (id, _) = try #require(driver.next())
        _ = driver.deliver(id)
        let body = BodyPlan(offset: 100, length: 40, file: Driver.file(1000))
        _ = driver.headAccepted(id, body)
        _ = driver.claimed(id)
        driver.commit(id, 0, 40)
        let actions = driver.finish(id, .completed(isWhole: true))
        #expect(actions.kinds == ["restart", "retrying"])
    }

    @Test("a part that begins beyond the end is refused in plain words")
    func beyondEnd() throws {
        let driver = Driver { $0.window = ByteRange(1000, .max) }
        driver.start()
        let (id, _) = try #require(driver.next())
        #expect(driver.finish(id, .nothingLeft(length: 1000)).failure?.code == .rangeRefused)
    }
}
