// names.sqlite: which source owns which name in one output folder, and the result of each source.
import FoundationEssentials
import GRDB
package import Pipeline
import Synchronization
import System

/// The record of an output folder. Owners in it are paths from the output folder; a method's `outbox` is always this
/// one. For any thread.
package final class OutboxRecord: NameStore {
    package let location: OutboxLocation
    let database: DatabaseQueue
    /// Sources that have lost a name since the record was opened.
    private let displaced = Mutex<Set<BytePath>>([])
    private let pending = PendingNames()

    static let fileName = BytePath("names.sqlite")

    /// Opens the record, or makes it.
    /// - Parameter isDryRun: the record is copied into memory, and nothing is written.
    package init(_ location: OutboxLocation, isDryRun: Bool = false) throws {
        self.location = location
        do {
            if isDryRun {
                database = try DatabaseQueue()
                if try FileSystem.status(location.record) != nil {
                    try Self.connect(location, isReadOnly: true).backup(to: database)
                }
            } else {
                try FileSystem.makeDirectories(location.state)
                database = try Self.connect(location, isReadOnly: false)
            }
            try Self.migrate(database, location)
        } catch let error as SystemError {
            throw error
        } catch let error as StoreError {
            throw error
        } catch {
            throw Self.storeError(error, "open", location)
        }
    }

    /// Closes the record, which leaves one file of it. Nothing can be asked afterwards.
    package func close() {
        try? writing { _ in }
        try? database.close()
    }

    /// Opens the file as it is.
    static func connect(_ location: OutboxLocation, isReadOnly: Bool) throws -> DatabaseQueue {
        let folder = try Directory(location.state)
        let memory = DatabaseFile.SharedMemory(of: folder)
        // A name that is lost with the power was not published either, in this order of writing. Without the log, each
        // change would be synced; `OutboxLock` keeps other writers away, but not on every network.
        return try DatabaseFile.open(
            fileName, in: folder,
            DatabaseFile.Options(
                patience: 30, pragmas: "PRAGMA synchronous = NORMAL", isReadOnly: isReadOnly,
                hasOneProcess: memory == .takesRoom && !isReadOnly, memory: memory))
    }

    /// - Parameter verb: what was attempted.
    static func storeError(_ error: any Error, _ verb: String, _ location: OutboxLocation) -> StoreError {
        let sentence = "cannot \(verb) the record of names in '\(location.state.printable)'"
        guard let error = error as? DatabaseError else { return StoreError(.inaccessible, "\(sentence): \(error)") }
        let words = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
        let full = StoreError(
            .full,
            "\(sentence): there is no space left on its disk (\(words)); make room there, or choose another folder with --state"
        )
        return switch error.resultCode {
        case .SQLITE_FULL: full
        // SQLite may say so of a disk that is too small for its own files.
        case _ where error.mayBeForWantOfRoom && WriteProbe.isFull(location.state): full
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            StoreError(.locked, "\(sentence): another program holds it (\(words)); close it, then try again")
        case .SQLITE_IOERR, .SQLITE_PROTOCOL:
            StoreError(.unreachable, "\(sentence): \(words); look after its disk, then try again")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            StoreError(
                .damaged, "\(sentence): it is damaged (\(words)); move it away, and the next run begins a new one")
        default: StoreError(.inaccessible, "\(sentence): \(words)")
        }
    }
}

// MARK: - Tables

extension OutboxRecord {
    private static func migrate(_ database: DatabaseQueue, _ location: OutboxLocation) throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("record of names") { database in
            try database.execute(
                sql: """
                    CREATE TABLE names (name BLOB PRIMARY KEY, source BLOB NOT NULL, contents TEXT) WITHOUT ROWID;
                    CREATE INDEX names_source ON names (source);
                    CREATE TABLE setups (id INTEGER PRIMARY KEY, parts TEXT NOT NULL UNIQUE);
                    CREATE TABLE results (
                        source BLOB PRIMARY KEY, relative BLOB NOT NULL, setup INTEGER NOT NULL, fingerprint BLOB NOT NULL, outputs BLOB NOT NULL,
                        failure TEXT, document TEXT);
                    """)
        }
        if try database.read(migrator.hasBeenSuperseded) {
            throw StoreError(
                .otherLayout,
                "the record '\(location.record.printable)' was written by a newer Imagemill, or by one that was not released; install that one "
                    + "again, or choose another folder with --state")
        }
        try migrator.migrate(database)
    }
}

// MARK: - Names

extension OutboxRecord {
    private static let names = NamesTable(hasOutboxes: false)

    package func names(of source: BytePath, in outbox: BytePath) throws(StoreError) -> [BytePath] {
        try reading { try Self.names.names(of: source, in: outbox, $0) }
    }

    package func owners(of names: [BytePath], in outbox: BytePath) throws(StoreError) -> [BytePath: OwnedName] {
        try reading { try Self.names.owners(of: names, in: outbox, $0).mapValues(pending.latest) }
    }

    package func claim(
        _ names: [BytePath], for source: BytePath, in outbox: BytePath, seen: [BytePath: BytePath]
    ) throws(StoreError) -> Bool {
        try writing { database in
            guard let losers = try Self.names.claim(names, for: source, in: outbox, seen: seen, database) else {
                return false
            }
            self.displaced.withLock { $0.formUnion(losers) }
            return true
        }
    }

    package func record(_ names: [OwnedName], areNoted: Bool) throws(StoreError) {
        pending.add(names)
        if !areNoted { try writing { _ in } }
    }

    package func release(_ names: [BytePath], of source: BytePath, in outbox: BytePath) throws(StoreError) {
        try writing { try Self.names.release(names, of: source, in: outbox, $0) }
    }

    package func ownedNames(after place: OwnedName?, limit: Int) throws(StoreError) -> [OwnedName] {
        try reading {
            try Self.names.owned(after: place, limit: limit, in: location.path, $0).map(pending.latest)
        }
    }

    /// Removes names, whoever owns them.
    func forget(_ names: [BytePath]) throws(StoreError) {
        try writing { database in
            let delete = try database.cachedStatement(sql: "DELETE FROM names WHERE name = ?")
            for name in names { try delete.execute(arguments: [name.blob]) }
        }
    }

    /// The sources that have lost a name since this was last asked.
    func takeDisplaced() -> Set<BytePath> {
        displaced.withLock { displaced in
            defer { displaced = [] }
            return displaced
        }
    }

    private func reading<Value>(_ work: (Database) throws -> Value) throws(StoreError) -> Value {
        do {
            // One thread at a time uses the connection, and this process alone writes: a transaction would cost as much
            // again.
            return try database.unsafeRead(work)
        } catch {
            throw Self.storeError(error, "read", location)
        }
    }

    private func writing<Value>(_ work: (Database) throws -> Value) throws(StoreError) -> Value {
        do {
            return try pending.recording { take in
                try database.write { database in
                    try Self.names.record(take(), database)
                    return try work(database)
                }
            }
        } catch {
            throw Self.storeError(error, "write", location)
        }
    }
}
