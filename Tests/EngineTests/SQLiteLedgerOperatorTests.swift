// The history of a week, which the ledger keeps for people.
import GRDB
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct SQLiteLedgerOperatorTests {
    private let folder: TemporaryFolder
    private let fake = FakeClocks()
    private let names = JobNames()

    init() throws { folder = try TemporaryFolder() }

    private func open(_ inboxes: [BytePath: String] = [BytePath("/in"): "in"]) throws -> SQLiteLedger {
        try SQLiteLedger(
            state: BytePath(folder.path("state")), policy: { _ in RetryPolicy(attempts: 1) }, inboxes: inboxes,
            clocks: fake.clocks)
    }

    /// A source comes and is done.
    private func end(_ name: String, in store: SQLiteLedger) throws {
        let observed = FileVersion(device: 1, inode: 1, bytes: 1, modified: 1)
        _ = try store.offer([NewJob(id: names.next(), inbox: "in", path: BytePath(name), observed: observed)])
        let request = TakeRequest(
            inbox: "in", limit: 1, lightBytes: 1, owner: "one", lease: 60_000, recipe: "r")
        let lease = try #require(try store.take(request).first)
        _ = try store.update([JobUpdate(lease, .published(damage: nil)), JobUpdate(lease, .settled)])
    }

    @Test func `a time of day that is set wrong for a while takes nothing out of the history`() throws {
        let store = try open()
        try end("a", in: store)
        for years in [1, -2, 1] {
            fake.setWall(by: .seconds(years * 365 * 86_400))
            _ = try store.prune(keeping: 100)
        }
        #expect(try store.history().map(\.done) == [1])
    }

    @Test func `hours of a time of day that was ahead take no place of others`() throws {
        let store = try open()
        try end("a", in: store)
        let now = try #require(try store.history().first).hour
        try store.change { database in
            for hour in now + 1...now + 400 {
                try database.execute(sql: "INSERT INTO history VALUES ('in', ?, 1, 0)", arguments: [hour])
            }
        }
        try end("b", in: store)
        _ = try store.prune(keeping: 100)
        #expect(try store.history().map(\.done) == [2])
        let kept = try store.look { try Int.fetchAll($0, sql: "SELECT hour FROM history ORDER BY hour") }
        #expect(kept == [now] + Array(now + 1...now + 192))
    }

    @Test func `an inbox that is gone keeps its hours until many others have gone after it`() throws {
        var store = try open()
        try store.change { database in
            for hour in 1...25 {
                try database.execute(sql: "INSERT INTO history VALUES (?, ?, 1, 0)", arguments: ["gone\(hour)", hour])
            }
            try database.execute(sql: "INSERT INTO history VALUES ('in', 1, 1, 0)")
        }
        _ = try store.prune(keeping: 100)
        store = try open()
        let hours = try store.look { try Int.fetchAll($0, sql: "SELECT hour FROM history ORDER BY hour") }
        #expect(hours == [1] + Array(6...25))
    }

    @Test func `so many hours of an inbox are kept that it does not grow`() throws {
        let store = try open([BytePath("/old"): "old", BytePath("/quiet"): "quiet"])
        try store.change { database in
            for hour in 1...500 {
                try database.execute(sql: "INSERT INTO history VALUES ('old', ?, 1, 0)", arguments: [hour])
            }
            try database.execute(sql: "INSERT INTO history VALUES ('quiet', 7, 1, 0)")
        }
        _ = try store.prune(keeping: 100)
        let hours = try store.look { database in
            try Row.fetchAll(database, sql: "SELECT inbox, COUNT(*), MIN(hour) FROM history GROUP BY inbox").map {
                "\($0[0] as String) \($0[1] as Int) \($0[2] as Int)"
            }
        }
        #expect(hours == ["old 192 309", "quiet 1 7"])
    }
}
