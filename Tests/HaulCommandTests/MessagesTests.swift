import HaulCore
import HaulEngine
import Testing

@testable import HaulCommand

@Suite("Messages")
struct MessagesTests {
    @Test("an error says what failed, and on the next line what to try")
    func errors() {
        #expect(
            Messages.error(HaulError(.diskFull, "no room", advice: "free some"))
                == "haul: no room\n  try: free some")
        #expect(Messages.error(HaulError(.diskFull, "The disk is full")) == "haul: the disk is full")
        #expect(Messages.error(HaulError(.tlsFailed, "TLS failed")) == "haul: TLS failed")
        #expect(Messages.error(HaulError(.bug, "x\u{1B}[2J\ny\u{202E}z")) == "haul: x[2J yz")
    }

    @Test("the failure of one download names its URL once")
    func failures() {
        let plain = HaulError(.notFound, "not there (404)")
        #expect(Messages.failed("http://h/x", plain) == "haul: http://h/x: not there (404)")
        let named = HaulError(.notFound, "http://h/x is not there")
        #expect(Messages.failed("http://h/x", named) == "haul: http://h/x is not there")
    }

    @Test("the end of a download")
    func finished() throws {
        let checksum = try #require(ChecksumValue(parsing: "md5:\(ChecksumListTests.md5)"))
        var result = DownloadResult(
            path: "/d/x", length: 2_789_220_352, received: 2_789_220_352, seconds: 80, wasThere: false,
            verified: [checksum])
        #expect(Messages.finished("x", result) == "x: 2.60 GiB in 1:20, 33.3 MiB/s, md5 verified")
        result.seconds = 0
        result.verified = []
        #expect(Messages.finished("x", result) == "x: 2.60 GiB in 0.0 s")
        result.wasThere = true
        #expect(Messages.finished("a\u{1B}b", result) == "ab: was there already")
    }

    @Test("notices: what matters always, the rest when asked")
    func notices() {
        let text = { Messages.notice("x", $0, verbose: false) }
        #expect(text(.resumed(from: 1536)) == "x: resuming after 1.50 KiB")
        #expect(text(.restarted("It changed")) == "x: starting over: it changed")
        #expect(text(.warning("Odd")) == "haul: warning: x: odd")
        let unnamed = Notice.warning("http://h/x is left out")
        #expect(
            Messages.notice("http://h/x", unnamed, verbose: false) == "haul: warning: http://h/x is left out")
        #expect(text(.identityBySample) == "x: identity by sample: the server gave no strong validator")
        #expect(text(.cannotResume) == nil && text(.lengthUnknown) != nil)
        #expect(Messages.notice("x", .cannotResume, verbose: true) != nil)
        #expect(Messages.notice("x", .lengthUnknown, verbose: true) != nil)
    }

    @Test("a retry names the file, what failed, which try comes next, and when; hosts stand for their URLs")
    func retries() {
        let error = HaulError(
            .connectionLost, "The connection to http://h:81/a/x?… was lost: connection reset by peer",
            advice: "wait")
        var retry = Retry(seconds: 1.23, error: error, attempt: 2, limit: 5)
        #expect(
            Messages.retrying("x", retry)
                == "x: the connection to h:81 was lost: connection reset by peer; retry 2 of 5 in 1.2 s")
        #expect(
            Messages.waiting(retry)
                == "retry 2 of 5 in 2 s: the connection to h:81 was lost: connection reset by peer")
        retry.limit = nil
        retry.error.message = "cannot use https://h/x: http://i"
        #expect(Messages.retrying("x", retry) == "x: cannot use h: i; retry 2 in 1.2 s")
    }

    @Test(
        "a verified file that took another name comes with the advice to replace the damaged one",
        arguments: [
            ("/d/x (1).iso", "/d/x.iso", true), ("/d/x (12)", "/d/x", true), ("/d (1)/x", "/d/x", false),
            ("/d/x (a).iso", "/d/x.iso", false), ("/d/x (1).iso", "/d/y.iso", false),
            ("/d/x.iso", "/d/x.iso", false),
        ])
    func beside(_ path: String, _ there: String, _ isAdvised: Bool) throws {
        let checksum = try #require(ChecksumValue(parsing: "md5:\(ChecksumListTests.md5)"))
        var result = FakeEngine.result(path, verified: [checksum])
        let advice = Messages.beside(result) { $0 == there }
        #expect((advice != nil) == isAdvised)
        if isAdvised {
            #expect(advice?.hasPrefix("haul: \(there) is another file") == true)
            #expect(advice?.contains("--if-exists replace") == true)
        }
        result.verified = []
        #expect(Messages.beside(result) { $0 == there } == nil)
    }

    @Test("the plain line about progress")
    func progress() {
        var sample = DownloadSample(
            id: DownloadID(1), state: .downloading, name: "x", received: 50, total: 200, rate: 10,
            remaining: 15, connections: 1)
        #expect(Messages.progress([sample], Tally(total: 1)) == "x: 25% of 200 B, 10 B/s, 0:15 left")
        sample.total = nil
        #expect(Messages.progress([sample], Tally(total: 1)) == "x: 50 B, 10 B/s")
        sample.rate = .nan
        #expect(
            Messages.progress([sample], Tally(total: 9, finished: 2, failed: 1))
                == "2 of 9 files, 1 failed, 1 running, 50/50 B+, 0 B/s")
        sample.rate = 10
        sample.total = 200
        #expect(
            Messages.progress([sample], Tally(total: 3, finished: 2, finishedBytes: 1000))
                == "2 of 3 files, 1 running, 1.03/1.17 KiB, 10 B/s, 0:15 left")
        let lost = HaulError(.connectionLost, "lost")
        for state in [DownloadState.queued, .probing, .retrying(seconds: 1, because: lost)] {
            sample.state = state
            #expect(Messages.progress([sample], Tally(total: 1)) == nil)
            #expect(Messages.progress([sample, sample], Tally(total: 2)) == nil)
        }
    }

    @Test("the summary names what failed, without the reasons, and counts what does not fit")
    func summary() {
        let urls = ["http://h/a", "http://h/b"]
        #expect(
            Messages.summary(failed: 5, total: 10, urls: urls, notStarted: 2) == [
                "haul: 5 of 10 failed", "  http://h/a", "  http://h/b", "  and 3 more", "  2 not started",
            ])
        #expect(Messages.summary(failed: 2, total: 2, urls: urls, notStarted: 0) == ["haul: 2 of 2 failed"])
    }
}
