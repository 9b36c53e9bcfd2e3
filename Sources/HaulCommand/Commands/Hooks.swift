package import HaulCore
package import HaulEngine
import HaulPlatform

/// Runs the programs of `--on-finished` and `--on-failed`: without a shell, with a clean environment.
package actor Hooks {
    /// What runs a program; its result is the exit status.
    package typealias Run = @Sendable ([String], [String: String]) async -> Result<Int32, HaulError>

    /// Variables of our own environment that programs need to work at all.
    private static let kept = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "TMPDIR",
        "DISPLAY",
        "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
    ]
    private static let largestAtOnce = 4

    /// Whether there is any program to run.
    package nonisolated let areSet: Bool
    private let onFinished: [String]?
    private let onFailed: [String]?
    private let base: [String: String]
    private let execute: Run
    private let warn: @Sendable (String) async -> Void
    private var running = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// `onFinished`: The words of the command.
    ///
    /// `warn`: Told when a program fails.
    package init(
        onFinished: [String]?, onFailed: [String]?, environment: (String) -> String?,
        execute: @escaping Run = Hooks.execute, warn: @escaping @Sendable (String) async -> Void
    ) {
        areSet = onFinished != nil || onFailed != nil
        self.onFinished = onFinished
        self.onFailed = onFailed
        self.execute = execute
        self.warn = warn
        base = Dictionary(
            uniqueKeysWithValues: Hooks.kept.compactMap { name in environment(name).map { (name, $0) } })
    }

    /// `url`: Redacted.
    package func finished(_ url: String, _ result: DownloadResult) async {
        guard let onFinished else { return }
        let own = [
            "HAUL_EVENT": "finished", "HAUL_URL": url, "HAUL_PATH": result.path ?? "-",
            "HAUL_LENGTH": String(result.length),
        ]
        await start(onFinished, "--on-finished", own)
    }

    package func failed(_ url: String, _ error: HaulError, path: String?) async {
        guard let onFailed else { return }
        let own = [
            "HAUL_EVENT": "failed", "HAUL_URL": url, "HAUL_PATH": path ?? "",
            "HAUL_CODE": error.code.rawValue,
            "HAUL_ERROR": DisplayText.safe(error.message), "HAUL_STATUS": String(ExitStatus.of(error.code)),
        ]
        await start(onFailed, "--on-failed", own)
    }

    /// Waits until no program runs.
    package func drain() async {
        while running > 0 { await withCheckedContinuation { waiting.append($0) } }
    }

    /// Starts a program; waits only while too many run already.
    private func start(_ words: [String], _ option: String, _ own: [String: String]) async {
        while running >= Hooks.largestAtOnce { await withCheckedContinuation { waiting.append($0) } }
        running += 1
        let environment = base.merging(own) { $1 }
        let (execute, warn) = (execute, warn)
        Task.detached {
            switch await execute(words, environment) {
            case .success(0): break
            case .success(let status): await warn("the \(option) program ended with status \(status)")
            case .failure(let error): await warn("the \(option) program could not be run: \(error.message)")
            }
            await self.ended()
        }
    }

    private func ended() {
        running -= 1
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    @Sendable package static func execute(
        _ words: [String], _ environment: [String: String]
    ) async -> Result<Int32, HaulError> {
        await BlockingThread.run {
            do throws(SystemFailure) {
                return .success(
                    try ChildProcess.run(
                        arguments: words, environment: environment, captureOutput: false, timeout: nil
                    ).status)
            } catch {
                return .failure(HaulError(.hookFailed, "\(words.first ?? ""): \(error.reason)"))
            }
        }
    }
}
