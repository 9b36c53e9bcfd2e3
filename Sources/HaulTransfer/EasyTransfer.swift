import CCurl
import CHaulShims
import HaulCore
import HaulPlatform

/// One request while it runs: judges its head, and puts its body where it belongs.
///
/// Owned by the transfer thread.
final class EasyTransfer {
    /// What `receive` tells libcurl.
    enum Consumption {
        case all
        /// Deliver the same bytes again after an unpause (curl_easy_pause(3)).
        case pause
        /// The transfer is to end now: its end is reached, or something failed.
        case stop
    }

    /// Where the bytes of an accepted body go.
    enum Stage {
        case awaitingHead
        /// A probe whose body may turn out to be small enough to stay in memory.
        case buffering(limit: Int)
        case writing(any ByteSink)
        case sampling
        /// An error page or a redirect's body: read only so that the connection can be used again.
        case discarding
    }

    let request: TransferRequest
    let easy: UnsafeMutableRawPointer
    /// Outlives all its transfers.
    unowned let loop: LoopState
    let started: Instant
    private(set) var lastByte: Instant
    private(set) var received: Int64 = 0
    var parser = HeadParser()
    /// FTP and SFTP: what stands for a head.
    private var substitute: ResponseHead?
    var head: ResponseHead? { substitute ?? parser.head }
    var stage = Stage.awaitingHead
    var verdict: Verdict?
    private var plan: BodyPlan?
    var decoder: BodyDecoder?
    var buffer: [UInt8] = []
    var excerpt: [UInt8] = []
    private var skipped: Int64 = 0
    /// File offset of the next byte, and where this transfer stops.
    private(set) var position: Int64 = 0
    private(set) var end: Int64 = .max
    private var committed: Int64 = 0
    private var lastCommit: Instant
    private var didTellDelivering = false
    private var didReportHead = false
    private(set) var failure: TransferReport.Outcome?
    private(set) var hasReachedEnd = false
    /// Waiting for `proceed`, or for the rate limit.
    private(set) var isPausedForSink = false
    var pausedUntil: Instant?
    /// libcurl was done while the sink was still awaited.
    var endedWith: CURLcode?
    var isPaused: Bool { isPausedForSink || pausedUntil != nil }
    /// Held to see whether the end of the connection was announced, where nothing else ends the body.
    var tls: UnsafeMutableRawPointer?
    /// Strings and lists that libcurl keeps pointers to.
    var resources = EasyResources()
    /// Events for the engine, collected by the loop after each turn.
    var events: [TransferEvent] = []

    init(_ request: TransferRequest, easy: UnsafeMutableRawPointer, loop: LoopState, now: Instant) {
        self.request = request
        self.easy = easy
        self.loop = loop
        started = now
        lastByte = now
        lastCommit = now
        // It may be moved before the head comes.
        if case .segment(_, let end) = request.delivery { self.end = end }
    }

    /// Its head was reported, and the engine has not yet said where the body goes.
    var isAwaitingSink: Bool {
        if case .buffering = stage { didReportHead } else { false }
    }

    // MARK: Head

    func receiveHeader(_ bytes: UnsafeRawBufferPointer, now: Instant) {
        lastByte = now
        parser.line(bytes)
    }

    /// Judges the head once, at the first body byte or at the end of an answer without a body.
    func judge(now: Instant) {
        guard verdict == nil else { return }
        if parser.overflowed {
            verdict = .refused(.malformed("the head of the answer is too large"))
            stage = .discarding
            return
        }
        if !request.url.isHTTP { synthesizeHead() }
        guard let head else {
            if parser.isMalformed || !parser.isStarted {
                verdict = .refused(.malformed("the answer is not HTTP"))
            } else {
                failure = .failed(
                    TransferFailure(
                        code: Int32(CURLE_GOT_NOTHING.rawValue), detail: "the answer ended inside its head"))
            }
            stage = .discarding
            return
        }
        let judged = ResponseCheck.judge(head, for: request.expectation, now: MonotonicClock.unixSeconds)
        verdict = judged
        if case .body(let plan) = judged { accept(plan, head, now: now) } else { stage = .discarding }
    }

