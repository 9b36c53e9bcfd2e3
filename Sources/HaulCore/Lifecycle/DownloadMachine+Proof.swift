// Whether bytes of an earlier run, or of another source, are bytes of the same file.
extension DownloadMachine {
    /// Bytes of an earlier run were found: what may be done with them.
    mutating func resumed(_ found: Found, length: Int64) -> [DownloadAction] {
        let isStrong = found.facts.validator.ifRangeValue() != nil
        let mayTry =
            switch configuration.resume {
            case .never: false
            case .strict: isStrong || configuration.hasChecksum
            case .overlap, .length: true
            }
        guard mayTry, found.facts.hasRanges, !found.done.isEmpty, configuration.isPlainGet,
            configuration.window == nil, !configuration.isStream
        else { return beginAgain(.notice(.restarted(reason(found)))) }
        file = found.facts
        plan = SegmentPlan(length: length, done: found.done)
        condition = nil
        sources[0].validator = isStrong ? found.facts.validator : nil
        let resumed = DownloadAction.notice(.resumed(from: found.done.count))
        if plan?.isComplete == true { return [resumed] + verify() }
        phase = .fetching
        if !isStrong, !configuration.hasChecksum, configuration.resume == .overlap {
            sources[0].trust = .proving(samples())
        }
        return [resumed, .state(.downloading)]
    }

    private func reason(_ found: Found) -> String {
        if configuration.resume == .never { return "as --resume never asks" }
        if found.done.isEmpty { return "nothing of the earlier run can be trusted" }
        if !found.facts.hasRanges { return "the server could not resume" }
        return "the server gave nothing to recognise the file by"
    }

    mutating func beginProof(of index: Int) {
        guard !configuration.hasChecksum, configuration.resume != .length, sources[index].validator == nil
        else {
            return
        }
        sources[index].trust = .proving(samples())
    }

    /// Where nothing recognises the file, each further request is preceded by a proof that it still is the same.
    mutating func askForProof(of index: Int) {
        guard sources[index].trust == .trusted, !isRecognisable, !configuration.isStream, done > 0,
            running.isEmpty
        else { return }
        guard !sources[index].isFreshlyProven else {
            sources[index].isFreshlyProven = false
            return
        }
        sources[index].trust = .proving(samples())
        sources[index].validator = nil
    }

    /// Start, middle and end of what is on disk.
    private func samples() -> [ByteRange] {
        guard let ranges = plan?.done.ranges, let first = ranges.first, let last = ranges.last else {
            return []
        }
        let size = DownloadMachine.proofSize
        let middle = ranges[ranges.count / 2]
        let centre = middle.lower + max(0, (middle.count - size) / 2)
        let all = [
            ByteRange(first.lower, min(first.upper, first.lower + size)),
            ByteRange(centre, min(middle.upper, centre + size)),
            ByteRange(max(last.lower, last.upper - size), last.upper),
        ]
        return all.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    mutating func sampled(_ id: TransferID, _ body: BodyPlan, _ run: Running) -> [DownloadAction] {
        guard let range = run.work.expectation.range, case .proving = sources[run.work.source].trust else {
            return []
        }
        let index = run.work.source
        if let ours = file?.validator.lastModified, let theirs = body.file.validator.lastModified,
            ours != theirs,
            sources.count == 1
        {
            return startOver("its modification time is another")
        }
        comparing[index] = id
        sources[index].sampledValidator = body.file.validator
        return [.compare(id, range)]
    }

    /// A sample was compared with the disk; `nil`: the disk could not be read or the sample was short.
    package mutating func sampleCompared(_ id: TransferID, isEqual: Bool, now: Instant) -> [DownloadAction] {
        guard let index = comparing.first(where: { $0.value == id })?.key else { return [] }
        comparing[index] = nil
        guard phase == .fetching, case .proving(let samples) = sources[index].trust else { return [] }
        guard isEqual else { return differs(index, now: now) }
        let rest = Array(samples.dropFirst())
        guard rest.isEmpty else {
            sources[index].trust = .proving(rest)
            return []
        }
        sources[index].trust = .trusted
        sources[index].isFreshlyProven = true
        // One that is known by its validator was only asked whether it lives.
        guard sources[index].validator == nil else { return fetchOn(now: now) }
        sources[index].validator = sources[index].sampledValidator
        let isFirst = !usedSamples
        usedSamples = true
        return (isFirst ? [.notice(.identityBySample)] : []) + fetchOn(now: now)
    }

    private mutating func differs(_ index: Int, now: Instant) -> [DownloadAction] {
        // A mirror that differs is no reason to doubt what the first source, still to be asked, may have given.
        let others = sources.indices.filter { $0 != index && isUsable($0) }
        guard !others.contains(where: { sources[$0].trust == .trusted }), index == 0 || !others.contains(0)
        else {
            let error = HaulError(
                .mirrorDiffers, "\(sources[index].given.redacted) has other bytes than the other sources")
            return lose(index, error, now: now)
        }
        return startOver("its bytes are not those of the earlier run")
    }
}
