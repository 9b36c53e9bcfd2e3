import HaulCore
import HaulDisk
import HaulPlatform

// How a download comes by its name and its partial file.
extension Engine {
    struct Claim: Sendable {
        var partial: PartialFile?
        var path: String
        var name: String
        var wasThere = false
        /// Another download, worth waiting for, writes that file.
        var isHeld = false
    }

    func claim(
        _ transfer: TransferID, _ body: BodyPlan, from url: URLReference, empties: Bool, _ run: Run
    ) {
        let id = run.id
        if run.sink is StreamSink {
            run.jobs += 1
            inbox.post(
                .claimed(id, transfer, .success(Claim(partial: nil, path: "", name: "standard output"))))
            return
        }
        guard let directory = run.directory else { return }
        let name = chosenName(body, from: url, run)
        let exact = run.keepsName
        let header = run.header(named: run.partial?.header.finalName ?? name)
        let partial = run.partial
        let aside = run.aside
        run.aside = nil
        let needed = body.file.codings.isEmpty ? body.file.length : nil
        let taken = takenName(run)
        let waits = run.spec.options.waitsForLock
        if empties {
            run.storesWhole = false
            run.wholeLength = nil
        }
        submit(run) {
            aside?.keep()
            return .claimed(
                id, transfer,
                Result { () throws(HaulError) in
                    do throws(PartialFailure) {
                        let finding = partial == nil ? try taken.look(name, in: directory) : .free
                        if case .suffices(let there) = finding {
                            return Claim(partial: nil, path: there, name: name, wasThere: true)
                        }
                        let file: PartialFile
                        if let partial {
                            file = partial
                            if empties { try file.restart(header: header) }
                            try Engine.update(file, header)
                        } else {
                            file = try directory.createPartial(
                                name: name, exactName: exact || finding == .givesWay, header: header)
                        }
                        if let needed { try Engine.reserve(needed, of: file, isNew: partial == nil) }
                        let final = file.header.finalName
                        return Claim(partial: file, path: directory.path(of: final), name: final)
                    } catch {
                        if case .busy(let pid) = error, waits || pid == directory.processID {
                            return Claim(partial: nil, path: "", name: name, isHeld: true)
                        }
                        throw DiskErrors.error(error)
                    }
                })
        }
    }

    func takenName(_ run: Run) -> TakenName {
        var taken = TakenName(
            policy: run.spec.options.ifExists, known: sameFile(run), isLikely: run.isNameTaken)
        guard run.spec.options.ifExists == .auto, run.spec.options.resume != .never,
            run.origin != nil
        else { return taken }
        taken.sources = run.digests
        taken.checksums = run.spec.options.checksums
        taken.outdatedName = run.outdatedName
        return taken
    }

    func chosenName(_ body: BodyPlan, from url: URLReference, _ run: Run) -> String {
        FileName.choose(
            user: run.userName, disposition: body.file.dispositionName, finalURL: url, firstURL: run.primary,
            mediaType: body.file.mediaType)
    }

    /// Under `auto`, a file that came from the same source and has the same strong validator need not come again.
    func sameFile(_ run: Run) -> FileOrigin? {
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
            guard !claim.isHeld else { return perform(run.machine.claimIsHeld(transfer), run) }
            run.claimedName = claim.name
            if run.spec.destination != .standardOutput {
                run.path = claim.path
                tell(.named(run.id, path: claim.path))
            }
            guard !claim.wasThere else { return perform(run.machine.wasThere(), run) }
            perform(run.machine.claimed(transfer, now: MonotonicClock.now), run)
        }
    }
}
