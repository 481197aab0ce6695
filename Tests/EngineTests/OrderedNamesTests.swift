// Names are claimed in the order of the sources, whatever the order in which workers ask.
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite final class OrderedNamesTests: Sendable {
    private let names = OrderedNames()
    private let given = Mutex<[Int]>([])
    private let next = Mutex(0)
    private let isDone = Mutex(false)

    /// Claims a name, and gives how many sources have claimed before.
    private func claim(_ order: Int, _ name: String = "a.webp") async throws -> Int {
        try await onNewThread {
            try self.names.claim(order: order) {
                self.given.withLock { given in
                    given.append(order)
                    return given.count
                }
            } names: {
                [BytePath("\(name)-\($0)")]
            }
        }
    }

    /// Claims a name that several sources have.
    private func claimShared(_ order: Int, losers: [String] = []) async throws {
        try await onNewThread {
            try self.names.claim(order: order) {
                ()
            } names: {
                [BytePath("a.webp")]
            } losers: {
                losers.map { BytePath($0) }
            }
        }
    }

    @Test func `the first source in order has the first turn, even if it asks last`() async throws {
        async let third = claim(2)
        async let second = claim(1)
        try await Task.sleep(for: .milliseconds(50))
        async let first = claim(0)
        #expect(try await [first, second, third] == [1, 2, 3])
    }

    @Test
    func `a source that will not ask lets the next one go on, at its turn and before it; whether it passes or ends`()
        async throws
    {
        names.pass(order: 2)
        names.end(order: 1)
        async let last = claim(3)
        try await Task.sleep(for: .milliseconds(50))
        #expect(given.withLock { $0.isEmpty })
        names.pass(order: 0)
        #expect(try await last == 1)
    }

    @Test func `a source whose names cannot be used has used up its turn`() async throws {
        let names = names
        await #expect(throws: Failure.self) {
            try await onNewThread {
                try names.claim(order: 0) { () throws -> Void in
                    throw Failure(.nameInvalid, stage: "publish", "no name")
                } names: {
                    []
                }
            }
        }
        names.end(order: 0)
        #expect(try await claim(1) == 1)
    }

    @Test func `a source that is tried again has its turn at once, and takes nobody else's`() async throws {
        #expect(try await claim(0) == 1)
        names.end(order: 0)
        #expect(try await claim(0) == 2)
        #expect(try await claim(1) == 3)
    }

    @Test func `with overwrite, the later source waits until the earlier one has ended`() async throws {
        try await claimShared(0)
        async let later: Void = {
            try await self.claimShared(1, losers: ["../in/a.jpg"])
            self.isDone.withLock { $0 = true }
        }()
        try await Task.sleep(for: .milliseconds(80))
        #expect(!isDone.withLock { $0 })
        names.end(order: 0)
        try await later
        #expect(names.takeLosers() == [BytePath("../in/a.jpg")])
        #expect(names.takeLosers().isEmpty)
    }

    @Test func `a hundred sources on eight threads claim in their order`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    while case let order = self.next.withLock({ next in
                        defer { next += 1 }
                        return next
                    }), order < 100 {
                        if order % 7 == 3 { self.names.end(order: order) } else { _ = try await self.claim(order) }
                        self.names.end(order: order)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(given.withLock { $0 } == (0..<100).filter { $0 % 7 != 3 })
    }
}
