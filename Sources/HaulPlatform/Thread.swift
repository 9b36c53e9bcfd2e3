import Glibc

/// A thread that runs one closure to its end; to be joined or detached.
package final class Thread: Sendable {
    private final class Start {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private let handle: pthread_t

    /// - Throws: `SystemFailure` when the system has no thread to give.
    package init(_ body: @escaping @Sendable () -> Void) throws(SystemFailure) {
        let start = Unmanaged.passRetained(Start(body))
        var handle = pthread_t()
        let code = pthread_create(
            &handle, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Start>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, start.toOpaque())
        guard code == 0 else {
            start.release()
            throw SystemFailure(code: code, call: "pthread_create")
        }
        self.handle = handle
    }

    /// Blocks the calling thread for a millisecond.
    package static func pauseBriefly() { usleep(1000) }

    /// Lets the thread's memory go with its end; instead of `join`, for one that nobody waits for.
    package func detach() {
        pthread_detach(handle)
    }

    /// Waits for the end; once, and not from the thread itself.
    package func join() {
        pthread_join(handle, nil)
    }
}
