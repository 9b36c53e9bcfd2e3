import HaulPlatform

/// What threads tell the engine, in order: taken all at once, so that a busy engine is not woken for each.
///
/// Thread-safe.
final class Inbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var reader: CheckedContinuation<[Message]?, Never>?
        var isFinished = false
    }

    private let state = Guarded(State())

    func post(_ message: Message) {
        let reader = state.withLock { state -> CheckedContinuation<[Message]?, Never>? in
            guard !state.isFinished else { return nil }
            guard let reader = state.reader.take() else {
                state.messages.append(message)
                return nil
            }
            return reader
        }
        reader?.resume(returning: [message])
    }

    /// No message is taken any more; the reader ends once it has read the rest.
    func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }

    /// Everything that came since the last call; `nil` after `finish`.
    ///
    /// One reader at a time.
    func next() async -> [Message]? {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> [Message]?? in
                guard state.messages.isEmpty else {
                    defer { state.messages = [] }
                    return state.messages
                }
                guard !state.isFinished else { return .some(nil) }
                state.reader = continuation
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }
}
