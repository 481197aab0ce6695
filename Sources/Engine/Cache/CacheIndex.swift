// DIR/index.sqlite: which renditions are in the cache, how large they are, and in which order they were used.
import FoundationEssentials
import GRDB
import Pipeline
import System

/// One rendition in the cache.
struct CacheEntry: Sendable, Equatable {
    /// Never used twice, so that a file that is to be removed is never a newer one of the same key.
    let id: Int64
    let content: CacheContent
    var key: CacheKey { content.key }
    var bytes: Int { content.bytes }
    /// SHA-256 of the rendition.
    var digest: String { content.digest }
    var about: String { content.about }

    /// Its path from the cache's folder.
    var path: BytePath { BytePath("objects/\(key.text.prefix(2))/\(key.text).\(id)") }
}

/// A rendition to keep.
struct CacheContent: Sendable, Equatable {
    let key: CacheKey
    let bytes: Int
    /// SHA-256 of the rendition.
    let digest: String
    /// Further facts about it, as JSON.
    let about: String
}

/// The index. Several processes may use it at once; every method is one transaction.
struct CacheIndex: Sendable {
    private let database: DatabaseQueue

    /// Where an entry is in its life. A file may only exist where a row says so, so that what a killed process leaves
    /// behind is known.
    private enum State: Int, DatabaseValueConvertible {
        /// Its bytes count, its file is not complete.
        case writing = 0
        case ready = 1
        /// Its bytes do not count any more; its file may still be there.
        case deleting = 2
    }

    static let fileName = BytePath("index.sqlite")

    /// - Parameter memory: whether the folder's file system lets processes share memory; nil asks the system.
    init(folder: BytePath, memory: DatabaseFile.SharedMemory? = nil) throws {
        // Renditions that a loss of power damages are noticed by their digest, or by `verify`.
        database = try DatabaseFile.open(
            Self.fileName, in: Directory(folder),
            DatabaseFile.Options(patience: 30, pragmas: "PRAGMA synchronous = NORMAL", memory: memory))
        var migrator = DatabaseMigrator()
        migrator.registerMigration("cache") { try $0.execute(sql: Self.tables) }
        if try database.read(migrator.hasBeenSuperseded) {
            throw CacheProblem(
                description:
                    "the cache '\(folder.printable)' was made by a newer Imagemill, or by one that was not released; remove the folder, or choose another one"
            )
        }
        try migrator.migrate(database)
    }

    // A migration that was released stays as it is. The triggers keep the bytes of all entries and the number of ready
    // ones, so that no query has to count them.
    private static let tables = """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, state INTEGER NOT NULL CHECK (state IN (0, 1, 2)),
            bytes INTEGER NOT NULL CHECK (bytes >= 0), used INTEGER NOT NULL, digest TEXT NOT NULL, about TEXT NOT NULL);
        CREATE UNIQUE INDEX entries_key ON entries (key) WHERE state < 2;
        CREATE INDEX entries_used ON entries (used) WHERE state = 1;
        CREATE INDEX entries_unfinished ON entries (state) WHERE state <> 1;
        CREATE TABLE total (bytes INTEGER NOT NULL, renditions INTEGER NOT NULL);
        INSERT INTO total VALUES (0, 0);
        CREATE TRIGGER entry_added AFTER INSERT ON entries WHEN NEW.state < 2
            BEGIN UPDATE total SET bytes = bytes + NEW.bytes; END;
        CREATE TRIGGER entry_left AFTER UPDATE OF state ON entries WHEN OLD.state < 2 AND NEW.state = 2
            BEGIN UPDATE total SET bytes = bytes - OLD.bytes; END;
        CREATE TRIGGER entry_removed AFTER DELETE ON entries WHEN OLD.state < 2
            BEGIN UPDATE total SET bytes = bytes - OLD.bytes; END;
        CREATE TRIGGER entry_ready AFTER UPDATE OF state ON entries WHEN OLD.state <> 1 AND NEW.state = 1
            BEGIN UPDATE total SET renditions = renditions + 1; END;
        CREATE TRIGGER entry_unready AFTER UPDATE OF state ON entries WHEN OLD.state = 1 AND NEW.state <> 1
            BEGIN UPDATE total SET renditions = renditions - 1; END;
        CREATE TRIGGER entry_gone AFTER DELETE ON entries WHEN OLD.state = 1
            BEGIN UPDATE total SET renditions = renditions - 1; END;
        CREATE TABLE assets (digest TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
        """

