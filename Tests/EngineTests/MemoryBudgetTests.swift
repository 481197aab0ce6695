import Synchronization
import Testing

@testable import Engine
@testable import System

@Suite struct MemoryBudgetTests {
    /// The names of those that have got memory so far.
    private final class Log: Sendable {
        private let names = Mutex<[String]>([])
        func add(_ name: String) { names.withLock { $0.append(name) } }
        var all: [String] { names.withLock { $0 } }
    }

    /// Long enough for a thread to have asked for memory.
    private func pause() async throws { try await Task.sleep(for: .milliseconds(250)) }

    @Test func `small ones run together until the budget is used up`() async throws {
        let budget = MemoryBudget(bytes: 100)
        let log = Log()
        for _ in 0..<3 { budget.acquire(30) }
        async let fourth: Void = onNewThread {
            budget.acquire(30)
            log.add("fourth")
        }
        try await pause()
        #expect(log.all == [])
        budget.release(30)
        try await fourth
        #expect(log.all == ["fourth"])
    }

    @Test func `a large one waits its turn and is not overtaken by small ones that would fit`() async throws {
        let budget = MemoryBudget(bytes: 100)
        let log = Log()
        budget.acquire(60)
        async let large: Void = onNewThread {
            budget.acquire(90)
            log.add("large")
            budget.release(90)
        }
        try await pause()
        async let small: Void = onNewThread {
            // It fits beside the first, but not beside the large one.
            budget.acquire(20)
            log.add("small")
        }
        try await pause()
        #expect(log.all == [])
        budget.release(60)
        try await large
        try await small
        #expect(log.all == ["large", "small"])
    }

    @Test func `one that is larger than the whole budget runs alone`() async throws {
        let budget = MemoryBudget(bytes: 100)
        let log = Log()
        budget.acquire(5000)
        async let small: Void = onNewThread {
            budget.acquire(1)
            log.add("small")
        }
        try await pause()
        #expect(log.all == [])
        budget.release(5000)
        try await small
        budget.release(1)
        budget.acquire(100)
        #expect(log.all == ["small"])
    }

    @Test
    func `a raised budget lets a waiter go on; of a lowered one nothing is given out before enough has come back`()
        async throws
    {
        let budget = MemoryBudget(bytes: 100)
        let log = Log()
        budget.acquire(80)
        async let second: Void = onNewThread {
            budget.acquire(50)
            log.add("second")
        }
        try await pause()
        #expect(log.all == [])
        budget.set(total: 130)
        try await second
        #expect(budget.reserved == 130)
        budget.set(total: 60)
        #expect(budget.reserved == 60)
        async let third: Void = onNewThread {
            budget.acquire(10)
            log.add("third")
        }
        budget.release(50)
        try await pause()
        #expect(log.all == ["second"])
        budget.release(80)
        try await third
        #expect(budget.reserved == 10)
    }
}
