// B16: a ledger of years opens at once, takes jobs as fast as a new one, and shrinks when it is pruned.
import GRDB
import GRDBSQLite
import Glibc
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct LedgerSizeTests {
    /// `make chaos` asks for the size of five years; the ordinary tests have a tenth of it.
    private let scale = getenv("IMAGEMILL_FULL_SIZE") == nil ? 10 : 1

    private let ids = JobNames()

    private func fill(_ state: String) throws {
        let database = try DatabaseQueue(path: state + "/ledger.sqlite")
        try database.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA synchronous = OFF; PRAGMA cache_size = -200000")
        }
        try database.write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                    INSERT INTO jobs (id, inbox, path, is_set, device, inode, bytes, modified, originals,
                        state, attempts, ends, not_before, recipe, offered, changed)
                    SELECT printf('%012x-0000-%012x', i, i), 'in', CAST('folder/picture-' || i || '.jpg' AS BLOB), 0, 1, i, 2, 3, 'move',
                        iif(i % 100 = 0, 'failed', 'done'), 1, 0, 0, '0123456789abcdef0123456789abcdef', i, i FROM n
                    """, arguments: [1_000_000 / scale])
            try database.execute(
                sql: """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                    INSERT INTO names (outbox, name, source)
                    SELECT CAST('out' AS BLOB), CAST(printf('picture-%07d-%d.webp', i / 3, i % 3) AS BLOB),
                        CAST(printf('in/folder/picture-%07d.jpg', i / 3) AS BLOB) FROM n
                    """, arguments: [3_000_000 / scale])
        }
    }

    @Test
    func `a ledger of a million ended jobs and 3 million names opens, takes jobs as fast as a new one, and shrinks`()
        throws
    {
        let folder = try TemporaryFolder()
        let state = BytePath(folder.path("state"))
        let open = {
            try SQLiteLedger(
                state: state, policy: { _ in RetryPolicy(attempts: 3) }, inboxes: [BytePath("/in"): "in"],
                clocks: Clocks { 1000 })
        }
        do { _ = try open() }
        try fill(state.text)

        let start = SuspendingClock.now
        let store = try open()
        // Only at full size, which `make chaos` asks for: the ordinary tests measure no speed.
        #expect(scale > 1 || SuspendingClock.now - start < .seconds(2), "it opened in \(SuspendingClock.now - start)")

        let new = try SQLiteLedger(
            state: BytePath(folder.path("new")), policy: { _ in RetryPolicy(attempts: 3) }, clocks: Clocks { 1000 })
        let (steps, fewest) = (try stepsOfHundredJobs(store), try stepsOfHundredJobs(new))
        #expect(fewest > 10_000 && steps < fewest * 5 / 4, "\(steps) steps, in a new ledger \(fewest)")

        let file = state.appending(BytePath("ledger.sqlite"))
        let before = try #require(try FileSystem.status(file)).bytes
        var rows = 0
        while case let removed = try store.prune(keeping: 1000), removed > 0 {
            #expect(removed <= 2 * SQLiteLedger.prunedAtOnce, "nobody waits for long")
            rows += removed
        }
        #expect(rows == 1_000_000 / scale + 100 - 2000)
        // The names of sources that are gone go in steps as well.
        var place: OwnedName?
        while case let names = try store.ownedNames(after: place, limit: 5000), let last = names.last {
            try store.release(names, unlessJobsAfter: .max)
            place = last
        }
        for _ in 0..<60 { _ = try store.prune(keeping: 1000) }
        try store.change { _ in }
        _ = try store.offer([newJob("last")])
        try checkpoint(store)
        let after = try #require(try FileSystem.status(file)).bytes
        #expect(after < before / 10, "\(before) bytes became \(after)")
    }

    @Test func `the last of 10,000 jobs are taken with as few steps as the first`() throws {
        let fixture = try JobStoreFixture(.sqlite)
        let store = try #require(fixture.store as? SQLiteLedger)
        _ = try store.offer((0..<10_000).map { fixture.new("folder/\($0).jpg") })
        func end(_ limit: Int) throws {
            let leases = try store.take(fixture.request(limit))
            try #require(leases.count == limit)
            _ = try store.update(leases.map { JobUpdate($0, .published(damage: nil)) })
            _ = try store.update(leases.map { JobUpdate($0, .settled) })
        }
        // Some are under way all the time.
        try #require(store.take(fixture.request(64, owner: "another")).count == 64)
        let first = try stepsOf(store) { for _ in 0..<20 { try end(16) } }
        for _ in 0..<9 { try end(1000) }
        let last = try stepsOf(store) { for _ in 0..<18 { try end(16) } }
        #expect(first > 10_000 && last < first * 5 / 4, "first \(first), last \(last)")
    }

    private func checkpoint(_ store: SQLiteLedger) throws {
        try store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    private func newJob(_ path: String) -> NewJob {
        NewJob(
            id: ids.next(), inbox: "in", path: BytePath(path),
            observed: FileVersion(device: 1, inode: 1, bytes: 1, modified: 1))
    }

    private func stepsOfHundredJobs(_ store: SQLiteLedger) throws -> Int {
        try stepsOf(store) {
            for index in 0..<100 {
                _ = try store.offer([newJob("new-\(index)")])
                let request = TakeRequest(inbox: "in", limit: 1, lightBytes: 0, owner: "me", lease: 1000, recipe: "r")
                let lease = try #require(try store.take(request).first)
                _ = try store.update([JobUpdate(lease, .published(damage: nil))])
                _ = try store.update([JobUpdate(lease, .settled)])
            }
        }
    }

    /// How many instructions SQLite's virtual machine runs for what `body` asks of a store: a measure of its work that
    /// no busy machine changes.
    private func stepsOf(_ store: SQLiteLedger, _ body: () throws -> Void) throws -> Int {
        let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        count.initialize(to: 0)
        defer { count.deallocate() }
        store.database.inDatabase { database in
            sqlite3_progress_handler(
                database.sqliteConnection, 1,
                { count in
                    count!.assumingMemoryBound(to: Int.self).pointee += 1
                    return 0
                }, count)
        }
        try body()
        store.database.inDatabase { sqlite3_progress_handler($0.sqliteConnection, 0, nil, nil) }
        return count.pointee
    }
}
