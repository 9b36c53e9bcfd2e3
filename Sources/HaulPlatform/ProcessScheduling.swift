import Glibc

/// How the kernel shares the cores among the threads of this process (sched(7)).
package enum ProcessScheduling {
    /// Has threads that wake up wait for their turn instead of pushing others off their core.
    ///
    /// Threads hand one another a piece of work for every small file; with the usual policy each piece costs a switch.
    /// For threads that are made later, and programs that are started, too; not for a library to choose. Where it is
    /// refused, and where the user chose another policy, nothing changes.
    package static func preferThroughput() {
        guard sched_getscheduler(0) == SCHED_OTHER else { return }
        var parameters = sched_param(sched_priority: 0)
        _ = sched_setscheduler(0, batch, &parameters)
    }

    /// `SCHED_BATCH`, which the Glibc module leaves out.
    private static let batch: Int32 = 3
}
