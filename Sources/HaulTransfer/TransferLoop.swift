import CCurl
package import HaulPlatform

/// One thread that runs all transfers through one libcurl multi handle.
///
/// Commands go in through a mailbox, events come out in batches; no handle of libcurl leaves the thread.
package final class TransferLoop: Sendable {
    private struct Mailbox {
        var commands: [TransferCommand] = []
        /// False once the multi handle may be gone: `curl_multi_wakeup` must not race `curl_multi_cleanup`.
        var isOpen = true
        var isClosing = false
    }

    private let mailbox = Guarded(Mailbox())
    /// The address of the multi handle; only the thread dereferences it, but for the wake-up, which is thread-safe.
    private let address: UInt
    private let thread: Guarded<Thread?>

    /// - Parameter deliver: called on the transfer thread with each batch of events; must not block.
    /// - Throws: `SystemFailure` when there is no memory or no thread to be had.
    package init(deliver: @escaping @Sendable ([TransferEvent]) -> Void) throws(SystemFailure) {
        guard TransferLoop.isReady, let multi = curl_multi_init() else {
            throw SystemFailure(code: 12, call: "curl_multi_init")
        }
        address = UInt(bitPattern: multi)
        thread = Guarded(nil)
        let started = try Thread { [self] in run(deliver) }
        thread.withLock { $0 = started }
    }

    package func post(_ command: TransferCommand) { post(CollectionOfOne(command)) }

    /// Thread-safe; ignored after `close()`.
    package func post(_ commands: some Collection<TransferCommand>) {
        mailbox.withLock { mailbox in
            guard mailbox.isOpen, !mailbox.isClosing, !commands.isEmpty else { return }
            let wasEmpty = mailbox.commands.isEmpty
            mailbox.commands.append(contentsOf: commands)
            if wasEmpty { wake() }
        }
    }

    /// Ends every transfer (each still reports `.cancelled`) and waits for the thread.
    ///
    /// Not from `deliver`.
    package func close() {
        let isFirst = mailbox.withLock { mailbox -> Bool in
            guard !mailbox.isClosing else { return false }
            mailbox.isClosing = true
            wake()
            return true
        }
        if isFirst { thread.withLock { $0.take() }?.join() }
    }

    private func wake() {
        curl_multi_wakeup(UnsafeMutableRawPointer(bitPattern: address))
    }

    private func run(_ deliver: @Sendable ([TransferEvent]) -> Void) {
        guard let multi = UnsafeMutableRawPointer(bitPattern: address) else { return }
        let state = LoopState(multi: multi)
        while true {
            let (commands, isClosing) = mailbox.withLock { mailbox in
                let commands = mailbox.commands
                mailbox.commands.removeAll()
                return (commands, mailbox.isClosing)
            }
            for command in commands { state.carryOut(command) }
            if isClosing { break }
            state.turn()
            let batch = state.takeBatch()
            if !batch.isEmpty { deliver(batch) }
            var ready: Int32 = 0
            curl_multi_poll(multi, nil, 0, state.pollTimeout, &ready)
            state.isQuiet = ready == 0
        }
        state.close()
        let batch = state.takeBatch()
        if !batch.isEmpty { deliver(batch) }
        mailbox.withLock { $0.isOpen = false }
        curl_multi_cleanup(multi)
    }

    /// libcurl's global state is made once, before any thread uses it (curl_global_init(3)).
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
}
