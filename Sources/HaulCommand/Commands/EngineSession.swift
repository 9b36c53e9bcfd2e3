package import HaulCore
package import HaulEngine
import HaulPlatform

/// An engine with the place in its events, and the signal that stopped it, if one did.
package struct EngineSession<Engine: DownloadEngine> {
    package let engine: Engine
    private var events: AsyncStream<[EngineEvent]>.Iterator
    private let interruption = Interruption()
    private let listener: Task<Void, Never>

    /// `signals`: The first one shuts the engine down; what runs then ends as interrupted.
    package init(engine: Engine, signals: AsyncStream<Int32>) {
        self.engine = engine
        events = engine.events.makeAsyncIterator()
        listener = Task { [interruption] in
            for await signal in signals {
                interruption.signal.withLock { $0 = $0 ?? signal }
                await engine.shutdown(
                    because: HaulError(.interrupted, "interrupted", advice: "run again to continue"))
            }
        }
    }

    /// The signal that was taken.
    package var signal: Int32? { interruption.signal.withLock { $0 } }

    /// The next events; `nil` once the engine is shut down.
    package mutating func next() async -> [EngineEvent]? { await events.next() }

    /// Does one download to its end, alone.
    package mutating func fetch(_ spec: DownloadSpec) async throws(HaulError) -> DownloadResult {
        let id = await engine.add([spec])[0]
        while let events = await next() {
            for event in events {
                switch event {
                case .finished(id, let result): return result
                case .failed(id, let error): throw error
                default: break
                }
            }
        }
        throw HaulError(.interrupted, "interrupted")
    }

    package func close(because error: HaulError) async {
        listener.cancel()
        await engine.shutdown(because: error)
    }
}

private final class Interruption: Sendable {
    let signal = Guarded<Int32?>(nil)
}
