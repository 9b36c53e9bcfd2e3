import CCurl
import HaulCore
import HaulPlatform

/// Everything that libcurl owns: made, used and freed on the transfer thread.
final class LoopState {
    private let multi: UnsafeMutableRawPointer
    private var transfers: [UnsafeMutableRawPointer: EasyTransfer] = [:]
    private var handles: [TransferID: UnsafeMutableRawPointer] = [:]
    private var idle: [UnsafeMutableRawPointer] = []
    private var lastHeaders: HeaderList?
    private var limiter = RateLimiter()
    /// Transfers that got bytes in this turn, and those that wait for the rate limit.
    private var touched: [EasyTransfer] = []
    private var limited: [EasyTransfer] = []
    private var batch: [TransferEvent] = []
    private var batchIsUrgent = false
    /// The last poll found no socket ready: there is no company to wait for.
    var isQuiet = false
    private var lastDelivery: Instant
    private var lastLook: Instant
    private(set) var now: Instant

    init(multi: UnsafeMutableRawPointer) {
        self.multi = multi
        now = MonotonicClock.now
        lastDelivery = now
        lastLook = now
        haul_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        haul_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 100)
        haul_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, LoopState.sharedConnections)
        haul_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 256)
    }

    // MARK: One turn

    func turn() {
        now = MonotonicClock.now
        wakePaused()
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        finishDone()
        now = MonotonicClock.now
        if now.seconds(since: lastLook) >= LoopState.lookInterval { lookAtAll() }
        for transfer in touched { collect(transfer) }
        touched.removeAll(keepingCapacity: true)
    }

    /// Milliseconds that the poll may sleep.
    var pollTimeout: Int32 {
        if batchIsUrgent { return 0 }
        if transfers.isEmpty { return batch.isEmpty ? 60_000 : 0 }
        var wait = LoopState.lookInterval
        for transfer in limited {
            if let until = transfer.pausedUntil { wait = min(wait, max(0.001, until.seconds(since: now))) }
        }
        return Int32((wait * 1000).rounded(.up))
    }

    /// The events to deliver now; committed ranges alone can wait a little for company.
    func takeBatch() -> [TransferEvent] {
        let waited = now.seconds(since: lastDelivery)
        let isFull = batch.count >= LoopState.fullBatch || waited >= LoopState.urgentInterval
        let isDue = batchIsUrgent && (isFull || isQuiet)
        guard !batch.isEmpty, isDue || waited >= LoopState.deliveryInterval else { return [] }
        lastDelivery = now
        batchIsUrgent = false
        let events = batch
        batch.removeAll(keepingCapacity: true)
        return events
    }

    private func collect(_ transfer: EasyTransfer) {
        for event in transfer.events {
            if case .committed = event {} else { batchIsUrgent = true }
            batch.append(event)
        }
        transfer.events.removeAll(keepingCapacity: true)
    }

    /// Stalls, commits that are due, and probes that are slow: a few times a second is enough.
    private func lookAtAll() {
        lastLook = now
        for (easy, transfer) in transfers {
            transfer.commitIfDue(now: now)
            transfer.reportHeadIfLate(now: now)
            if !transfer.events.isEmpty { touched.append(transfer) }
            if transfer.isSettled(now: now) {
                finish(easy, transfer, code: CURLE_WRITE_ERROR)
                continue
            }
            let stall = transfer.request.connection.stallTimeout
            if !transfer.isPaused, !transfer.isAwaitingSink, now.seconds(since: transfer.lastByte) >= stall {
                var failure = TransferFailure(
                    code: Int32(CURLE_OPERATION_TIMEDOUT.rawValue),
                    detail: "nothing came for \(RetryPolicy.spoken(stall))")
                failure.isStall = true
                end(easy, transfer, with: .failed(failure))
            }
        }
    }

    // MARK: Commands

    func carryOut(_ command: TransferCommand) {
        now = MonotonicClock.now
        switch command {
        case .start(let request): start(request)
        case .proceed(let id, let sink): proceed(id, sink)
        case .moveEnd(let id, let target): moveEnd(id, target)
        case .cancel(let id):
            if let (easy, transfer) = find(id) { end(easy, transfer, with: .cancelled) }
        case .limit(let group, let rate): limiter.limit(group, rate, now: now)
        case .limitAll(let rate): limiter.limitAll(rate, now: now)
        case .hostConnections(let count): haul_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, count)
        }
    }

    private func find(_ id: TransferID) -> (UnsafeMutableRawPointer, EasyTransfer)? {
        guard let easy = handles[id], let transfer = transfers[easy] else { return nil }
        return (easy, transfer)
    }

    private func start(_ request: TransferRequest) {
        guard let easy = idle.popLast() ?? curl_easy_init() else {
            let failure = TransferFailure(
                code: Int32(CURLE_OUT_OF_MEMORY.rawValue), detail: "no memory for a transfer")
            deliver(.finished(request.id, TransferReport(outcome: .failed(failure))))
            return
        }
        let transfer = EasyTransfer(request, easy: easy, loop: self, now: now)
        transfers[easy] = transfer
        handles[request.id] = easy
        EasyConfiguration(transfer: transfer).apply(rate: limiter.tightest(request.group))
        Callbacks.install(on: easy, transfer)
        let code = curl_multi_add_handle(multi, easy)
        guard code == CURLM_OK else {
            let failure = TransferFailure(
                code: Int32(CURLE_FAILED_INIT.rawValue), detail: String(cString: curl_multi_strerror(code)))
            end(easy, transfer, with: .failed(failure))
            return
        }
    }

    /// The files of a long list are all asked for with the same fields.
    func headerList(_ fields: [HeaderField], hasBody: Bool) -> HeaderList {
        if let lastHeaders, lastHeaders.fits(fields, hasBody: hasBody) { return lastHeaders }
        let made = HeaderList(fields, hasBody: hasBody)
        lastHeaders = made
        return made
    }

    private func proceed(_ id: TransferID, _ sink: any ByteSink) {
        guard let (easy, transfer) = find(id) else { return }
        transfer.proceed(to: sink, now: now)
        if transfer.failure != nil {
            finish(easy, transfer, code: transfer.endedWith ?? CURLE_WRITE_ERROR)
        } else if let code = transfer.endedWith {
            finish(easy, transfer, code: code)
        } else if transfer.pausedUntil == nil {
            curl_easy_pause(easy, CURLPAUSE_CONT)
        }
        collect(transfer)
    }

    private func moveEnd(_ id: TransferID, _ target: Int64) {
        guard let (easy, transfer) = find(id) else { return }
        deliver(.endMoved(id, transfer.moveEnd(to: target)))
        // It stands beyond the new end already: nothing more is wanted of it.
        if transfer.position >= transfer.end, transfer.hasStored {
            finish(easy, transfer, code: CURLE_WRITE_ERROR)
        }
    }

    // MARK: Ends

    private func finishDone() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let transfer = transfers[easy]
            else { continue }
            let code = haul_message_result(message)
            if transfer.isAwaitingSink, transfer.failure == nil {
                // What came is in memory, and the name is still being claimed: even of a body that broke off it counts.
                curl_multi_remove_handle(multi, easy)
                transfer.endedWith = code
            } else {
                finish(easy, transfer, code: code)
            }
        }
    }

    private func finish(_ easy: UnsafeMutableRawPointer, _ transfer: EasyTransfer, code: CURLcode) {
        let report = transfer.report(code, detail: transfer.resources.errorText, now: now)
        retire(easy, transfer, report)
    }

    private func end(
        _ easy: UnsafeMutableRawPointer, _ transfer: EasyTransfer, with outcome: TransferReport.Outcome
    ) {
        var report = transfer.report(CURLE_ABORTED_BY_CALLBACK, detail: "", now: now)
        if case .sinkFailed = report.outcome {} else { report.outcome = outcome }
        retire(easy, transfer, report)
    }

    private func retire(_ easy: UnsafeMutableRawPointer, _ transfer: EasyTransfer, _ report: TransferReport) {
        curl_multi_remove_handle(multi, easy)
        collect(transfer)
        deliver(.finished(transfer.request.id, report))
        transfers[easy] = nil
        handles[transfer.request.id] = nil
        // The handle's borrowed strings go after the handle forgot them.
        curl_easy_reset(easy)
        // A reset keeps the cookies (curl_easy_reset(3)); they belong to one download.
        haul_easy_set_string(easy, CURLOPT_COOKIELIST, "ALL")
        transfer.resources.free()
        if idle.count < LoopState.idleHandles { idle.append(easy) } else { curl_easy_cleanup(easy) }
    }

    private func deliver(_ event: TransferEvent) {
        batch.append(event)
        batchIsUrgent = true
    }

    /// Ends everything; the events say so.
    func close() {
        for (easy, transfer) in transfers { end(easy, transfer, with: .cancelled) }
        for easy in idle { curl_easy_cleanup(easy) }
        idle = []
        batchIsUrgent = true
    }

    // MARK: Callbacks and pauses

    fileprivate func receive(_ transfer: EasyTransfer, _ bytes: UnsafeRawBufferPointer) -> Int {
        let group = transfer.request.group
        let delay = limiter.delay(group, now: now)
        if delay > 0 {
            transfer.pausedUntil = now.advanced(by: delay)
            limited.append(transfer)
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        let consumption = transfer.receive(bytes, now: now)
        if !transfer.events.isEmpty { touched.append(transfer) }
        switch consumption {
        case .all:
            limiter.take(bytes.count, group, now: now)
            return bytes.count
        case .pause: return Int(CURL_WRITEFUNC_PAUSE)
        case .stop: return bytes.isEmpty ? 1 : 0
        }
    }

    private func wakePaused() {
        guard !limited.isEmpty else { return }
        let waiting = limited
        limited = []
        for transfer in waiting {
            guard let until = transfer.pausedUntil, transfers[transfer.easy] === transfer else { continue }
            guard now >= until else {
                limited.append(transfer)
                continue
            }
            transfer.pausedUntil = nil
            // Delivers what was held back from within this call (curl_easy_pause(3)).
            if !transfer.isPausedForSink { curl_easy_pause(transfer.easy, CURLPAUSE_CONT) }
        }
    }

    /// Connections to a host that speaks HTTP/2: with PIPEWAIT, libcurl shares them among all streams.
    private static let sharedConnections = 4
    private static let idleHandles = 64
    /// Seconds between looks at stalls and due commits.
    private static let lookInterval = 0.1
    /// Events that are worth waking the engine for at once; fewer wait for company while sockets are ready, but no
    /// longer than this, seconds.
    private static let fullBatch = 16
    private static let urgentInterval = 0.001
    /// Seconds that committed ranges may wait for company.
    private static let deliveryInterval = 0.03
}

/// What libcurl calls: from within `turn` and `carryOut`, on the transfer thread.
private enum Callbacks {
    /// The context is the transfer itself, which the loop holds until the handle has forgotten it.
    static func install(on easy: UnsafeMutableRawPointer, _ transfer: EasyTransfer) {
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        haul_easy_set_pointer(easy, CURLOPT_WRITEDATA, context)
        haul_easy_set_pointer(easy, CURLOPT_HEADERDATA, context)
        haul_easy_set_bytes_callback(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let transfer = Callbacks.transfer(context) else { return 0 }
            return transfer.loop.receive(transfer, UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        haul_easy_set_bytes_callback(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let transfer = Callbacks.transfer(context) else { return 0 }
            transfer.receiveHeader(
                UnsafeRawBufferPointer(start: bytes, count: size * count), now: transfer.loop.now)
            return size * count
        }
    }

    private static func transfer(_ context: UnsafeMutableRawPointer?) -> EasyTransfer? {
        context.map { Unmanaged<EasyTransfer>.fromOpaque($0).takeUnretainedValue() }
    }
}
