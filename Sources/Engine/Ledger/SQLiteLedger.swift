// The ledger in SQLite: STATE/ledger.sqlite. Opening it, its tables, and how an error becomes a sentence.
import GRDB
package import Pipeline

/// The ledger in a file. Every change is one transaction that has reached the disk when the call returns.
package final class SQLiteLedger: JobLedger {
    // A queue of GRDB's own makes every access wait for the one before.
    private let database: DatabaseQueue
    private let file: BytePath
    /// Milliseconds since 1970.
    let clock: @Sendable () -> Int

    /// Changes with the tables.
    private static let layout = 1

    /// - Parameters:
    ///   - state: the folder, which is made where it is missing.
    ///   - patience: seconds to wait for another program that holds the file.
    package init(state: BytePath, patience: Double = 10, clock: @escaping @Sendable () -> Int = wallClock) throws {
        try DurableFile.makeFolders(state)
        file = state.appending(BytePath("ledger.sqlite"))
        self.clock = clock
        do {
            // SQLite's paths are text here, and the folder's need not be; its descriptor's is.
            let folder = try OpenFile.reading(state)
            database = try DatabaseQueue(path: "/proc/self/fd/\(folder.descriptor)/ledger.sqlite", configuration: Self.configuration(patience))
            try Self.prepare(database, file)
            try DurableFile.syncFolder(state)
        } catch let error as SystemError {
            throw error
        } catch {
            throw LedgerError(error, file: file)
        }
    }

    private static func configuration(_ patience: Double) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(patience)
        // The promises rest on this: with NORMAL, a power cut takes back what was said to be recorded.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return configuration
    }

    private static func prepare(_ database: DatabaseQueue, _ file: BytePath) throws {
        try database.writeWithoutTransaction { database in
            let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            guard found <= layout else { throw LedgerError.tooNew(file, version: found) }
            let words = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "no answer"
            guard words == "ok" else { throw LedgerError.damaged(file, words) }
            try database.execute(sql: "PRAGMA journal_mode = WAL")
        }
        try database.write { database in
            try database.execute(sql: tables)
            try database.execute(sql: "PRAGMA user_version = \(layout)")
        }
    }

    private static let tables = """
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

    func change<Value>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        do {
            return try database.write(body)
        } catch {
            throw LedgerError(error, file: file)
        }
    }

    /// As `change`, for a body that fails for reasons of its own, too.
    func changeOrFail<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do {
            return try database.write(body)
        } catch let error as DatabaseError {
            throw LedgerError(error, file: file)
        }
    }

    func look<Value>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        do {
            return try database.read(body)
        } catch {
            throw LedgerError(error, file: file)
        }
    }
}
