import GRDB
// B16: a ledger of years opens at once, takes jobs as fast as a new one, and shrinks when it is pruned.
import Glibc
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct LedgerSizeTests {
    /// `make chaos` asks for the size of five years; the ordinary tests have a tenth of it.
    private let scale = getenv("IMAGEMILL_FULL_SIZE") == nil ? 10 : 1

    private func fill(_ state: String) throws {
        let database = try DatabaseQueue(path: state + "/ledger.sqlite")
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = OFF; PRAGMA cache_size = -200000") }
        try database.write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                    INSERT INTO jobs (id, inbox, path, is_set, device, inode, bytes, modified, keeps_original, state, attempts, not_before,
                        recipe, offered, changed)
                    SELECT printf('%012x-0000-%012x', i, i), 'in', CAST('folder/picture-' || i || '.jpg' AS BLOB), 0, 1, i, 2, 3, 0,
                        iif(i % 100 = 0, 'failed', 'done'), 1, 0, '0123456789abcdef0123456789abcdef', i, i FROM n
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

    @Test("B16: a ledger with 1 million ended jobs and 3 million names opens within 2 s, takes jobs without slowing down, and shrinks")
    func large() throws {
        let folder = try TemporaryFolder()
        let state = BytePath(folder.path("state"))
        let open = { try SQLiteJobStore(state: state, policy: { _ in RetryPolicy(attempts: 3) }, inboxes: [BytePath("/in"): "in"], clock: { 1000 }) }
        do { _ = try open() }
        try fill(state.text)

        let start = ContinuousClock.now
        let store = try open()
        #expect(ContinuousClock.now - start < .seconds(2), "it opened in \(ContinuousClock.now - start)")

        let time = try takingTime(store)
        let small = try JobStoreFixture(.sqlite)
        let smallTime = try takingTime(small.store)
        #expect(time < smallTime * 3 + .milliseconds(200), "a hundred jobs took \(time), in a small ledger \(smallTime)")

        let file = state.appending(BytePath("ledger.sqlite"))
        let before = try #require(try FileSystem.status(file)).bytes
        var (rows, longest) = (0, Duration.zero)
        while true {
            let start = ContinuousClock.now
            let removed = try store.prune(keeping: 1000)
            longest = max(longest, ContinuousClock.now - start)
            if removed == 0 { break }
            rows += removed
        }
        #expect(rows == 1_000_000 / scale + 100 - 2000)
        #expect(longest < .seconds(2), "nobody waits for long: \(longest)")
        // The names of sources that are gone go in steps as well.
        var place: OwnedName?
        while case let names = try store.ownedNames(after: place, limit: 5000), let last = names.last {
            try store.release(names.map(\.name), in: BytePath("out"))
            place = last
        }
        for _ in 0..<60 { _ = try store.prune(keeping: 1000) }
        try store.change { _ in }
        _ = try store.offer([small.new("last")])
        try checkpoint(store)
        let after = try #require(try FileSystem.status(file)).bytes
        #expect(after < before / 10, "\(before) bytes became \(after)")
    }

    private func checkpoint(_ store: SQLiteJobStore) throws {
        try store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    /// How long it takes to offer, take and end a hundred jobs, one after the other.
    private func takingTime(_ store: any JobStore) throws -> Duration {
        let ids = JobNames()
        let start = ContinuousClock.now
        for index in 0..<100 {
            let new = NewJob(
                id: ids.next(), inbox: "in", path: BytePath("new-\(index)"), observed: ObservedFile(device: 1, inode: 1, bytes: 1, modified: 1))
            _ = try store.offer([new])
            let request = TakeRequest(inbox: "in", limit: 1, lightBytes: 0, owner: "me", lease: 1000, recipe: "r")
            let lease = try #require(try store.take(request).first)
            _ = try store.update([JobUpdate(lease, .published)])
            _ = try store.update([JobUpdate(lease, .settled)])
        }
        return ContinuousClock.now - start
    }
}