    private func accept(_ accepted: BodyPlan, _ head: ResponseHead, now: Instant) {
        var accepted = accepted
        if !request.url.isHTTP { accepted.file.hasRanges = accepted.file.length != nil }
        if !accepted.file.codings.isEmpty {
            guard let decoder = BodyDecoder(accepted.file.codings) else {
                verdict = .refused(.malformed("the answer is coded in a way Haul cannot undo"))
                stage = .discarding
                return
            }
            self.decoder = decoder
        }
        accepted.offset = max(0, accepted.offset - request.baseOffset)
        accepted.endsWithConnection =
            accepted.length == nil && head.fields["Transfer-Encoding"] == nil && !isHTTP2
            && request.url.isHTTP
        plan = accepted
        position = accepted.offset + accepted.skip
        committed = position
        if accepted.endsWithConnection, request.url.isSecure { tls = haul_tls_hold(haul_tls_of(easy)) }
        switch request.delivery {
        case .probe(let limit):
            if let range = request.expectation.range, range.upper != .max {
                end = range.upper - request.baseOffset
            }
            stage = .buffering(limit: limit)
            if let length = accepted.length, length <= limit, decoder == nil, isWholeFile(accepted) {
                // It will be here in a moment, and its end says more than that it began.
                buffer.reserveCapacity(Int(length))
            } else {
                tellDelivering()
                if accepted.length != nil { reportHead() }
            }
        case .segment(let sink, _):
            guard !accepted.restartsFile else {
                verdict = .refused(.rangeIgnored)
                stage = .discarding
                return
            }
            tellDelivering()
            stage = .writing(sink)
        case .sample:
            tellDelivering()
            end = request.expectation.range?.upper ?? .max
            stage = .sampling
        }
    }

    private func tellDelivering() {
        guard !didTellDelivering else { return }
        didTellDelivering = true
        events.append(.delivering(request.id))
    }

    /// Servers may give less than was asked: such a body is a part, however small the file.
    private func isWholeFile(_ plan: BodyPlan) -> Bool {
        plan.offset == 0 && plan.length == (plan.file.length ?? plan.length)
    }

    private var isHTTP2: Bool {
        var version = 0
        haul_easy_info_long(easy, CURLINFO_HTTP_VERSION, &version)
        return version == CURL_HTTP_VERSION_2_0
    }

    private func reportHead() {
        guard !didReportHead, let plan, let head else { return }
        didReportHead = true
        tellDelivering()
        events.append(.head(request.id, plan, head))
    }

    /// FTP and SFTP have no head: what libcurl learnt of size and time makes one, so that one judge serves all.
    private func synthesizeHead() {
        var remaining: curl_off_t = -1
        haul_easy_info_offset(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &remaining)
        var time: curl_off_t = -1
        haul_easy_info_offset(easy, CURLINFO_FILETIME_T, &time)
        substitute = SyntheticHead.make(
            remaining: remaining >= 0 ? Int64(remaining) : nil, modified: time >= 0 ? Int64(time) : nil,
            range: request.expectation.range, knownLength: request.expectation.known?.length)
    }

    // MARK: Body

    func receive(_ bytes: UnsafeRawBufferPointer, now: Instant) -> Consumption {
        lastByte = now
        if case .awaitingHead = stage { judge(now: now) }
        switch stage {
        case .awaitingHead, .discarding:
            received += Int64(bytes.count)
            return discard(bytes)
        case .buffering(let limit):
            if buffer.count + bytes.count > limit, buffer.count > 0 || bytes.count > limit {
                reportHead()
                isPausedForSink = true
                return .pause
            }
        case .writing, .sampling:
            break
        }
        received += Int64(bytes.count)
        return take(bytes, now: now)
    }

    private func discard(_ bytes: UnsafeRawBufferPointer) -> Consumption {
        if excerpt.count < 200 { excerpt.append(contentsOf: bytes.prefix(200 - excerpt.count)) }
        return received > 64 << 10 ? .stop : .all
    }

    /// Undoes codings and the leading bytes that are on disk already.
    private func take(_ bytes: UnsafeRawBufferPointer, now: Instant) -> Consumption {
        guard let plan else { return .stop }
        if let decoder {
            do {
                var outcome = Consumption.all
                try decoder.decode(bytes) { piece in
                    if outcome == .all { outcome = store(piece, now: now) }
                }
                return outcome
            } catch {
                // What was said first counts: a file that is too large, a disk that failed.
                let broken = Refusal.malformed("the \(error.coding) coding of the body is broken")
                failure = failure ?? .verdict(.refused(broken))
                return .stop
            }
        }
        guard skipped < plan.skip else { return store(bytes, now: now) }
        let skip = min(Int(plan.skip - skipped), bytes.count)
        skipped += Int64(skip)
        return store(UnsafeRawBufferPointer(rebasing: bytes[skip...]), now: now)
    }

