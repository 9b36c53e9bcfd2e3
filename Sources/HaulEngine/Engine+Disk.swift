import Glibc
import HaulCore
import HaulDisk
import HaulPlatform
import HaulTransfer

// What blocks is done on the pool, and answered through the inbox.
extension Engine {
    func submit(_ run: Run, _ job: @escaping @Sendable () -> Inbound) {
        run.jobs += 1
        let inbox = inbox
        pool.submit { inbox.post(job()) }
    }

    // MARK: Before the first request

    func prepare(_ run: Run) {
        if let rate = run.spec.options.rateLimit { command(.limit(run.id, rate)) }
        let preparation = Preparation(
            destination: run.spec.destination, options: run.spec.$options, digests: run.digests,
            primary: run.primary, directories: directories)
        run.jobs += 1
        preparer.add((run.id, preparation))
    }

    func prepared(_ result: Result<Preparation.Found, HaulError>, _ run: Run) {
        guard !run.hasEnded else { return }
        switch result {
        case .failure(let error): perform(run.machine.diskFailed(error), run)
        case .success(let found):
            run.directory = found.directory
            run.userName = found.userName
            run.partial = found.partial
            run.sink = found.partial
            if found.existing != nil { run.path = found.existing }
            run.verified = found.verified
            run.outdatedName = found.outdatedName
            run.isNameTaken = found.isNameTaken
            run.existingLength = found.existingLength
            run.use(found.netrc)
            if run.spec.destination == .standardOutput { run.sink = standardOutput(run) }
            begin(found, run)
        }
    }

    private func begin(_ found: Preparation.Found, _ run: Run) {
        switch found.outcome {
        case .wasThere(let length):
            run.wholeLength = length
            perform(run.machine.wasThere(), run)
        case .failed(let error): perform(run.machine.diskFailed(error), run)
        case .busy(let error, let isOurs):
            // The same thing asked for twice: what the first one makes will do for the second.
            guard run.spec.options.waitsForLock || isOurs else {
                return perform(run.machine.diskFailed(error), run)
            }
            lookAgain(run)
        case .goOn:
            startDigests(run)
            if let partial = found.partial, found.earlier?.matchesURL == true {
                tell(.named(run.id, path: partial.directory.path(of: partial.header.finalName)))
            }
            let actions = run.machine.started(
                found: found.earlier, condition: found.condition, now: MonotonicClock.now)
            perform(actions, run)
        }
    }

    func lookAgain(_ run: Run) {
        run.directory = nil
        run.jobs += 1
        let (id, inbox) = (run.id, inbox)
        Task {
            try? await Task.sleep(for: .milliseconds(200))
            inbox.post(.waitedLongEnough(id))
        }
    }

    func prepareAgain(_ id: DownloadID) {
        guard let run = runs[id] else { return }
        run.jobs -= 1
        if run.hasEnded { closeIfIdle(run) } else { prepare(run) }
    }

    private func standardOutput(_ run: Run) -> StreamSink {
        let system = directories.system
        return StreamSink(
            Descriptor(dup(1), path: "standard output", system: system), system: system,
            digests: Set(run.spec.options.checksums.map(\.algorithm)))
    }

    func setAside(_ run: Run) {
        guard let partial = run.partial else { return }
        run.partial = nil
        run.sink = nil
        // Let go where the next one is claimed: until then it is ours, and must not seem to be another's.
        run.aside = partial
    }

    func startDigests(_ run: Run) {
        run.partial?.startDigests(Set(run.expectedChecksums.map(\.algorithm)))
    }

    // MARK: While it runs

    /// Marks what is written as durable every 32 MiB or 2.5 s, and has the system write back in between.
    func keepDurable(_ range: ByteRange, _ run: Run) {
        guard let partial = run.partial, run.spec.options.syncs else { return }
        run.sinceDurable += range.count
        run.sinceWriteback += range.count
        let now = MonotonicClock.now
        let id = run.id
        if !run.isSyncing,
            run.sinceDurable >= Engine.durableSize
                || now.seconds(since: run.lastDurable) >= Engine.durableTime
        {
            run.isSyncing = true
            run.sinceDurable = 0
            run.sinceWriteback = 0
            run.lastDurable = now
            submit(run) {
                // A failure shows again when the file is published; until then the journal claims no more than holds.
                try? partial.makeDurable()
                return .synced(id)
            }
        } else if run.sinceWriteback >= Engine.writebackSize {
            run.sinceWriteback = 0
            pool.submit {
                partial.startWriteback(ByteRange(max(0, range.upper - Engine.writebackSize), range.upper))
            }
        }
    }

    func restart(_ run: Run) {
        // Transfers that were cancelled may still be writing: their end comes first.
        run.wantsRestart = !run.transfers.isEmpty
        guard !run.wantsRestart, !run.hasEnded else { return }
        // What comes next may be of another size.
        run.storesWhole = false
        run.wholeLength = nil
        let id = run.id
        guard let partial = run.partial else {
            run.jobs += 1
            inbox.post(.restarted(id, nil))
            return
        }
        let header = run.header(named: partial.header.finalName)
        submit(run) {
            do throws(PartialFailure) {
                try partial.restart(header: header)
                return .restarted(id, nil)
            } catch {
                return .restarted(id, DiskErrors.error(error))
            }
        }
    }

    func restarted(_ error: HaulError?, _ run: Run) {
        if let error { return perform(run.machine.diskFailed(error), run) }
        perform(run.machine.restarted(now: MonotonicClock.now), run)
    }

    func compare(_ transfer: TransferID, _ range: ByteRange, _ run: Run) {
        let id = run.id
        guard let partial = run.partial, let sample = run.bytes.removeValue(forKey: transfer) else { return }
        submit(run) { .compared(id, transfer, (try? partial.read(range)) == sample) }
    }

    func compared(_ transfer: TransferID, _ isEqual: Bool, _ run: Run) {
        perform(run.machine.sampleCompared(transfer, isEqual: isEqual, now: MonotonicClock.now), run)
    }

    // MARK: Links

    func refresh(_ source: Int, _ run: Run) {
        let id = run.id
        let command = run.spec.options.refreshCommand
        let url = run.spec.urls[source]
        // Not a job of the run: one that is stopped does not wait for it.
        run.refreshes += 1
        let inbox = inbox
        pool.submit { inbox.post(.refreshed(id, source: source, LinkRefresher.fresh(command, for: url))) }
    }

    /// Half of what a power cut may cost (P3), since bytes come on while the disk is being waited for.
    private static let durableSize: Int64 = 32 << 20
    private static let durableTime = 2.5
    private static let writebackSize: Int64 = 16 << 20
}
