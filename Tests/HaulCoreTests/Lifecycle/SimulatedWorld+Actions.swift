import HaulCore
import HaulTestSupport

// What the machine decides is carried out, and judged.
extension SimulatedWorld {
    mutating func perform(_ list: [DownloadAction]) {
        for action in list {
            actions += 1
            perform(action)
        }
        let cap = configuration.connections ?? ConnectionTuner.automaticCap
        if machine.connections > cap {
            problems.append("\(machine.connections) connections, more than \(cap)")
        }
    }

    mutating func perform(_ action: DownloadAction) {
        if terminal != nil {
            switch action {
            case .cancel: break
            default: problems.append("after the end: \(action)")
            }
        }
        let delay = Double.random(in: 0..<0.01, using: &random)
        switch action {
        case .start(let id, let work):
            requests += 1
            transfers[id] = SimulatedTransfer(id: id, work: work)
            post(.step(id, 0), in: servers[work.source].latency)
        case .cancel(let id): post(.cancel(id), in: delay)
        case .moveEnd(let id, let end): post(.moveEnd(id, end), in: delay)
        case .claim(let id, let body, _, let empties):
            isClaiming = true
            if empties {
                if transfers.count > 1 { problems.append("the partial is emptied while others write to it") }
                disk.clear()
            }
            postJob(.claimed(id, body.file))
        case .proceed(let id): post(.proceed(id), in: delay)
        // The partial stays for whom it belongs to; this run makes one of its own.
        case .lookAgain: problems.append("nobody else writes that file")
        case .setAside: disk = SimulatedDisk()
        case .restart: restart()
        case .compare(let id, let range): compare(id, range)
        case .storeWhole(let id, _, _): postJob(.stored(id))
        case .verify: postJob(.verified)
        case .publish(let length): publish(length)
        case .throttled(let source, let after):
            let delivering = transfers.values.count { $0.work.source == source && $0.plan != nil }
            governors[machine.sources[source].current.origin]?.throttled(
                retryAfter: after, delivering: delivering, wait: configuration.retry.wait, now: now)
        case .refresh(let source): postJob(.refreshed(source))
        case .notice(let notice): notices.append(notice)
        case .state: break
        case .finish, .fail: end(action)
        }
    }

    mutating func restart() {
        restartPending = !transfers.isEmpty
        guard !restartPending, terminal == nil else { return }
        if isClaiming { problems.append("the partial is reset while it is claimed") }
        if configuration.isStream, streamed > 0 { problems.append("a stream cannot begin again") }
        disk.clear()
        postJob(.restarted)
    }

    mutating func compare(_ id: TransferID, _ range: ByteRange) {
        guard let sample = samples[id] else { return problems.append("a comparison without a sample") }
        let isEqual = sample.range.contains(range) && disk.versions(in: range) == [sample.version]
        postJob(.compared(id, isEqual))
    }

    mutating func publish(_ length: Int64) {
        let range = ByteRange(0, length)
        if configuration.isStream {
            if wanted == nil { check(disk.versions(in: range), length: length) }
            return postJob(.published)
        }
        let done = disk.journal?.done ?? RangeSet()
        if !done.contains(range) {
            problems.append("published \(range), of which only \(done) was committed")
        }
        check(disk.versions(in: range), length: length)
        if disk.shifts(in: range).contains(where: { $0 != shift }) {
            problems.append("bytes stand where others belong")
        }
        postJob(.published)
    }

    func wholeLength(_ version: Int) -> Int64 {
        let server = servers.first { $0.contentBase == version / 1000 * 1000 }
        return server?.lengths[version % 1000] ?? -1
    }

    func versionLength(_ version: Int) -> Int64 {
        let whole = wholeLength(version)
        guard let window = configuration.window else { return whole }
        return max(0, min(window.upper, whole) - window.lower)
    }

    mutating func check(_ versions: Set<Int>?, length: Int64) {
        guard let versions else { return problems.append("published bytes that were never written") }
        if let wanted, length > 0, versions != [wanted] {
            problems.append("published \(versions), not \(wanted)")
        }
        if versions.count > 1 { problems.append("published a mixture of \(versions)") }
        for version in versions where length != versionLength(version) {
            problems.append(
                "published \(length) bytes of version \(version), which has \(versionLength(version))")
        }
    }

    var shift: Int64 { configuration.window?.lower ?? 0 }

    mutating func end(_ action: DownloadAction) {
        terminals += 1
        terminal = action
        if terminals > 1 { problems.append("ended twice") }
        if case .finish(wasThere: false) = action, !wasPublished {
            problems.append("finished without a file")
        }
        guard case .fail(let error) = action, disk.journal != nil else { return }
        // Bytes that no later run could use are thrown away.
        if error.code == .checksumMismatch || machine.file?.hasRanges == false {
            disk = SimulatedDisk()
        }
    }
}
