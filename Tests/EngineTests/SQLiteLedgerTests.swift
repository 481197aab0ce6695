// The ledger's file: what is on the disk, which index serves, what goes wrong and how that is said.
import FoundationEssentials
import GRDB
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct SQLiteLedgerTests {
    private let folder: TemporaryFolder
    private let ids = JobNames()

    init() throws { folder = try TemporaryFolder() }

    private var file: String { folder.path("state/ledger.sqlite") }

    private func open(
        inboxes: [BytePath: String] = [:], patience: Double = 10,
        memory: DatabaseFile.SharedMemory? = nil
    ) throws -> SQLiteLedger {
        try SQLiteLedger(
            state: BytePath(folder.path("state")), policy: { _ in RetryPolicy(attempts: 3) }, inboxes: inboxes,
            patience: patience, memory: memory, clocks: Clocks { 1000 })
    }

    private func new(_ path: String, inbox: String = "in", keeps: Bool = false) -> NewJob {
        NewJob(
            id: ids.next(), inbox: inbox, path: BytePath(path),
            observed: FileVersion(device: 1, inode: 2, bytes: 3, modified: 4),
            originals: keeps ? .keep : .move)
    }

    private func take(_ store: SQLiteLedger, inbox: String = "in") throws -> Lease? {
        try store.take(TakeRequest(inbox: inbox, limit: 1, lightBytes: 9, owner: "me", lease: 1000, recipe: "r")).first
    }

    private func end(_ store: SQLiteLedger, _ path: String, inbox: String = "in", keeps: Bool = false) throws {
        _ = try store.offer([new(path, inbox: inbox, keeps: keeps)])
        let lease = try #require(try take(store, inbox: inbox))
        _ = try store.update([JobUpdate(lease, .published(damage: nil))])
        _ = try store.update([JobUpdate(lease, .settled)])
    }

    // MARK: - The file

    @Test
    func `the table of jobs takes every state and every policy for its original that a job can have, and no other`()
        throws
    {
        _ = try open()
        let queue = try DatabaseQueue(path: file)
        try queue.write { database in
            try database.execute(sql: "PRAGMA ignore_check_constraints = OFF")
            func insert(_ state: String, _ originals: String) throws {
                let sql = """
                    INSERT INTO jobs (id, inbox, path, is_set, device, inode, bytes, modified, originals,
                        state, attempts, ends, not_before, recipe, offered, changed)
                    VALUES (?, 'in', ?, 0, 1, 1, 1, 1, ?, ?, 0, 0, 0, '', 0, 0)
                    """
                let id = state + originals
                try database.execute(sql: sql, arguments: [id, id, originals, state])
            }
            for state in JobState.allCases {
                for policy in OriginalPolicy.allCases { try insert(state.rawValue, policy.rawValue) }
            }
            #expect(throws: DatabaseError.self) { try insert("lost", "move") }
            #expect(throws: DatabaseError.self) { try insert("done", "lose") }
        }
    }

    @Test
    func `each transaction is synced, into a write-ahead log; pages that become free can leave the file`() throws {
        let store = try open()
        let settings = try store.look { database in
            try ["synchronous", "journal_mode", "auto_vacuum", "user_version"].map {
                try String.fetchOne(database, sql: "PRAGMA \($0)")
            }
        }
        #expect(settings == ["2", "wal", "2", "5"])
    }

    @Test(arguments: [DatabaseFile.SharedMemory.works, .takesRoom, .isOfOneMachine])
    func `claims of names are synced by the record of their contents, and everything else at once`(
        memory: DatabaseFile.SharedMemory
    ) throws {
        let store = try open(memory: memory)
        let (out, a, b) = (BytePath("out"), BytePath("in/a"), BytePath("in/b"))
        func changes(_ work: () throws -> Void) throws -> Int {
            let before = try store.look { $0.totalChangesCount }
            try work()
            #expect(try store.look { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == 2)
            return try store.look { $0.totalChangesCount } - before
        }
        let first = try changes { _ = try store.claim([BytePath("x")], for: a, in: out, seen: [:]) }
        let tooLate = try changes { _ = try store.claim([BytePath("x")], for: b, in: out, seen: [:]) }
        #expect((first, tooLate) == (1, 0))
        // A commit that changes nothing would sync nothing, and the time of this test is always the same.
        let log = { try FileSystem.status(BytePath(file + "-wal"))?.bytes ?? 0 }
        let before = try log()
        try store.record([], areNoted: true)
        #expect(try log() > before || memory == .isOfOneMachine)
        #expect(try changes { try store.record([], areNoted: true) } == 0)
        #expect(throws: StoreError.self) {
            try store.claim { _ in throw DatabaseError(resultCode: .SQLITE_IOERR) }
        }
        #expect(try changes {} == 0)
    }

    @Test func `copies of the files that are made while the ledger is open have all that was recorded`() throws {
        let store = try open()
        let jobs = [new("a"), new("b")]
        _ = try store.offer(jobs)
        _ = try take(store)
        for name in ["ledger.sqlite", "ledger.sqlite-wal"] {
            try folder.write(OpenFile.contents(BytePath(folder.path("state/" + name)), limit: .max), to: "copy/" + name)
        }
        let copy = try SQLiteLedger(state: BytePath(folder.path("copy")), policy: { _ in .run }, clocks: Clocks { 1 })
        #expect(try jobs.map { try copy.job($0.id)?.progress.state } == [.running, .offered])
        withExtendedLifetime(store) {}
    }

    @Test func `a file that has lost its write-ahead log with all that was in it is new`() throws {
        let store = try open()
        _ = try store.offer([new("a")])
        let file = try OpenFile.contents(BytePath(file), limit: .max)
        #expect(!file.isEmpty)
        try folder.write(file, to: "copy/ledger.sqlite")
        let copy = try SQLiteLedger(state: BytePath(folder.path("copy")), policy: { _ in .run }, clocks: Clocks { 1 })
        #expect(copy.isNew)
        withExtendedLifetime(store) {}
    }

    @Test
    func `on a network file system there is no write-ahead log, and one that was made elsewhere is taken over`() throws
    {
        let job = new("a")
        _ = try open().offer([job])
        do {
            let store = try open(memory: .isOfOneMachine)
            #expect(try store.look { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "delete")
            #expect(try take(store)?.job.id == job.id)
            #expect(try FileSystem.status(BytePath(file + "-wal")) == nil)
        }
        #expect(try open().job(job.id)?.progress.state == .running)
    }

    @Test func `where shared memory takes room on the disk, the log does without it`() throws {
        #expect(DatabaseFile.SharedMemory(ofType: 0x9123_683E) == .takesRoom)
        #expect(DatabaseFile.SharedMemory(ofType: 0x6969) == .isOfOneMachine)
        #expect(DatabaseFile.SharedMemory(ofType: 0) == .isOfOneMachine)
        #expect(DatabaseFile.SharedMemory(ofType: 0xEF53) == .works)

        let job = new("a")
        _ = try open().offer([job])
        do {
            let store = try open(memory: .takesRoom)
            #expect(try store.look { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
            #expect(try take(store)?.job.id == job.id)
            #expect(try folder.entries().contains("state/ledger.sqlite-wal"))
            let mapped = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
            #expect(!mapped.contains(folder.path("state/ledger.sqlite-shm")))
            // Nobody reads it meanwhile; nobody has to.
            #expect(throws: StoreError.self) { try open(patience: 0.01) }
        }
        #expect(try open().job(job.id)?.progress.state == .running)
    }

    @Test func `offers are recorded all or none`() throws {
        let store = try open()
        try store.change { database in
            try database.execute(
                sql: "CREATE TRIGGER no BEFORE INSERT ON jobs WHEN NEW.path = x'62' BEGIN SELECT RAISE(FAIL, 'no'); END"
            )
        }
        #expect(throws: StoreError.self) { try store.offer([new("a"), new("b"), new("c")]) }
        #expect(try store.openCount(inbox: "in").count == 0)
    }

    @Test func `a full disk is said to be full, and takes back nothing of what was recorded`() throws {
        let store = try open()
        _ = try store.offer([new("a")])
        try store.change { try $0.execute(sql: "PRAGMA max_page_count = 1") }
        let error = #expect(throws: StoreError.self) { _ = try store.offer((0..<2000).map { new("\($0)") }) }
        #expect(error?.kind == .full && error?.asFailure.code == .diskFull)
        #expect(error?.description.contains("make room, and it goes on") == true)
        try store.change { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
        #expect(try store.openCount(inbox: "in").count == 1)
    }

    @Test func `the state folder may have a name that is no text, and is made if it is missing`() throws {
        let odd = BytePath(Array(folder.path("").utf8) + [0xFF, UInt8(ascii: "'"), UInt8(ascii: "/"), 0xFE])
        let job = new("a")
        do { _ = try SQLiteLedger(state: odd, policy: { _ in .run }).offer([job]) }
        #expect(try SQLiteLedger(state: odd, policy: { _ in .run }).job(job.id) != nil)
        #expect(try FileSystem.status(odd.appending(BytePath("ledger.sqlite"))) != nil)
    }

    // MARK: - Plans

    @Test
    func `an index serves every look at jobs and names: no scan of all rows, and no sort where jobs are taken`() throws
    {
        let store = try open()
        func plan(_ sql: String, _ arguments: StatementArguments) throws -> String {
            try store.look {
                try Row.fetchAll($0, sql: "EXPLAIN QUERY PLAN " + sql, arguments: arguments).map {
                    $0["detail"] as String
                }.joined(separator: "; ")
            }
        }
        let take = try plan("SELECT * FROM jobs WHERE " + SQLiteLedger.freeJobs, ["in", 1, 1, "me", 16])
        #expect(take == "SEARCH jobs USING INDEX due_jobs (inbox=? AND not_before<?)")
        let oldest = try plan(
            "SELECT * FROM shelved WHERE inbox = ? AND shelf = ? ORDER BY since, changed LIMIT ?", ["in", "done", 5])
        #expect(oldest == "SEARCH shelved USING INDEX oldest_shelved (inbox=? AND shelf=?)")
        let isOpen = LedgerSchema.isOpen
        let path = try plan("SELECT * FROM jobs WHERE inbox = ? AND path = ? AND \(isOpen)", ["in", Data()])
        #expect(path == "SEARCH jobs USING INDEX one_open_job (inbox=? AND path=?)")
        let failures = try plan("SELECT * FROM jobs WHERE state = 'failed' ORDER BY number DESC LIMIT ?", [5])
        #expect(failures == "SCAN jobs USING INDEX failed_jobs")
        for state in ["done", "failed"] {
            let prune = try plan(SQLiteLedger.prunedJobs(state), [5])
            #expect(
                !prune.contains("TEMP") && prune.components(separatedBy: "INDEX \(state)_jobs").count == 3, "\(prune)")
        }
        let reports = try plan(SQLiteLedger.staleReports, [])
        #expect(!reports.contains("SCAN jobs") && !reports.contains("SCAN hooks"), "\(reports)")
        let names = try plan("SELECT name FROM names WHERE outbox = ? AND source = ?", [Data(), Data()])
        #expect(names.hasPrefix("SEARCH names USING") && names.contains("names_of_sources (outbox=? AND source=?)"))
        let owned = try plan(
            "SELECT outbox, name, source, contents FROM names WHERE (outbox, name) > (?, ?) ORDER BY outbox, name LIMIT ?",
            [Data(), Data(), 5])
        #expect(owned.hasPrefix("SEARCH names USING PRIMARY KEY") && !owned.contains("TEMP"))
        for look in ["count(*)", "DISTINCT inbox"] {
            let open = try plan(
                "SELECT \(look) FROM jobs WHERE \(isOpen)" + (look == "count(*)" ? " AND inbox = 'in'" : ""), [])
            #expect(open.contains("due_jobs") || open.contains("one_open_job"), "\(open)")
        }
    }

    // MARK: - Trouble

    @Test func `a damaged ledger is said to be damaged when a damaged page is met, with what to do`() throws {
        do {
            let store = try open()
            _ = try store.offer((0..<500).map { new("\($0)") })
        }
        let pages = try OpenFile.contents(BytePath(file), limit: .max).count / 4096
        let handle = try #require(fopen(file, "r+"))
        fseek(handle, 4096, SEEK_SET)
        // All but the first page, on which the tables are named.
        for _ in 0..<(pages - 1) * 4096 { fputc(0xA5, handle) }
        fclose(handle)
        for name in ["-wal", "-shm"] { unlink(file + name) }
        let error = #expect(throws: StoreError.self) { _ = try open().offer([new("x")]) }
        #expect(error?.kind == .damaged)
        #expect(error?.description.hasPrefix("the ledger '\(file)' is damaged (") == true)
        #expect(
            error?.description.contains("move it away together with its -wal and -shm files and start again") == true)
    }

    @Test func `a file that is no ledger is refused with what to do`() throws {
        try folder.write(String(repeating: "no database\n", count: 500), to: "state/ledger.sqlite")
        let error = #expect(throws: StoreError.self) { try open() }
        #expect(error?.kind == .damaged)
        #expect(error?.description.hasPrefix("the ledger '\(file)' is damaged (") == true)
    }

    @Test func `a ledger that another program holds is said to be held, not damaged`() throws {
        let store = try open(patience: 0.1)
        let other = try DatabaseQueue(path: file)
        try other.write { _ in
            let error = #expect(throws: StoreError.self) { _ = try store.offer([new("a")]) }
            #expect(error?.kind == .locked)
            #expect(error?.description.contains("is held by another program") == true)
        }
    }

    @Test(arguments: [(9, "a newer Imagemill (layout 9)"), (2, "an Imagemill that was not released (layout 2)")])
    func `a ledger of another layout is refused and left as it is`(version: Int, writer: String) throws {
        do {
            let store = try open()
            _ = try store.offer([new("a")])
            try store.change { try $0.execute(sql: "PRAGMA user_version = \(version)") }
        }
        let error = #expect(throws: StoreError.self) { try open() }
        #expect(error?.kind == .otherLayout)
        #expect(error?.description.contains("was written by \(writer)") == true)
    }

    @Test func `a disk that cannot be read is told from a ledger that cannot be used`() {
        func kind(_ code: ResultCode) -> StoreError.Kind {
            StoreError(DatabaseError(resultCode: code), file: BytePath("/state/ledger.sqlite")).kind
        }
        #expect(kind(.SQLITE_IOERR) == .unreachable && kind(.SQLITE_BUSY) == .locked)
        #expect(kind(.SQLITE_CORRUPT) == .damaged && kind(.SQLITE_READONLY) == .inaccessible)
    }

    @Test func `the ledger takes no job in a state that there is not, and no half of a lease`() throws {
        let store = try open()
        _ = try store.offer([new("a")])
        for change in ["state = 'lost'", "attempts = -1", "owner = 'x'", "is_set = 2"] {
            #expect(throws: StoreError.self, "\(change)") {
                try store.change { try $0.execute(sql: "UPDATE jobs SET \(change)") }
            }
        }
        let states = try store.look { try String.fetchAll($0, sql: "SELECT state FROM jobs") }
        #expect(states == ["offered"])
    }

    @Test func `a change of a job is traced once it is recorded`() throws {
        let folder = try TemporaryFolder()
        let traced = Mutex<[String]>([])
        let store = try SQLiteLedger(
            state: BytePath(folder.path("state")), policy: { _ in RetryPolicy(attempts: 2) },
            trace: { change in traced.withLock { $0.append("\(change.path.text): \(change)") } }, clocks: Clocks { 1 })
        let new = NewJob(
            id: JobNames().next(), inbox: "in", path: BytePath("a"),
            observed: FileVersion(device: 1, inode: 2, bytes: 3, modified: 4))
        _ = try store.offer([new])
        let request = TakeRequest(inbox: "in", limit: 1, lightBytes: 9, owner: "me", lease: 60_000, recipe: "r")
        let lease = try #require(try store.take(request).first)
        let failure = Failure(.timedOut, stage: "render", "too slow")
        _ = try store.update([JobUpdate(lease, .attemptFailed(failure, isFinal: false))])
        _ = try store.recover([(#require(try store.job(new.id)), .nowhere)], by: "me")
        #expect(
            traced.withLock { $0 } == [
                "a: offered → running: taken (attempt 1); to do: claim, attempt",
                "a: running → waiting: attempt failed (attempt 1, timed-out); to do: retry",
                "a: waiting → forgotten: found nowhere; to do: lost",
            ])
    }

    @Test func `reports that nobody waits for any more are removed`() throws {
        let store = try open()
        try store.change {
            try $0.execute(sql: "INSERT INTO reports (job, document) VALUES (1000000, x'07')")
        }
        _ = try store.prune(keeping: 10)
        #expect(try store.look { try Int.fetchOne($0, sql: "SELECT count(*) FROM reports") } == 0)
    }

    @Test func `the queries of docs/architecture.md run`() throws {
        let store = try open()
        let text = try Checkout.text("docs/architecture.md")
        let block = try #require(text.components(separatedBy: "```sql\n").dropFirst().first)
        let queries = block.components(separatedBy: "```")[0].split(separator: "\n").filter { !$0.hasPrefix("--") }
        #expect(queries.count == 4)
        for query in queries { _ = try store.look { try Row.fetchAll($0, sql: String(query)) } }
    }
}
