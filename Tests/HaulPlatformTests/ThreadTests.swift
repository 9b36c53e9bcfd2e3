import HaulPlatform
import HaulTestSupport
import Testing

@Suite("Threads")
struct ThreadTests {
    @Test("a guarded value sees every change, whoever makes it")
    func guarded() throws {
        let sum = Guarded(0)
        let threads = try (0..<8).map { _ in
            try Thread { for _ in 0..<2000 { sum.withLock { $0 += 1 } } }
        }
        for thread in threads { thread.join() }
        #expect(sum.withLock { $0 } == 16_000)
    }

    @Test("what fails under a lock is thrown, and leaves it open")
    func failing() {
        let value = Guarded(1)
        #expect(throws: SystemFailure.self) {
            try value.withLock { (value) throws(SystemFailure) in
                value = 2
                throw SystemFailure(code: 5, call: "write")
            }
        }
        #expect(value.withLock { $0 } == 2)
    }

    @Test("jobs of one thread are done in their order")
    func order() {
        let pool = WorkerPool(threads: 1)
        let done = Guarded<[Int]>([])
        let end = Gate()
        for number in 0..<500 { pool.submit { done.withLock { $0.append(number) } } }
        pool.submit { end.open() }
        end.wait()
        #expect(done.withLock { $0 } == Array(0..<500))
        pool.close()
    }

    @Test("as many jobs run at once as there are threads: one that blocks holds up no other")
    func together() {
        let pool = WorkerPool(threads: 3)
        let gates = (0..<3).map { _ in Gate() }
        let end = Gate()
        // Each waits for the next one to have begun.
        pool.submit {
            gates[0].wait()
            end.open()
        }
        pool.submit {
            gates[1].wait()
            gates[0].open()
        }
        pool.submit { gates[1].open() }
        end.wait()
        pool.close()
    }

    @Test("no more run at once than there are threads")
    func limit() {
        let pool = WorkerPool(threads: 4)
        let state = Guarded((now: 0, most: 0, left: 400))
        let end = Gate()
        for _ in 0..<400 {
            pool.submit {
                state.withLock { state in
                    state.now += 1
                    state.most = max(state.most, state.now)
                }
                let isLast = state.withLock { state in
                    state.now -= 1
                    state.left -= 1
                    return state.left == 0
                }
                if isLast { end.open() }
            }
        }
        end.wait()
        #expect((1...4).contains(state.withLock { $0.most }))
        pool.close()
    }

    @Test("a closed pool does what it has, and takes nothing more")
    func closed() {
        let pool = WorkerPool(threads: 1)
        let began = Gate()
        let goOn = Gate()
        let end = Gate()
        let late = Guarded(false)
        pool.submit {
            began.open()
            goOn.wait()
        }
        pool.submit { end.open() }
        began.wait()
        pool.close()
        pool.submit { late.withLock { $0 = true } }
        goOn.open()
        end.wait()
        #expect(!late.withLock { $0 })
    }
}
