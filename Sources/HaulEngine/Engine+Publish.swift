import HaulCore
import HaulDisk
import HaulPlatform

// What is done with bytes that are all there.
extension Engine {
    struct Publication: Sendable {
        var path: String
        /// The very file was there already.
        var wasThere = false
    }

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
        publisher.add(
            WholePublisher.Job(
                id: run.id, directory: directory, file: file, syncs: run.spec.options.syncs,
                expected: run.expectedChecksums, taken: takenName(run)))
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
            inbox.post(.published(id, .success(Publication(path: run.path ?? ""))))
            return
        }
        let length = run.storesWhole ? run.wholeLength ?? length : length
        let policy = run.publishPolicy
        let origin = run.origin
        let modified = run.modificationTime
        let syncs = run.spec.options.syncs
        let taken = takenName(run)
        let wanted = wantedName(run)
        submit(run) {
            do throws(PartialFailure) {
                if wanted != partial.header.finalName,
                    taken.isUnchanged(
                        wanted, in: partial.directory,
                        isCopy: { partial.isCopied(in: wanted, length: length) })
                {
                    partial.discard()
                    return .published(
                        id, .success(Publication(path: partial.directory.path(of: wanted), wasThere: true)))
                }
                let givesWay = try taken.givesWay(partial.header.finalName, in: partial.directory)
                let path = try partial.publish(
                    policy: givesWay ? .replace : policy, length: length, origin: origin, modified: modified,
                    sync: syncs)
                return .published(id, .success(Publication(path: path)))
            } catch {
                return .published(id, .failure(DiskErrors.error(error)))
            }
        }
    }

    /// The name it would have got if that were free.
    private func wantedName(_ run: Run) -> String {
        FileName.choose(
            user: run.userName, disposition: run.machine.file?.dispositionName,
            finalURL: run.machine.sources[0].current, firstURL: run.primary,
            mediaType: run.machine.file?.mediaType)
    }

    func published(_ result: Result<Publication, HaulError>, _ run: Run) {
        switch result {
        case .failure(let error): perform(run.machine.diskFailed(error), run)
        case .success(let publication):
            if run.spec.destination != .standardOutput { run.path = publication.path }
            if publication.wasThere {
                // It was thrown away already.
                run.partial = nil
                run.sink = nil
            }
            perform(publication.wasThere ? run.machine.wasThere() : run.machine.published(), run)
        }
    }

    /// Small bodies in memory that wait for the disk while others are fetched: at most 32 MiB together.
    private static let mostUnpublished = 128
}
