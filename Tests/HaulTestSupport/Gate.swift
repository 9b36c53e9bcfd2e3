import Glibc

/// Opens once, for all who wait: a script holds back what it sends until the test has seen what it wanted.
///
/// A test opens it at its end at the latest (`defer`), or the server that waits could not be stopped.
package final class Gate: Sendable {
    private let entrance: Int32
    private let exit: Int32

    package init() {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        entrance = ends[0]
        exit = ends[1]
    }

    deinit {
        close(entrance)
        close(exit)
    }

    /// One byte that nobody takes: who polls the pipe sees it, now and later.
    package func open() {
        var byte: UInt8 = 1
        write(exit, &byte, 1)
    }

    /// Blocks the thread until the gate is open.
    package func wait() {
        var poll = pollfd(fd: entrance, events: Int16(POLLIN), revents: 0)
        while Glibc.poll(&poll, 1, -1) < 0, errno == EINTR {}
    }
}
