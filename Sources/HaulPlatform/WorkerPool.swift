import Glibc

/// A few threads for calls that block: opening, syncing, renaming, hashing.
///
/// Jobs start in the order they were given.
package final class WorkerPool: Sendable {
    private struct State {
        var jobs: [(@Sendable () -> Void)?] = []
        var head = 0
        var idle = 0
        var threads = 0
        var isClosed = false
    }

    /// Guards `state`'s readers that sleep: a condition needs its own lock.
    private let gate = Gate()
    private let state = Guarded(State())
    private let limit: Int

    /// - Parameter threads: the most that run at once; they are started when there is work for them.
    package init(threads: Int) {
        limit = max(1, threads)
    }

    /// Runs the job on one of the threads.
    ///
    /// Jobs given after `close()` are dropped.
    package func submit(_ job: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state -> Bool? in
            guard !state.isClosed else { return nil }
            state.jobs.append(job)
            guard state.idle == 0, state.threads < limit else { return false }
            state.threads += 1
            return true
        }
        switch needsThread {
        case true?:
            if let thread = try? Thread({ self.work() }) {
                thread.detach()
            } else {
                // No thread to be had: the ones there are do it, or, if there is none, the caller.
                let alone = state.withLock { state -> Bool in
                    state.threads -= 1
                    return state.threads == 0
                }
                if alone { drain() }
            }
        case false?: gate.signal()
        case nil: break
        }
    }

    /// No new jobs; those that wait are still done.
    package func close() {
        state.withLock { $0.isClosed = true }
        gate.signalAll()
    }

    private func work() {
        while true {
            drain()
            let isClosed = state.withLock { state -> Bool in
                if state.isClosed { return true }
                state.idle += 1
                return false
            }
            if isClosed { return }
            gate.wait { state.withLock { $0.isClosed || $0.head < $0.jobs.count } }
            state.withLock { $0.idle -= 1 }
        }
    }

    private func drain() {
        while let job = next() { job() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.head < state.jobs.count else {
                state.jobs.removeAll(keepingCapacity: true)
                state.head = 0
                return nil
            }
            defer { state.head += 1 }
            return state.jobs[state.head].take()
        }
    }
}

/// A condition variable.
///
/// Safe because the two C objects never move and are only handed to pthread calls.
private final class Gate: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func wait(until isReady: () -> Bool) {
        pthread_mutex_lock(mutex)
        while !isReady() { pthread_cond_wait(condition, mutex) }
        pthread_mutex_unlock(mutex)
    }

    func signal() {
        pthread_mutex_lock(mutex)
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    func signalAll() {
        pthread_mutex_lock(mutex)
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }
}