    private func store(_ bytes: UnsafeRawBufferPointer, now: Instant) -> Consumption {
        let room = end - position
        let wanted =
            Int64(bytes.count) <= room ? bytes : UnsafeRawBufferPointer(rebasing: bytes[..<Int(max(0, room))])
        if let maximum = request.expectation.maximumLength, position + Int64(wanted.count) > maximum {
            failure = .verdict(.refused(.tooLarge(maximum + 1)))
            return .stop
        }
        switch stage {
        case .buffering, .sampling:
            buffer.append(contentsOf: wanted)
        case .writing(let sink):
            do {
                try sink.write(wanted, at: position)
            } catch {
                failure = .sinkFailed(error)
                return .stop
            }
        case .awaitingHead, .discarding:
            return .stop
        }
        position += Int64(wanted.count)
        if position - committed >= EasyTransfer.commitSize { commit(now: now) }
        return reachedEnd(leftOver: bytes.count - wanted.count)
    }

    /// The end that was moved nearer, or that a server overshoots: stop, unless the body ends here by itself.
    private func reachedEnd(leftOver: Int) -> Consumption {
        guard position >= end else { return .all }
        hasReachedEnd = true
        if leftOver == 0, let length = plan?.length, received >= length { return .all }
        return .stop
    }

    /// Tells the sink and the engine what is written, every MiB or 100 ms.
    func commitIfDue(now: Instant) {
        guard position > committed, now.seconds(since: lastCommit) >= EasyTransfer.commitTime else { return }
        commit(now: now)
    }

    func commit(now: Instant) {
        guard case .writing(let sink) = stage, position > committed else { return }
        let range = ByteRange(committed, position)
        do {
            try sink.commit(range)
        } catch {
            failure = failure ?? .sinkFailed(error)
            return
        }
        committed = position
        lastCommit = now
        events.append(.committed(request.id, range))
    }

    /// The head is no body's, and the page behind it does not come: the head says enough.
    func isSettled(now: Instant) -> Bool {
        let decision = PageWait.decide(
            silence: now.seconds(since: lastByte), isJudged: verdict != nil, isDiscarded: isDiscarding,
            status: parser.head?.status)
        if decision == .judge { judge(now: now) }
        return decision == .settled || decision == .judge && isDiscarding
    }

    private var isDiscarding: Bool {
        if case .discarding = stage { true } else { false }
    }

    /// A probe that is slow to become whole is worth a file, so that it can be split and resumed.
    func reportHeadIfLate(now: Instant) {
        guard case .buffering = stage, now.seconds(since: started) >= EasyTransfer.wholeTime, !buffer.isEmpty
        else {
            return
        }
        reportHead()
    }

    /// A body was accepted and goes to a sink.
    var hasStored: Bool {
        if case .writing = stage { true } else { false }
    }

    // MARK: Commands

    func proceed(to sink: any ByteSink, now: Instant) {
        guard case .buffering = stage else { return }
        stage = .writing(sink)
        isPausedForSink = false
        let early = buffer
        buffer = []
        let start = plan.map { $0.offset + $0.skip } ?? 0
        do throws(SystemFailure) {
            let written = early.withUnsafeBytes { bytes in
                Result { () throws(SystemFailure) in
                    if !bytes.isEmpty { try sink.write(bytes, at: start) }
                }
            }
            try written.get()
            commit(now: now)
        } catch {
            failure = .sinkFailed(error)
        }
    }

    /// - Returns: where the transfer will end: never before what was already received.
    func moveEnd(to target: Int64) -> Int64 {
        if !hasReachedEnd {
            end = max(target, position)
            hasReachedEnd = hasStored && position >= end
        }
        return end
    }

    private static let commitSize: Int64 = 1 << 20
    /// Half of the time between two looks: each look commits what came, so that progress is told evenly.
    private static let commitTime = 0.05
    private static let wholeTime = 0.5
}
