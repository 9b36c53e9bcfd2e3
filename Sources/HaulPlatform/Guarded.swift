import Glibc

/// A value that one thread at a time may touch.
///
/// A pthread mutex and not `Synchronization.Mutex`: the thread sanitizer sees the former, and takes every use of the
/// latter for a race.
///
/// Safe because the value is reached only through `withLock`, and the mutex never moves.
package final class Guarded<Value>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` while no other thread does; not to be called from within itself.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