    // MARK: - Looking

    func entry(_ key: CacheKey) throws -> CacheEntry? {
        try database.read { database in
            let statement = try database.cachedStatement(sql: "SELECT * FROM entries WHERE key = ? AND state = 1")
            return try Row.fetchOne(statement, arguments: [key.text]).map(CacheEntry.init)
        }
    }

    func entries() throws -> [CacheEntry] {
        try database.read {
            try Row.fetchAll($0, sql: "SELECT * FROM entries WHERE state = 1 ORDER BY used").map(CacheEntry.init)
        }
    }

    /// Every file that may exist, whatever state its entry is in.
    func allPaths() throws -> Set<BytePath> {
        try database.read { try Set(Row.fetchAll($0, sql: "SELECT * FROM entries").map { CacheEntry($0).path }) }
    }

    func isReady(_ entry: CacheEntry) throws -> Bool {
        try database.read {
            try Bool.fetchOne($0, sql: "SELECT 1 FROM entries WHERE id = ? AND state = 1", arguments: [entry.id])
        } ?? false
    }

    /// The renditions that are there, and the bytes of those and of what is being written.
    func total() throws -> (renditions: Int, bytes: Int) {
        try database.read { database in
            let statement = try database.cachedStatement(sql: "SELECT renditions, bytes FROM total")
            return try Row.fetchOne(statement).map { ($0[0], $0[1]) } ?? (0, 0)
        }
    }

    /// A description of the damage to the index itself; nil if there is none.
    func damage() throws -> String? {
        try database.read { database in
            let check = try String.fetchOne(database, sql: "PRAGMA quick_check") ?? "no answer"
            let sum =
                try Int.fetchOne(database, sql: "SELECT COALESCE(SUM(bytes), 0) FROM entries WHERE state < 2") ?? 0
            let count = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM entries WHERE state = 1") ?? 0
            let total = try Row.fetchOne(database, sql: "SELECT bytes, renditions FROM total")
            let (bytes, renditions): (Int, Int) = total.map { ($0[0], $0[1]) } ?? (0, 0)
            if check != "ok" { return "the index is damaged: \(check)" }
            if sum != bytes { return "the index counts \(bytes) bytes; its entries have \(sum)" }
            return count == renditions ? nil : "the index counts \(renditions) renditions; it has \(count)"
        }
    }

    // MARK: - Changing

    /// The reservation of room for a new entry.
    struct Reservation {
        let entry: CacheEntry
        /// Files to remove before the new one is written: those that must make room, and what others have not removed
        /// yet.
        let victims: [CacheEntry]
    }

    /// Makes room for a rendition, the least recently used first.
    /// - Parameter used: entries that were used meanwhile, the last one last.
    /// - Returns: nil if it is there already, or there is no room.
    func reserve(_ content: CacheContent, bound: Int, used: [Int64]) throws -> Reservation? {
        try database.write { database in
            try note(used: used, database)
            let known = try database.cachedStatement(sql: "SELECT 1 FROM entries WHERE key = ? AND state < 2")
            guard try Row.fetchOne(known, arguments: [content.key.text]) == nil,
                try evict(to: bound - content.bytes, database)
            else {
                return nil
            }
            let insert = try database.cachedStatement(
                sql: "INSERT INTO entries (key, state, bytes, used, digest, about) VALUES (?, 0, ?, 0, ?, ?)")
            try insert.execute(arguments: [content.key.text, content.bytes, content.digest, content.about])
            let entry = CacheEntry(id: database.lastInsertedRowID, content: content)
            return Reservation(entry: entry, victims: try leaving(database))
        }
    }

    /// The reserved file is complete, and the victims' are gone.
    func commit(_ reservation: Reservation) throws {
        try database.write { database in
            try forget(reservation.victims, database)
            let ready = try database.cachedStatement(
                sql:
                    "UPDATE entries SET state = 1, used = (SELECT COALESCE(MAX(used), 0) + 1 FROM entries WHERE state = 1) WHERE id = ?"
            )
            try ready.execute(arguments: [reservation.entry.id])
        }
    }

