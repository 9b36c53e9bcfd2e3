import HaulPlatform
import Synchronization

/// Lets one `fsync` of a directory serve everybody who waits for it.
final class GroupCommit: Sendable {
    /// Changes that want to be on disk, counted.
    private let wanted = Atomic<UInt64>(0)
    /// How many of them are.
    ///
    /// Held while the disk works, so that whoever comes meanwhile waits here.
    private let done = Guarded<UInt64>(0)

    /// Blocks until every change made before this call is on disk.
    func sync(_ directory: Descriptor, system: any SystemCalls) throws(SystemFailure) {
        let mine = wanted.add(1, ordering: .acquiringAndReleasing).newValue
        try done.withLock { (done) throws(SystemFailure) in
            if done >= mine { return }
            let all = wanted.load(ordering: .acquiring)
            try system.sync(directory)
            done = all
        }
    }
}
