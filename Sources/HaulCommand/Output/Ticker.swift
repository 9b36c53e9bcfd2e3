package import HaulEngine

/// Looks at the progress at a steady pace, but only while something is running.
package actor Ticker {
    private let interval: Double
    private let samples: @Sendable () async -> [DownloadSample]
    private let show: @Sendable ([DownloadSample]) async -> Void
    private var task: Task<Void, Never>?
    private var wasWoken = false

    /// `interval`: Seconds, at least 0.1.
    package init(
        interval: Double, samples: @escaping @Sendable () async -> [DownloadSample],
        show: @escaping @Sendable ([DownloadSample]) async -> Void
    ) {
        self.interval = interval
        self.samples = samples
        self.show = show
    }

    /// Something started to run.
    package func wake() {
        wasWoken = true
        if task == nil { task = Task { await self.run() } }
    }

    package func stop() async {
        let running = task
        running?.cancel()
        await running?.value
    }

    private func run() async {
        while !Task.isCancelled {
            wasWoken = false
            // The first look is one interval late, so that quick downloads cost nothing here.
            guard (try? await Task.sleep(for: .seconds(interval))) != nil else { break }
            let samples = await samples()
            guard !Task.isCancelled else { break }
            await show(samples)
            if !wasWoken, !samples.contains(where: ProgressRenderer.isRunning) { break }
        }
        task = nil
    }
}
