import HaulCore
import HaulPlatform

/// Runs preparations on the pool, several in one job when they come fast.
///
/// Thread-safe.
final class Preparer: Sendable {
    typealias Result = Swift.Result<Preparation.Found, HaulError>

    private struct State {
        var waiting: [(DownloadID, Preparation)] = []
        var workers = 0
    }

    private let state = Guarded(State())
    private let pool: WorkerPool
    private let deliver: @Sendable ([(DownloadID, Result)]) -> Void

    /// `deliver`: called on a thread of the pool, once a batch.
    init(pool: WorkerPool, deliver: @escaping @Sendable ([(DownloadID, Result)]) -> Void) {
        self.pool = pool
        self.deliver = deliver
    }

    func add(_ id: DownloadID, _ preparation: Preparation) {
        let needsWorker = state.withLock { state -> Bool in
            state.waiting.append((id, preparation))
            guard state.workers < Preparer.mostWorkers else { return false }
            state.workers += 1
            return true
        }
        if needsWorker { pool.submit { self.work() } }
    }

    private func work() {
        while let batch = takeBatch() {
            deliver(
                batch.map { id, preparation in
                    (id, Result { () throws(HaulError) in try preparation.find() })
                })
        }
    }

    private func takeBatch() -> [(DownloadID, Preparation)]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.workers -= 1
                return nil
            }
            let batch = Array(state.waiting.prefix(Preparer.batchSize))
            state.waiting.removeFirst(batch.count)
            return batch
        }
    }

    private static let mostWorkers = 1
    private static let batchSize = 32
}
