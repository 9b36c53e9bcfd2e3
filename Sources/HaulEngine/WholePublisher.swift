import HaulCore
import HaulDisk
import HaulPlatform

/// Publishes whole small bodies in batches: durability does not cost a disk flush a file.
///
/// Blocking.
enum WholePublisher {
    struct Job: Sendable {
        var id: DownloadID
        var directory: TargetDirectory
        var file: WholeFile
        var syncs: Bool
        var expected: [ChecksumValue]
        var taken: TakenName

        /// Whether to look before the name is asked for: where it is mostly free, that it is taken shows soon enough.
        var looksFirst: Bool { taken.isLikely || file.policy == .replace }
    }

    enum Outcome: Sendable {
        case published(path: String, verified: [ChecksumValue])
        case wasThere(path: String)
        case mismatch(ChecksumValue, expected: ChecksumValue)
        case failed(PartialFailure)
    }

    static func publish(_ batch: [Job]) -> [(DownloadID, Outcome)] {
        var outcomes: [(DownloadID, Outcome)] = []
        var groups: [ObjectIdentifier: [Job]] = [:]
        for var job in batch {
            if let early = mismatch(job) ?? (job.looksFirst ? taken(&job) : nil) {
                outcomes.append((job.id, early))
            } else {
                groups[ObjectIdentifier(job.directory), default: []].append(job)
            }
        }
        for group in groups.values { publish(group, into: &outcomes) }
        return outcomes
    }

    /// Files that go into one directory: first under the very name they want, and where that is taken, as was decided
    /// for that case.
    private static func publish(_ group: [Job], into outcomes: inout [(DownloadID, Outcome)]) {
        var late: [Job] = []
        let files = group.map { job in
            var file = job.file
            if !job.looksFirst, file.policy == .rename { file.policy = .yield }
            return file
        }
        for (job, result) in zip(group, written(files, group)) {
            if case .failure(.nameTaken) = result, !job.looksFirst {
                var job = job
                if let early = taken(&job) { outcomes.append((job.id, early)) } else { late.append(job) }
            } else {
                outcomes.append((job.id, outcome(job, result)))
            }
        }
        guard !late.isEmpty else { return }
        for (job, result) in zip(late, written(late.map(\.file), late)) {
            outcomes.append((job.id, outcome(job, result)))
        }
    }

    private static func written(_ files: [WholeFile], _ group: [Job]) -> [Result<String, PartialFailure>] {
        group[0].directory.publishWhole(batch: files, sync: group.contains(where: \.syncs))
    }

    private static func mismatch(_ job: Job) -> Outcome? {
        guard !job.expected.isEmpty else { return nil }
        let computed = FileDigest.compute(job.file.bytes, algorithms: Set(job.expected.map(\.algorithm)))
        for expected in job.expected {
            let value = computed.first { $0.algorithm == expected.algorithm }
            if value != expected { return .mismatch(value ?? expected, expected: expected) }
        }
        return nil
    }

    /// What becomes of a job whose name is taken; `nil`: it is published, as its policy says then.
    private static func taken(_ job: inout Job) -> Outcome? {
        do throws(PartialFailure) {
            switch try job.taken.look(job.file.name, in: job.directory) {
            case .suffices(let path): return .wasThere(path: path)
            case .givesWay: job.file.policy = .replace
            case .free:
                let (name, bytes) = (job.file.name, job.file.bytes)
                guard
                    job.taken.isUnchanged(
                        name, in: job.directory, isCopy: { job.directory.holds(bytes, in: name) })
                else { break }
                return .wasThere(path: job.directory.path(of: name))
            }
            return nil
        } catch {
            return .failed(error)
        }
    }

    private static func outcome(_ job: Job, _ result: Result<String, PartialFailure>) -> Outcome {
        switch result {
        case .success(let path): .published(path: path, verified: job.expected)
        case .failure(let failure): .failed(failure)
        }
    }
}
