import HaulCore
import HaulDisk
import HaulPlatform

/// Publishes whole small bodies in batches: durability does not cost a disk flush a file.
///
/// Files that come while a batch is being synced form the next one, so that batches grow with the load. Thread-safe.
final class WholePublisher: Sendable {
    struct Job: Sendable {
        var id: DownloadID
        var directory: TargetDirectory
        var file: WholeFile
        var syncs: Bool
        var expected: [ChecksumValue]
        var taken: TakenName
    }

    enum Outcome: Sendable {
        case published(path: String, verified: [ChecksumValue])
        case wasThere(path: String)
        case mismatch(ChecksumValue, expected: ChecksumValue)
        case failed(PartialFailure)
    }

    private struct State {
        var jobs: [Job] = []
        var workers = 0
    }

    private let state = Guarded(State())
    private let pool: WorkerPool
    private let deliver: @Sendable ([(DownloadID, Outcome)]) -> Void

    /// `deliver`: called on a thread of the pool, once a batch.
    init(pool: WorkerPool, deliver: @escaping @Sendable ([(DownloadID, Outcome)]) -> Void) {
        self.pool = pool
        self.deliver = deliver
    }

    func add(_ job: Job) {
        let needsWorker = state.withLock { state -> Bool in
            state.jobs.append(job)
            guard state.workers < WholePublisher.mostWorkers else { return false }
            state.workers += 1
            return true
        }
        if needsWorker { pool.submit { self.work() } }
    }

    private func work() {
        while let batch = takeBatch() { deliver(publish(batch)) }
    }

    private func takeBatch() -> [Job]? {
        state.withLock { state in
            guard !state.jobs.isEmpty else {
                state.workers -= 1
                return nil
            }
            let batch = Array(state.jobs.prefix(WholePublisher.batchSize))
            state.jobs.removeFirst(batch.count)
            return batch
        }
    }

    private func publish(_ batch: [Job]) -> [(DownloadID, Outcome)] {
        var outcomes: [(DownloadID, Outcome)] = []
        var groups: [ObjectIdentifier: [(job: Job, verified: [ChecksumValue])]] = [:]
        for var job in batch {
            switch check(&job) {
            case .success(let verified):
                groups[ObjectIdentifier(job.directory), default: []].append((job, verified))
            case .failure(let early): outcomes.append((job.id, early.outcome))
            }
        }
        for group in groups.values {
            guard let directory = group.first?.job.directory else { continue }
            let syncs = group.contains { $0.job.syncs }
            let results = directory.publishWhole(batch: group.map(\.job.file), sync: syncs)
            for (entry, result) in zip(group, results) {
                outcomes.append((entry.job.id, outcome(entry.job, entry.verified, result)))
            }
        }
        return outcomes
    }

    private struct Early: Error {
        var outcome: Outcome
    }

    /// Digests, and a name that is taken already.
    private func check(_ job: inout Job) -> Result<[ChecksumValue], Early> {
        if !job.expected.isEmpty {
            let computed = FileDigest.compute(job.file.bytes, algorithms: Set(job.expected.map(\.algorithm)))
            for expected in job.expected {
                guard let value = computed.first(where: { $0.algorithm == expected.algorithm }),
                    value == expected
                else {
                    let other = computed.first { $0.algorithm == expected.algorithm } ?? expected
                    return .failure(Early(outcome: .mismatch(other, expected: expected)))
                }
            }
        }
        do throws(PartialFailure) {
            switch try job.taken.look(job.file.name, in: job.directory) {
            case .suffices(let path): return .failure(Early(outcome: .wasThere(path: path)))
            case .givesWay: job.file.policy = .replace
            case .free: break
            }
        } catch {
            return .failure(Early(outcome: .failed(error)))
        }
        return .success(job.expected)
    }

    private func outcome(
        _ job: Job, _ verified: [ChecksumValue], _ result: Result<String, PartialFailure>
    ) -> Outcome {
        switch result {
        case .success(let path): .published(path: path, verified: verified)
        case .failure(let failure): .failed(failure)
        }
    }

    private static let mostWorkers = 2
    private static let batchSize = 64
}
