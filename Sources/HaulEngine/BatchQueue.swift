import HaulPlatform

/// Work for the disk that comes in small pieces: a few workers on the pool take what has come meanwhile, all at once.
///
/// Batches grow with the load. Thread-safe.
final class BatchQueue<Item: Sendable>: Sendable {
    private struct State {
        var items: [Item] = []
        var workers = 0
    }

    private let state = Guarded(State())
    private let pool: WorkerPool
    private let mostWorkers: Int
    private let batchSize: Int
    private let work: @Sendable ([Item]) -> Void

    /// `work`: called on threads of the pool, by as many at once as there may be workers.
    init(pool: WorkerPool, workers: Int, batchSize: Int, work: @escaping @Sendable ([Item]) -> Void) {
        self.pool = pool
        mostWorkers = workers
        self.batchSize = batchSize
        self.work = work
    }

    func add(_ item: Item) {
        let needsWorker = state.withLock { state -> Bool in
            state.items.append(item)
            guard state.workers < mostWorkers else { return false }
            state.workers += 1
            return true
        }
        if needsWorker { pool.submit { while let batch = self.takeBatch() { self.work(batch) } } }
    }

    private func takeBatch() -> [Item]? {
        state.withLock { state in
            guard !state.items.isEmpty else {
                state.workers -= 1
                return nil
            }
            let batch = Array(state.items.prefix(batchSize))
            state.items.removeFirst(batch.count)
            return batch
        }
    }
}
