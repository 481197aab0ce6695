import Synchronization
import Testing

@testable import Engine

@Suite struct MemoryBudgetTests {
    /// Who has got memory so far.
    private final class Log: Sendable {
        private let names = Mutex<[String]>([])
        func add(_ name: String) { names.withLock { $0.append(name) } }
        var all: [String] { names.withLock { $0 } }
    }

    private func pause() async throws { try await Task.sleep(for: .milliseconds(60)) }

    @Test("Small ones run together until the budget is used up")
    func together() async throws {
        let budget = MemoryBudget(bytes: 100)
        let log = Log()
        for _ in 0..<3 { await budget.acquire(30) }
        let fourth = Task {
            await budget.acquire(30)
            log.add("fourth")
        }
        try await pause()
        #expect(log.all == [])
        await budget.release(30)
        await fourth.value
        #expect(log.all == ["fourth"])
    }

    @Test("A large one waits its turn and is not overtaken by small ones that would fit")
    func order() async throws {
        let budget = MemoryBudget(bytes: 100)
        let log = Log()
        await budget.acquire(60)
        let large = Task {
            await budget.acquire(90)
            log.add("large")
        }
        try await pause()
        let small = Task {
            await budget.acquire(10)
            log.add("small")
        }
        try await pause()
        #expect(log.all == [])
        await budget.release(60)
        await large.value
        await small.value
        #expect(log.all == ["large", "small"])
    }

    @Test("One that is larger than the whole budget runs alone")
    func alone() async throws {
        let budget = MemoryBudget(bytes: 100)
        let log = Log()
        await budget.acquire(5000)
        let small = Task {
            await budget.acquire(1)
            log.add("small")
        }
        try await pause()
        #expect(log.all == [])
        await budget.release(5000)
        await small.value
        await budget.release(1)
        await budget.acquire(100)
        #expect(log.all == ["small"])
    }
}
