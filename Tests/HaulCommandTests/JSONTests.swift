import HaulCore
import HaulEngine
import Testing

@testable import HaulCommand

@Suite("JSON")
struct JSONTests {
    @Test(
        "texts are escaped as JSON demands, and so that no terminal obeys them",
        arguments: [
            ("", #""""#), ("a\"b\\c/d", #""a\"b\\c/d""#), ("\n\r\t", #""\n\r\t""#),
            ("\0\u{1F}\u{7F}\u{9B}", #""\u0000\u001f\u007f\u009b""#),
            ("\u{1B}[2J", #""\u001b[2J""#), ("a\u{202E}b\u{2066}", #""a\u202eb\u2066""#),
            ("\u{2028}", #""\u2028""#), ("ünï🎵", #""ünï🎵""#),
        ])
    func strings(_ text: String, _ json: String) {
        #expect(JSONValue.string(text).text == json)
    }

    @Test("values, with what is no number as null")
    func values() {
        let value = JSONValue.object([
            .init("a", .array([.null, .bool(true), .bool(false)])), .init("b", .integer(.min)),
            .init("c", .number(0.5)),
            .init("d", .number(.nan)), .init("e", .number(.infinity)), .init("f", .object([])),
            .init("g", .array([])),
            .init("h", .optional(nil as Int64?, JSONValue.integer)), .init("\"", .number(1e-7)),
        ])
        #expect(
            value.text
                == #"{"a":[null,true,false],"b":-9223372036854775808,"c":0.5,"d":null,"e":null,"f":{},"g":[],"h":null,"\"":1e-07}"#
        )
    }
}

@Suite("Event lines")
struct EventJSONTests {
    static let subject = EventJSON.Subject(index: 2, url: "https://h/x?…")
    static let head = #""index":2,"url":"https://h/x?…""#
    static let error = HaulError(.throttled, "slow down", advice: "wait", status: 429, retryAfter: 30)
    static let errorText =
        #"{"code":"throttled","message":"slow down","advice":"wait","status":429,"retry_after":30.0}"#

    @Test("states")
    func states() {
        #expect(
            EventJSON.state(Self.subject, .probing).text
                == #"{"event":"state",\#(Self.head),"state":"probing"}"#)
        #expect(
            EventJSON.state(Self.subject, .retrying(seconds: 1.5, because: Self.error, attempt: 2, of: 5))
                .text
                == #"{"event":"state",\#(Self.head),"state":"retrying","seconds":1.5,"attempt":2,"attempts":5,"#
                + #""error":\#(Self.errorText)}"#
        )
    }

    @Test("names and notices")
    func notices() {
        let notice = { EventJSON.notice(Self.subject, $0).text }
        #expect(
            EventJSON.named(Self.subject, path: "/d/x").text
                == #"{"event":"named",\#(Self.head),"path":"/d/x"}"#)
        #expect(notice(.resumed(from: 7)) == #"{"event":"notice",\#(Self.head),"notice":"resumed","from":7}"#)
        #expect(
            notice(.restarted("why"))
                == #"{"event":"notice",\#(Self.head),"notice":"restarted","text":"why"}"#)
        #expect(notice(.cannotResume) == #"{"event":"notice",\#(Self.head),"notice":"cannot-resume"}"#)
        #expect(
            notice(.identityBySample) == #"{"event":"notice",\#(Self.head),"notice":"identity-by-sample"}"#)
        #expect(notice(.lengthUnknown) == #"{"event":"notice",\#(Self.head),"notice":"length-unknown"}"#)
        #expect(notice(.warning("w")) == #"{"event":"notice",\#(Self.head),"notice":"warning","text":"w"}"#)
    }

    @Test("progress, where nonsense becomes 0 or null")
    func progress() {
        let sample = DownloadSample(
            id: DownloadID(1), state: .downloading, name: "x", received: 5, total: nil, rate: .nan,
            remaining: .infinity,
            connections: 3)
        #expect(
            EventJSON.progress(Self.subject, sample).text
                == #"{"event":"progress",\#(Self.head),"state":"downloading","name":"x","received":5,"total":null,"rate":0,"#
                + #""remaining":null,"connections":3}"#)
    }

    @Test("ends")
    func ends() throws {
        let checksum = try #require(ChecksumValue(parsing: "md5:\(ChecksumListTests.md5)"))
        let result = FakeEngine.result(nil, verified: [checksum])
        #expect(
            EventJSON.finished(Self.subject, result).text
                == #"{"event":"finished",\#(Self.head),"path":null,"length":2048,"received":1024,"seconds":2.0,"was_there":false,"#
                + #""verified":["md5:\#(ChecksumListTests.md5)"]}"#)
        #expect(
            EventJSON.failed(Self.subject, Self.error).text
                == #"{"event":"failed",\#(Self.head),"error":\#(Self.errorText)}"#)
        #expect(
            EventJSON.summary(total: 3, finished: 1, failed: 2, status: 8).text
                == #"{"event":"summary","total":3,"finished":1,"failed":2,"exit_status":8}"#)
    }

    @Test("other commands")
    func others() {
        #expect(
            EventJSON.planned(Self.subject, .directory("d")).text
                == #"{"event":"planned",\#(Self.head),"directory":"d"}"#)
        #expect(
            EventJSON.planned(Self.subject, .standardOutput).text
                == #"{"event":"planned",\#(Self.head),"path":"-"}"#)
        #expect(
            EventJSON.verified("f", [], nil).text
                == #"{"event":"verified","path":"f","ok":true,"checksums":[],"error":null}"#)
        #expect(
            VersionCommand.text(json: true) == #"{"name":"haul","version":"\#(VersionCommand.version)"}"#
                + "\n")
    }
}

@Suite("Exit status")
struct ExitStatusTests {
    static let codes = HaulError.Code.all

    @Test("every kind of failure has a status", arguments: codes)
    func complete(_ code: HaulError.Code) {
        #expect(ExitStatus.knows(code))
        #expect(ExitStatus.of(code) != 0)
        #expect(ExitStatus.meanings.contains { $0.0 == ExitStatus.of(code) })
    }

    @Test(
        "wget's numbers mean what they mean in wget",
        arguments: [
            (HaulError.Code.usage, 2), (.diskFull, 3), (.connectFailed, 4), (.tlsVerification, 5),
            (.authenticationFailed, 6),
            (.protocolError, 7), (.notFound, 8), (.checksumMismatch, 9), (.sourceChanged, 10),
            (.partialBusy, 3), (.bug, 1),
        ] as [(HaulError.Code, Int32)])
    func numbers(_ code: HaulError.Code, _ status: Int32) {
        #expect(ExitStatus.of(code) == status)
    }

    @Test("an unknown kind and signals")
    func others() {
        #expect(ExitStatus.of(HaulError.Code("new")) == 1)
        #expect([1, 2, 15].map(ExitStatus.of(signal:)) == [129, 130, 143])
    }
}
