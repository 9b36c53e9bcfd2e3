import HaulDisk
import HaulPlatform

/// The directories that downloads go to, opened once each.
///
/// Thread-safe.
final class DirectoryCache: Sendable {
    private let open = Guarded<[String: TargetDirectory]>([:])
    let system: any SystemCalls

    init(system: any SystemCalls) {
        self.system = system
    }

    /// Opens (and makes) a directory; blocks.
    func open(_ path: String) throws(SystemFailure) -> TargetDirectory {
        if let known = open.withLock({ $0[path] }) { return known }
        let made = try TargetDirectory.open(path, creating: true, system: system)
        return open.withLock { open in
            // Two jobs may have come here at once: all must share one index.
            if let known = open[path] { return known }
            open[path] = made
            return made
        }
    }

    func isDirectory(_ path: String) -> Bool {
        guard open.withLock({ $0[path] }) == nil else { return true }
        return (try? TargetDirectory.open(path, creating: false, system: system)) != nil
    }
}
