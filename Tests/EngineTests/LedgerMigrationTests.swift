// A ledger of version 0.1 becomes one of this version with all that it knows.
import FoundationEssentials
import GRDB
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct LedgerMigrationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The tables of version 0.1, word for word.
    private static let firstTables = """
        CREATE TABLE IF NOT EXISTS jobs (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, inbox BLOB NOT NULL, path BLOB NOT NULL, stays INTEGER NOT NULL,
            device INTEGER NOT NULL, inode INTEGER NOT NULL, bytes INTEGER NOT NULL, modified INTEGER NOT NULL,
            state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, not_before INTEGER NOT NULL DEFAULT 0,
            code TEXT, stage TEXT, message TEXT, detail TEXT, names BLOB NOT NULL DEFAULT x'',
            claimed INTEGER NOT NULL, changed INTEGER NOT NULL);
        CREATE INDEX IF NOT EXISTS open_jobs ON jobs (inbox, number) WHERE state NOT IN ('finished', 'failed');
        CREATE INDEX IF NOT EXISTS ended_jobs ON jobs (state, changed, number) WHERE state IN ('finished', 'failed');
        CREATE TABLE IF NOT EXISTS names (outbox BLOB NOT NULL, name BLOB NOT NULL, source BLOB NOT NULL, PRIMARY KEY (outbox, name)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS kept (
            inbox BLOB NOT NULL, path BLOB NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL, bytes INTEGER NOT NULL,
            modified INTEGER NOT NULL, recipe TEXT NOT NULL, sha256 TEXT, code TEXT, PRIMARY KEY (inbox, path)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS totals (inbox BLOB PRIMARY KEY, done INTEGER NOT NULL, failed INTEGER NOT NULL) WITHOUT ROWID;
        """

    private static let states = ["claimed", "rendering", "waiting", "published", "rejected", "finished", "failed"]

    private func id(_ number: Int) -> JobID {
        JobID(milliseconds: 1_700_000_000_000, counter: UInt16(number), random: 7)
    }

    /// A ledger of version 0.1 with a job in every state, of an inbox, of one within it, and of one that is no longer
    /// in the mill file.
    private func makeFirst() throws {
        try folder.write("", to: "state/x")
        let database = try DatabaseQueue(path: folder.path("state/ledger.sqlite"))
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        try database.write { database in
            try database.execute(sql: Self.firstTables + "; PRAGMA user_version = 1")
            for (number, state) in Self.states.enumerated() {
                try add(number, "/srv/in", Data([0xFF, UInt8(number)]), state, stays: number == 3, database)
            }
            try add(7, "/srv/in/sub", Data("s".utf8), "waiting", stays: false, database)
            try add(8, "/srv/gone", Data("g".utf8), "rendering", stays: false, database)
            for (outbox, name, source) in [
                ("/srv/out", "a.webp", "/srv/in/a.jpg"), ("/srv/out", "s.webp", "/srv/in/sub/s.jpg"),
                ("/srv/out", "g.webp", "/srv/gone/g.jpg"),
                ("/srv/other", "a.webp", "/srv/in-2/a.jpg"),
            ] {
                try database.execute(
                    sql: "INSERT INTO names VALUES (?, ?, ?)",
                    arguments: [Data(outbox.utf8), Data(name.utf8), Data(source.utf8)])
            }
            try database.execute(
                sql: "INSERT INTO kept VALUES (?, ?, 1, 2, 3, 4, 'r', NULL, 'corrupt')",
                arguments: [Data("/srv/in".utf8), Data("k.jpg".utf8)])
            try database.execute(sql: "INSERT INTO totals VALUES (?, 5, 6)", arguments: [Data("/srv/in".utf8)])
        }
    }

    private func add(_ number: Int, _ inbox: String, _ path: Data, _ state: String, stays: Bool, _ database: Database)
        throws
    {
        let hasFailed = ["waiting", "rejected", "failed"].contains(state)
        try database.execute(
            sql: """
                INSERT INTO jobs (id, inbox, path, stays, device, inode, bytes, modified, state, attempts, not_before, code, stage, message, detail,
                    names, claimed, changed) VALUES (?, ?, ?, ?, -1, 2, 3, 4, ?, 2, 77, ?, ?, ?, NULL, x'61', 10, 20)
                """,
            arguments: [
                id(number).text, Data(inbox.utf8), path, stays, state, hasFailed ? "timed-out" : nil,
                hasFailed ? "render" : nil,
                hasFailed ? "too slow" : nil,
            ])
    }

    private func open() throws -> SQLiteJobStore {
        try SQLiteJobStore(
            state: BytePath(folder.path("state")), policy: { _ in RetryPolicy(attempts: 3) },
            inboxes: [BytePath("/srv/in"): "photos", BytePath("/srv/in/sub"): "sub"],
            outboxes: [BytePath("/srv/out"): BytePath("web")],
            clocks: Clocks { 1000 })
    }

    @Test(arguments: [1, 2])
    func `jobs keep their state, attempts, failures and paths; inboxes have their names`(times: Int) throws {
        try makeFirst()
        for _ in 1..<times { _ = try open() }
        let store = try open()
        let states = try (0..<7).map { try store.job(id($0))?.progress.state }
        #expect(states == [.offered, .running, .waiting, .published, .rejected, .done, .failed])
        let job = try #require(try store.job(id(2)))
        let failure = Failure(.timedOut, stage: "render", "too slow")
        let expected = Job(
            id: id(2), inbox: "photos", path: BytePath([0xFF, 2]), isSet: false,
            observed: ObservedFile(device: .max, inode: 2, bytes: 3, modified: 4), originals: .move,
            progress: JobProgress(.waiting, attempts: 2, notBefore: 77, failure: failure), offered: 10, changed: 20)
        #expect(job == expected)
        #expect(try store.job(id(3))?.keepsOriginal == true)
        #expect(try store.job(id(7))?.inbox == "sub")
        #expect(try store.orphans(inbox: "photos", owner: "me").map(\.id) == (0..<5).map(id))
        #expect(try store.recentFailures(limit: 5).map(\.id) == [id(6)])
    }

    @Test
    func `an inbox that has left the mill file is reported by its path, and has its jobs again when it is back`() throws
    {
        try makeFirst()
        #expect(try open().inboxesWithOpenJobs() == ["/srv/gone", "photos", "sub"])
        let store = try SQLiteJobStore(
            state: BytePath(folder.path("state")), policy: { _ in .run }, inboxes: [BytePath("/srv/gone"): "back"],
            clocks: Clocks { 1000 })
        #expect(try store.inboxesWithOpenJobs() == ["back", "photos", "sub"])
        #expect(try store.names(of: BytePath("back/g.jpg"), in: BytePath("web")) == [BytePath("g.webp")])
    }

    @Test func `names, kept originals and totals go along, with the keys of their folders`() throws {
        try makeFirst()
        let store = try open()
        let all = try store.ownedNames(after: nil, limit: 9).map {
            "\($0.outbox.text) \($0.name.text) \($0.source.text)"
        }
        #expect(
            Set(all) == [
                "web a.webp photos/a.jpg", "web s.webp sub/s.jpg", "web g.webp /srv/gone/g.jpg",
                "/srv/other a.webp /srv/in-2/a.jpg",
            ])
        #expect(try store.names(of: BytePath("photos/a.jpg"), in: BytePath("web")) == [BytePath("a.webp")])
        #expect(
            try store.kept(inbox: "photos") == [
                BytePath("k.jpg"): KeptOriginal(
                    observed: ObservedFile(device: 1, inode: 2, bytes: 3, modified: 4), recipe: "r", code: .corrupt)
            ])
        #expect(try store.totals(inbox: "photos") == JobTotals(done: 5, failed: 6))
    }

    @Test func `nothing of the old tables is left, and version 0.1 refuses the new ones by their number`() throws {
        try makeFirst()
        let store = try open()
        let (tables, version) = try store.look { database in
            let sql =
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'index') AND name LIKE 'first%' OR name = 'open_jobs'"
            return (try String.fetchAll(database, sql: sql), try Int.fetchOne(database, sql: "PRAGMA user_version"))
        }
        #expect(tables.isEmpty && version == 2)
        #expect(try store.look { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
    }

    @Test func `a ledger of version 0.1 shrinks once its jobs are removed`() throws {
        try makeFirst()
        let old = try DatabaseQueue(path: folder.path("state/ledger.sqlite"))
        try old.write { database in
            #expect(try Int.fetchOne(database, sql: "PRAGMA auto_vacuum") == 0)
            for number in 10..<4000 {
                try add(number, "/srv/in", Data("p\(number)".utf8), "finished", stays: false, database)
            }
        }
        try old.close()
        let store = try open()
        func pages() throws -> Int { try store.look { try Int.fetchOne($0, sql: "PRAGMA page_count") } ?? 0 }
        let before = try pages()
        while try store.prune(keeping: 1) > 0 {}
        #expect(try pages() < before / 4)
    }

    @Test func `a migration that fails half way leaves the old ledger as it was`() throws {
        try makeFirst()
        let database = try DatabaseQueue(path: folder.path("state/ledger.sqlite"))
        try database.write {
            try $0.execute(
                sql: "CREATE TABLE kept_x (a); ALTER TABLE totals RENAME TO totals_x; CREATE TABLE first_kept (a)")
        }
        #expect(throws: StoreError.self) { try open() }
        try database.write { try $0.execute(sql: "DROP TABLE first_kept; ALTER TABLE totals_x RENAME TO totals") }
        #expect(try open().totals(inbox: "photos") == JobTotals(done: 5, failed: 6))
    }
}
