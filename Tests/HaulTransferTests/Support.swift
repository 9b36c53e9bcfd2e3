import HaulCore
import HaulPlatform
import HaulTestSupport

@testable import HaulTransfer

/// A transfer loop of its own for a test, with its events as a stream.
final class Loop: Sendable {
    let loop: TransferLoop
    private let stream: AsyncStream<TransferEvent>

    init() throws {
        let (stream, continuation) = AsyncStream<TransferEvent>.makeStream()
        self.stream = stream
        loop = try TransferLoop { batch in for event in batch { continuation.yield(event) } }
    }

    deinit { loop.close() }

    func post(_ command: TransferCommand) { loop.post(command) }

    /// The events until the first one that is asked for, that one included.
    @discardableResult
    func events(until isLast: (TransferEvent) -> Bool) async -> [TransferEvent] {
        var seen: [TransferEvent] = []
        for await event in stream {
            seen.append(event)
            if isLast(event) { break }
        }
        return seen
    }

    /// Runs one transfer to its end; `sink` is where a probe that turns out to be large may write.
    func run(_ request: TransferRequest, proceeding sink: MemorySink? = nil) async -> Course {
        loop.post(.start(request))
        return await finish(request.id, proceeding: sink)
    }

    func finish(_ id: TransferID, proceeding sink: MemorySink? = nil) async -> Course {
        var course = Course()
        for await event in stream {
            switch event {
            case .head(id, let plan, let head):
                course.head = (plan, head)
                if let sink { loop.post(.proceed(id, sink)) }
            case .committed(id, let range): course.committed.append(range)
            case .delivering(id): course.delivering += 1
            case .endMoved(id, let end): course.ends.append(end)
            case .finished(id, let report):
                course.report = report
                return course
            default: break
            }
        }
        return course
    }
}

/// What one transfer told from start to end.
struct Course {
    var head: (plan: BodyPlan, head: ResponseHead)?
    var delivering = 0
    var committed: [ByteRange] = []
    var ends: [Int64] = []
    var report = TransferReport(outcome: .cancelled)

    /// What was committed, if it came in order and without a gap.
    var contiguous: ByteRange? {
        guard let first = committed.first else { return nil }
        var end = first.lower
        for range in committed {
            guard range.lower == end, !range.isEmpty else { return nil }
            end = range.upper
        }
        return ByteRange(first.lower, end)
    }

    var whole: [UInt8]? {
        if case .whole(let bytes, _) = report.outcome { bytes } else { nil }
    }

    var failure: TransferFailure? {
        if case .failed(let failure) = report.outcome { failure } else { nil }
    }

    var verdict: Verdict? {
        if case .verdict(let verdict) = report.outcome { verdict } else { nil }
    }

    /// Whether the end of the body was that of the server; `nil` when the transfer did not complete.
    var isWhole: Bool? {
        if case .completed(let isWhole) = report.outcome { isWhole } else { nil }
    }

    var wasCancelled: Bool {
        if case .cancelled = report.outcome { true } else { false }
    }

    /// The code of the error that a person gets to see.
    var code: HaulError.Code? {
        guard let failure, let url = try? URLReference(parsing: "http://127.0.0.1/") else { return nil }
        return failure.failure(of: url).error.code
    }
}

/// Keeps what is written, and notices what is committed without having been written.
final class MemorySink: ByteSink {
    private struct State {
        var bytes: [UInt8]
        var written = RangeSet()
        var commitsUnwritten = false
    }

    private let state: Guarded<State>
    private let failsAt: Int64

    /// `failsAt`: a write that reaches beyond that offset fails as a full disk does.
    init(count: Int, failsAt: Int64 = .max) {
        state = Guarded(State(bytes: [UInt8](repeating: 0, count: count)))
        self.failsAt = min(failsAt, Int64(count))
    }

    var bytes: [UInt8] { state.withLock { $0.bytes } }
    var written: RangeSet { state.withLock { $0.written } }
    var commitsUnwritten: Bool { state.withLock { $0.commitsUnwritten } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemFailure) {
        let end = offset + Int64(bytes.count)
        guard end <= failsAt else { throw SystemFailure(code: 28, call: "pwrite") }
        state.withLock { state in
            state.bytes.replaceSubrange(Int(offset)..<Int(end), with: bytes)
            state.written.insert(ByteRange(offset, end))
        }
    }

    func commit(_ range: ByteRange) throws(SystemFailure) {
        state.withLock { if !$0.written.contains(range) { $0.commitsUnwritten = true } }
    }
}

/// Requests as an engine makes them.
enum Requests {
    /// Without time limits: a slow machine is no failure.
    private static var patient: ConnectionOptions {
        var options = ConnectionOptions()
        options.proxy = ""
        options.connectTimeout = 3600
        options.stallTimeout = 3600
        return options
    }

    static func probe(
        _ url: String, id: UInt64 = 1, limit: Int = 256 << 10, range: ByteRange? = ByteRange(0, .max),
        maximum: Int64? = nil
    ) throws -> TransferRequest {
        let url = try URLReference(parsing: url)
        var request = TransferRequest(
            id: TransferID(id), url: url,
            expectation: Expectation(
                purpose: .probe, range: range, urlPath: url.path, maximumLength: maximum),
            delivery: .probe(limit: limit), group: DownloadID(1))
        if let range { request.headers.append(HeaderField("Range", ContentRange.requestValue(range))) }
        request.connection = patient
        return request
    }

    static func segment(
        _ url: String, id: UInt64 = 1, _ range: ByteRange, of length: Int64, etag: String? = nil,
        to sink: MemorySink
    ) throws -> TransferRequest {
        let url = try URLReference(parsing: url)
        let tag = etag.map { EntityTag(opaque: $0, isWeak: false) }
        let known = RemoteFile(length: length, hasRanges: true, validator: Validator(etag: tag))
        var request = TransferRequest(
            id: TransferID(id), url: url,
            expectation: Expectation(purpose: .segment, range: range, known: known, urlPath: url.path),
            delivery: .segment(sink, end: range.upper), group: DownloadID(1))
        request.headers.append(HeaderField("Range", ContentRange.requestValue(range)))
        request.connection = patient
        return request
    }
}