    /// Gives up entries, so that their bytes do not count and nobody finds them; their files are to be removed next.
    func leave(_ entries: [CacheEntry]) throws {
        try database.write { database in
            let leave = try database.cachedStatement(sql: "UPDATE entries SET state = 2 WHERE id = ?")
            for entry in entries { try leave.execute(arguments: [entry.id]) }
        }
    }

    /// Evicts the least recently used until no more than so many bytes are left.
    /// - Returns: all entries whose files are to be removed next.
    func evict(to bytes: Int) throws -> [CacheEntry] {
        try database.write { database in
            _ = try evict(to: bytes, database)
            return try leaving(database)
        }
    }

    /// Removes entries whose files are gone.
    func forget(_ entries: [CacheEntry]) throws { try database.write { try forget(entries, $0) } }

    func note(used: [Int64]) throws {
        guard !used.isEmpty else { return }
        try database.write { try note(used: used, $0) }
    }

    /// The entries that a process left unfinished when it ended. Only if no other process uses the cache.
    func unfinished() throws -> [CacheEntry] {
        try database.read { try Row.fetchAll($0, sql: "SELECT * FROM entries WHERE state <> 1").map(CacheEntry.init) }
    }

    func recount() throws {
        try database.write {
            try $0.execute(
                sql: """
                    UPDATE total SET bytes = (SELECT COALESCE(SUM(bytes), 0) FROM entries WHERE state < 2),
                        renditions = (SELECT COUNT(*) FROM entries WHERE state = 1)
                    """)
        }
    }

    func close() { try? database.close() }

    // MARK: - Assets

    /// The facts that a worker found out about an asset, as JSON.
    func assetFacts(_ digest: String) throws -> String? {
        try database.read {
            try String.fetchOne($0, sql: "SELECT facts FROM assets WHERE digest = ?", arguments: [digest])
        }
    }

    func add(assetFacts facts: String, _ digest: String) throws {
        try database.write {
            try $0.execute(sql: "INSERT OR REPLACE INTO assets VALUES (?, ?)", arguments: [digest, facts])
        }
    }

    // MARK: - Inside of a transaction

    private func note(used: [Int64], _ database: Database) throws {
        let touch = try database.cachedStatement(
            sql:
                "UPDATE entries SET used = (SELECT MAX(used) + 1 FROM entries WHERE state = 1) WHERE id = ? AND state = 1"
        )
        for id in used { try touch.execute(arguments: [id]) }
    }

    /// - Returns: false if even without all that can go there would be more.
    private func evict(to bytes: Int, _ database: Database) throws -> Bool {
        guard bytes >= 0 else { return false }
        var total = try Int.fetchOne(database, sql: "SELECT bytes FROM total") ?? 0
        guard total > bytes else { return true }
        var going: [Int64] = []
        let oldest = try Row.fetchCursor(database, sql: "SELECT id, bytes FROM entries WHERE state = 1 ORDER BY used")
        while total > bytes, let row = try oldest.next() {
            going.append(row[0])
            total -= row[1] as Int
        }
        guard total <= bytes else { return false }
        let leave = try database.cachedStatement(sql: "UPDATE entries SET state = 2 WHERE id = ?")
        for id in going { try leave.execute(arguments: [id]) }
        return true
    }

    private func leaving(_ database: Database) throws -> [CacheEntry] {
        let statement = try database.cachedStatement(sql: "SELECT * FROM entries WHERE state = 2")
        return try Row.fetchAll(statement).map(CacheEntry.init)
    }

    private func forget(_ entries: [CacheEntry], _ database: Database) throws {
        let forget = try database.cachedStatement(sql: "DELETE FROM entries WHERE id = ?")
        for entry in entries { try forget.execute(arguments: [entry.id]) }
    }
}

extension CacheEntry {
    fileprivate init(_ row: Row) {
        id = row["id"]
        content = CacheContent(
            key: CacheKey(text: row["key"]), bytes: row["bytes"], digest: row["digest"], about: row["about"])
    }
}
