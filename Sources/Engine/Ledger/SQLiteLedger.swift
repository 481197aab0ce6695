// The queue of a drop folder: STATE/ledger.sqlite. Opening it, and how an error becomes a sentence.
import GRDB
package import Pipeline
import Synchronization
package import System

/// Jobs and names in a file. Every change is one transaction that has reached the disk when the call returns, but for
/// claims of names, which a group of sources has synced together.
///
/// SQL stores and finds; `transition` decides, on rows that are read in the transaction which writes them.
package final class SQLiteLedger: Ledger {
    // One access at a time, which GRDB's queue sees to.
    let database: DatabaseQueue
    private let file: BytePath
    // SQLite opens the files beside the ledger later, through the same name.
    private let folder: OpenFile
    let policy: @Sendable (_ inbox: String) -> RetryPolicy
    let clock: LedgerClock
    let trace: (@Sendable (JobChange) -> Void)?
    /// Contents of names that files have in attributes too. They are recorded with the next change, instead of by one of
    /// their own.
    private let pending = PendingNames()
    /// How many claims of names were committed, how many of them are on the disk, and whether commits are not synced at
    /// present.
    private let claims = Mutex((made: 0, synced: 0, isRelaxed: false))
    /// SQLite keeps a write-ahead log. Without it, each claim is synced at once.
    private let hasLog: Bool
    package let isNew: Bool

    /// - Parameters:
    ///   - state: the folder, which is made if it is missing.
    ///   - policy: of each inbox, by its name. It must not call the store.
    ///   - inboxes: the inboxes of the mill file: their names by their paths. One that was given another name takes
    ///     what is known of it along.
    ///   - patience: seconds to wait for another program that holds the file.
    ///   - trace: hears of each change of a job, after it was recorded. Any thread calls it.
    ///   - memory: whether the folder's file system lets processes share memory; asked of the system if it is not said.
    /// - Throws: `SystemError` or `StoreError`.
    package init(
        state: BytePath, policy: @escaping @Sendable (_ inbox: String) -> RetryPolicy,
        inboxes: [BytePath: String] = [:], patience: Double = 10, trace: (@Sendable (JobChange) -> Void)? = nil,
        memory: DatabaseFile.SharedMemory? = nil, clocks: Clocks = .system
    ) throws {
        try DurableFile.makeFolders(state)
        let directory = try Directory(state)
        folder = directory.file
        file = state.appending(LedgerFile.name)
        self.policy = policy
        self.trace = trace
        do {
            var layout = 0
            database = try DatabaseFile.open(
                LedgerFile.name, in: directory,
                DatabaseFile.Options(
                    patience: patience, pragmas: "\(Self.fullSync); PRAGMA journal_size_limit = 16777216",
                    hasOneProcess: true, memory: memory)
            ) { [file] in layout = try Self.prepare($0, file) }
            // A file without its -wal may have no tables: then it knows as little as a new one.
            isNew = layout == 0
            try LedgerSchema.migrator.migrate(database)
            hasLog = try database.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal"
            clock = try database.write { try LedgerClock($0, clocks) }
            try record(inboxes: inboxes, running: [])
            try DurableFile.syncFolder(state)
        } catch let error as SystemError {
            throw error
        } catch {
            throw StoreError(error, file: file)
        }
    }

    /// - Returns: the number of the file's layout; 0 if it has none yet.
    private static func prepare(_ database: Database, _ file: BytePath) throws -> Int {
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found == 0 || LedgerSchema.released.contains(found) else {
            throw StoreError.otherLayout(file, version: found)
        }
        // Only a file without tables can be told.
        try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
        return found
    }

    /// Brings all into the file itself, so that a copy of that alone has it.
    package func checkpoint() throws(StoreError) {
        if hasPending { try change { _ in } }
        do {
            _ = try database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        } catch {
            throw described(error)
        }
    }

    package var now: Int { clock.now }
    package var outlivesProcess: Bool { true }

    // MARK: - Access

    /// With NORMAL, a power cut takes back what was said to be recorded.
    private static let fullSync = "PRAGMA synchronous = FULL"

    func change<Value>(_ body: (Database) throws -> Value) throws(StoreError) -> Value {
        do {
            if claims.withLock({ $0.isRelaxed }) { try database.writeWithoutTransaction { try syncAgain($0) } }
            return try pending.recording { take in
                try database.write { database in
                    try Self.names.record(take(), database)
                    return try body(database)
                }
            }
        } catch {
            throw described(error)
        }
    }

    /// A claim of names: it is committed, and `syncClaims` has it reach the disk.
    func claim(_ body: (Database) throws -> Bool) throws(StoreError) -> Bool {
        // A rollback journal needs its syncs in order to be one.
        guard hasLog else { return try change(body) }
        do {
            return try pending.recording { take in
                try database.writeWithoutTransaction { database in
                    claims.withLock { $0.isRelaxed = true }
                    try database.execute(sql: "PRAGMA synchronous = NORMAL")
                    let result = Result {
                        var isClaimed = false
                        try database.inTransaction(.immediate) {
                            try Self.names.record(take(), database)
                            isClaimed = try body(database)
                            return .commit
                        }
                        claims.withLock { $0.made += 1 }
                        return isClaimed
                    }
                    try syncAgain(database)
                    return try result.get()
                }
            }
        } catch {
            throw described(error)
        }
    }

    /// Has transactions reach the disk again when they are committed.
    private func syncAgain(_ database: Database) throws {
        guard claims.withLock({ $0.isRelaxed }) else { return }
        try database.execute(sql: Self.fullSync)
        claims.withLock { $0.isRelaxed = false }
    }

    /// Has every claim that was made reach the disk.
    func syncClaims() throws(StoreError) {
        let (made, synced) = claims.withLock { ($0.made, $0.synced) }
        guard made > synced else { return }
        // A commit syncs what others have put into the log before it, if it puts something there itself.
        try change { try clock.rewrite(in: $0) }
        claims.withLock { $0.synced = max($0.synced, made) }
    }

    /// Traces changes that were recorded.
    func tell(_ changes: @autoclosure () -> [JobChange]) {
        if let trace { changes().forEach(trace) }
    }

    /// Has the next change record contents of names.
    func recordLater(_ names: [OwnedName]) { pending.add(names) }

    var hasPending: Bool { !pending.isEmpty }

    func look<Value>(_ body: (Database) throws -> Value) throws(StoreError) -> Value {
        do {
            // One thread at a time uses the connection, and this process alone writes: a transaction would cost as much
            // again.
            return try database.unsafeRead(body)
        } catch {
            throw described(error)
        }
    }

    func described(_ error: any Error) -> StoreError {
        guard let error = error as? DatabaseError, error.resultCode == .SQLITE_CORRUPT else {
            return StoreError(error, file: file)
        }
        // This reads the whole file, so it is asked only after something was wrong.
        let words = try? database.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        return words.flatMap { $0 == "ok" ? nil : StoreError.damaged(file, $0) } ?? StoreError(error, file: file)
    }
}
