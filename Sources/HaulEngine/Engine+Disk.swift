import Glibc
import HaulCore
import HaulDisk
import HaulPlatform
import HaulTransfer

// What blocks is done on the pool, and answered through the inbox.
extension Engine {
    struct Claim: Sendable {
        var partial: PartialFile?
        var path: String
        var name: String
        var wasThere = false
    }

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
        preparer.add(run.id, preparation)
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
            run.directory = nil
            run.jobs += 1
            let id = run.id
            Task { [weak self] in
                try? await Task.sleep(for: .milliseconds(200))
                await self?.prepareAgain(id)
            }
        case .goOn:
            startDigests(run)
            let actions = run.machine.started(
                found: found.earlier, condition: found.condition, now: MonotonicClock.now)
            perform(actions, run)
        }
    }

    private func prepareAgain(_ id: DownloadID) {
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
        pool.submit { partial.keep() }
    }

    private func startDigests(_ run: Run) {
        run.partial?.startDigests(Set(run.expectedChecksums.map(\.algorithm)))
    }

    // MARK: The name

    func claim(_ transfer: TransferID, _ body: BodyPlan, from url: URLReference, _ run: Run) {
        let id = run.id
        if run.sink is StreamSink {
            run.jobs += 1
            inbox.post(
                .claimed(id, transfer, .success(Claim(partial: nil, path: "", name: "standard output"))))
            return
        }
        guard let directory = run.directory else { return }
        let name = chosenName(body, from: url, run)
        let policy = run.spec.options.ifExists
        let exact = run.keepsName
        let header = run.header(named: run.partial?.header.finalName ?? name)
        let partial = run.partial
        let needed = body.file.codings.isEmpty ? body.file.length : nil
        let known = sameFile(run)
        submit(run) {
            .claimed(
                id, transfer,
                Result { () throws(HaulError) in
                    do throws(PartialFailure) {
                        let taken = TakenName(policy: policy, known: known)
                        if partial == nil, let there = try taken.existing(name, in: directory) {
                            return Claim(partial: nil, path: there, name: name, wasThere: true)
                        }
                        let file: PartialFile
                        if let partial {
                            file = partial
                            try Engine.update(file, header)
                        } else {
                            file = try directory.createPartial(name: name, exactName: exact, header: header)
                        }
                        if let needed { try Engine.reserve(needed, of: file, isNew: partial == nil) }
                        let final = file.header.finalName
                        return Claim(partial: file, path: directory.path(of: final), name: final)
                    } catch {
                        throw DiskErrors.error(error)
                    }
                })
        }
    }

    private func chosenName(_ body: BodyPlan, from url: URLReference, _ run: Run) -> String {
        FileName.choose(
            user: run.userName, disposition: body.file.dispositionName, finalURL: url, firstURL: run.primary,
            mediaType: body.file.mediaType)
    }

    /// Under `auto`, a file that came from the same source and has the same strong validator need not come again.
    private func sameFile(_ run: Run) -> FileOrigin? {
        guard run.spec.options.ifExists == .auto, run.spec.options.resume != .never, let origin = run.origin,
            origin.validator.ifRangeValue() != nil
        else { return nil }
        return origin
    }

    private static func update(_ file: PartialFile, _ header: JournalHeader) throws(PartialFailure) {
        do {
            try file.updateHeader(header)
        } catch {
            throw .system(error)
        }
    }

    /// A partial that was made only to find that there is no room for it leaves nothing behind.
    private static func reserve(_ length: Int64, of file: PartialFile, isNew: Bool) throws(PartialFailure) {
        do {
            try file.reserve(length)
        } catch {
            if isNew { file.discard() }
            throw error
        }
    }

    func claimed(_ transfer: TransferID, _ result: Result<Claim, HaulError>, _ run: Run) {
        switch result {
        case .failure(let error): perform(run.machine.diskFailed(error), run)
        case .success(let claim):
            if let partial = claim.partial {
                run.partial = partial
                run.sink = partial
                startDigests(run)
            }
            guard !run.hasEnded else { return }
            run.claimedName = claim.name
            if run.spec.destination != .standardOutput {
                run.path = claim.path
                tell(.named(run.id, path: claim.path))
            }
            guard !claim.wasThere else { return perform(run.machine.wasThere(), run) }
            perform(run.machine.claimed(transfer, now: MonotonicClock.now), run)
        }
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

    // MARK: The end

    func storeWhole(_ transfer: TransferID, _ body: BodyPlan, from url: URLReference, _ run: Run) {
        // An empty file may have been told by a status alone: there was no body then.
        let bytes = run.bytes.removeValue(forKey: transfer) ?? []
        guard let directory = run.directory else { return }
        if let sink = run.sink as? StreamSink { return writeOut(bytes, sink, run) }
        run.claimedName = chosenName(body, from: url, run)
        run.wholeLength = Int64(bytes.count)
        if let partial = run.partial { return storeInPartial(bytes, partial, run) }
        run.jobs += 1
        // Its bytes are all here: the host can already serve the next one while this one is being published.
        if unpublished < Engine.mostUnpublished {
            unpublished += 1
            run.hasFreedSlot = true
            scheduler.finished(run.id)
        }
        let file = WholeFile(
            bytes: bytes, name: run.claimedName ?? "", policy: run.publishPolicy, origin: run.origin,
            modified: run.modificationTime)
        let policy = run.spec.options.ifExists
        publisher.add(
            WholePublisher.Job(
                id: run.id, directory: directory, file: file, syncs: run.spec.options.syncs,
                expected: run.expectedChecksums,
                taken: TakenName(policy: policy, known: sameFile(run))))
    }

    private func writeOut(_ bytes: [UInt8], _ sink: StreamSink, _ run: Run) {
        let id = run.id
        run.wholeLength = Int64(bytes.count)
        submit(run) {
            do throws(PartialFailure) {
                try Engine.fill(sink, bytes)
                return .verified(id, .success(sink.finishDigests()))
            } catch {
                return .verified(id, .failure(DiskErrors.error(error)))
            }
        }
    }

    /// A partial of an earlier run is there: the small body takes its place.
    private func storeInPartial(_ bytes: [UInt8], _ partial: PartialFile, _ run: Run) {
        let id = run.id
        let expected = run.expectedChecksums
        let header = run.header(named: partial.header.finalName, length: Int64(bytes.count))
        partial.startDigests(Set(expected.map(\.algorithm)))
        run.storesWhole = true
        submit(run) {
            do throws(PartialFailure) {
                try partial.restart(header: header)
                try Engine.fill(partial, bytes)
                return Engine.check(partial, length: Int64(bytes.count), expected, id)
            } catch {
                return .verified(id, .failure(DiskErrors.error(error)))
            }
        }
    }

    private static func fill(_ partial: some ByteSink, _ bytes: [UInt8]) throws(PartialFailure) {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(SystemFailure) in
                guard !buffer.isEmpty else { return }
                try partial.write(buffer, at: 0)
                try partial.commit(ByteRange(0, Int64(buffer.count)))
            }
        }
        if case .failure(let failure) = result { throw .system(failure) }
    }

    func verify(_ length: Int64, _ run: Run) {
        let expected = run.expectedChecksums
        let id = run.id
        guard let partial = run.partial, !expected.isEmpty else {
            let digests = (run.sink as? StreamSink)?.finishDigests() ?? []
            run.jobs += 1
            inbox.post(.verified(id, .success(digests)))
            return
        }
        submit(run) { Engine.check(partial, length: length, expected, id) }
    }

    /// The digests that were computed; whether they are the right ones is decided where the others are known.
    private static func check(
        _ partial: PartialFile, length: Int64, _ expected: [ChecksumValue], _ id: DownloadID
    ) -> Inbound {
        guard !expected.isEmpty else { return .verified(id, .success([])) }
        do throws(SystemFailure) {
            return .verified(id, .success(try partial.finishDigests(length: length)))
        } catch {
            return .verified(id, .failure(DiskErrors.error(error)))
        }
    }

    func verified(_ result: Result<[ChecksumValue], HaulError>, _ run: Run) {
        switch result {
        case .failure(let error): perform(run.machine.diskFailed(error), run)
        case .success(let computed):
            var failure: Failure?
            for expected in run.expectedChecksums where !computed.contains(expected) {
                let other = computed.first { $0.algorithm == expected.algorithm } ?? expected
                failure = ChecksumMismatch.failure(other, expected, run.primary)
            }
            if failure == nil { run.verified = run.expectedChecksums }
            perform(run.machine.verified(failure, now: MonotonicClock.now), run)
        }
    }

    func publish(_ length: Int64, _ run: Run) {
        let id = run.id
        guard let partial = run.partial else {
            run.jobs += 1
            inbox.post(.published(id, .success(run.path ?? "")))
            return
        }
        let length = run.storesWhole ? run.wholeLength ?? length : length
        let policy = run.publishPolicy
        let origin = run.origin
        let modified = run.modificationTime
        let syncs = run.spec.options.syncs
        submit(run) {
            do throws(PartialFailure) {
                let path = try partial.publish(
                    policy: policy, length: length, origin: origin, modified: modified, sync: syncs)
                return .published(id, .success(path))
            } catch {
                return .published(id, .failure(DiskErrors.error(error)))
            }
        }
    }

    func published(_ result: Result<String, HaulError>, _ run: Run) {
        switch result {
        case .failure(let error): perform(run.machine.diskFailed(error), run)
        case .success(let path):
            if run.spec.destination != .standardOutput { run.path = path }
            perform(run.machine.published(), run)
        }
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
    /// Small bodies in memory that wait for the disk while others are fetched: at most 32 MiB together.
    private static let mostUnpublished = 128
    private static let writebackSize: Int64 = 16 << 20
}
