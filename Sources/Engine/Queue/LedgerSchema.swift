// The tables of the ledger, and how the ledger of an older version becomes one of this.
import FoundationEssentials
import GRDB
import Pipeline

enum LedgerSchema {
    /// The number of the present layout in the file's header, where version 0.1 looks for it. Rises with each
    /// migration.
    static let version = 2

    /// The condition of every index and query over open jobs: SQLite uses a partial index only if the query repeats its
    /// words.
    static let isOpen = "state NOT IN ('done', 'failed')"

    /// - Parameters:
    ///   - inboxes: the inboxes' names by their paths, for a ledger of version 0.1, which knew paths only.
    ///   - outboxes: the keys of the output folders by their paths, for the same.
    static func migrator(inboxes: [BytePath: String], outboxes: [BytePath: BytePath]) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("jobs with leases", foreignKeyChecks: .immediate) { database in
            let isFirstLayout = try database.tableExists("jobs")
            if isFirstLayout { try FirstLayout.setAside(database) }
            try database.execute(sql: tables)
            if isFirstLayout { try FirstLayout.takeOver(inboxes: inboxes, outboxes: outboxes, database) }
            // Version 0.1 refuses a ledger with a higher number, as this one does.
            try database.execute(sql: "PRAGMA user_version = \(version)")
        }
        // An older program leaves this table alone.
        migrator.registerMigration("hooks") { try $0.execute(sql: hooks) }
        migrator.registerMigration("clock and shelves") { try $0.execute(sql: clockAndShelves) }
        // An older program writes rows without it.
        migrator.registerMigration("ends of the program") {
            try $0.execute(sql: "ALTER TABLE jobs ADD COLUMN ends INTEGER NOT NULL DEFAULT 0")
        }
        // A job of an older program says only whether its original is kept; it is not deleted.
        migrator.registerMigration("originals that are deleted") {
            try $0.execute(sql: "ALTER TABLE jobs ADD COLUMN deletes_original INTEGER NOT NULL DEFAULT 0")
        }
        // Names that an older program adds have none, and are believed as they were.
        migrator.registerMigration("contents of names") {
            try $0.execute(sql: "ALTER TABLE names ADD COLUMN contents TEXT")
        }
        migrator.registerMigration("pauses and history") { try $0.execute(sql: pausesAndHistory) }
        // A table of its own, which is nearly empty: rows of jobs that grow and shrink would split the pages of `jobs`.
        // By the numbers of jobs, since a row that is found by a text spills most of a report into a page of its own.
        migrator.registerMigration("reports by the numbers of jobs") {
            try $0.execute(
                sql: """
                    DROP TABLE IF EXISTS reports;
                    CREATE TABLE reports (job INTEGER PRIMARY KEY, document BLOB NOT NULL);
                    """)
        }
        migrator.registerMigration("losses of hooks") {
            try $0.execute(
                sql: """
                    CREATE TABLE hook_losses (
                        number INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, inbox TEXT NOT NULL, event TEXT, source BLOB,
                        action TEXT, count INTEGER NOT NULL, reason TEXT NOT NULL)
                    """)
        }
        migrator.registerMigration("identity of the drop folder") {
            try $0.execute(sql: "CREATE TABLE identity (text TEXT NOT NULL)")
        }
        return migrator
    }

    private static let hooks = """
        CREATE TABLE hooks (
            number INTEGER PRIMARY KEY AUTOINCREMENT, inbox TEXT NOT NULL, event TEXT NOT NULL, key TEXT NOT NULL, body BLOB,
            attempts INTEGER NOT NULL, not_before INTEGER NOT NULL, created INTEGER NOT NULL, UNIQUE (inbox, key));
        CREATE INDEX due_hooks ON hooks (not_before, inbox) WHERE body IS NOT NULL;
        """

    private static let clockAndShelves = """
        CREATE TABLE clock (time INTEGER NOT NULL, wall INTEGER NOT NULL, uptime INTEGER NOT NULL);
        CREATE TABLE shelved (
            inbox TEXT NOT NULL, shelf TEXT NOT NULL, path BLOB NOT NULL, changed INTEGER NOT NULL, bytes INTEGER NOT NULL,
            since INTEGER NOT NULL, PRIMARY KEY (inbox, shelf, path)) WITHOUT ROWID;
        CREATE INDEX oldest_shelved ON shelved (inbox, shelf, since, changed);
        """

    private static let pausesAndHistory = """
        CREATE TABLE pauses (inbox TEXT PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE history (
            inbox TEXT NOT NULL, hour INTEGER NOT NULL, done INTEGER NOT NULL, failed INTEGER NOT NULL,
            PRIMARY KEY (inbox, hour)) WITHOUT ROWID;
        """

    private static let tables = """
        CREATE TABLE jobs (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, inbox TEXT NOT NULL, path BLOB NOT NULL, is_set INTEGER NOT NULL,
            device INTEGER NOT NULL, inode INTEGER NOT NULL, bytes INTEGER NOT NULL, modified INTEGER NOT NULL, keeps_original INTEGER NOT NULL,
            state TEXT NOT NULL, attempts INTEGER NOT NULL, not_before INTEGER NOT NULL,
            code TEXT, stage TEXT, message TEXT, detail TEXT,
            recipe TEXT NOT NULL, offered INTEGER NOT NULL, changed INTEGER NOT NULL,
            owner TEXT, token TEXT, lease_until INTEGER);
        CREATE UNIQUE INDEX one_open_job ON jobs (inbox, path) WHERE \(isOpen);
        CREATE INDEX due_jobs ON jobs (inbox, not_before, number) WHERE \(isOpen);
        CREATE INDEX done_jobs ON jobs (number) WHERE state = 'done';
        CREATE INDEX failed_jobs ON jobs (number) WHERE state = 'failed';
        CREATE TABLE names (
            outbox BLOB NOT NULL, name BLOB NOT NULL, source BLOB NOT NULL, PRIMARY KEY (outbox, name)) WITHOUT ROWID;
        CREATE INDEX names_of_sources ON names (outbox, source);
        CREATE TABLE kept (
            inbox TEXT NOT NULL, path BLOB NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL, bytes INTEGER NOT NULL,
            modified INTEGER NOT NULL, recipe TEXT NOT NULL, code TEXT, PRIMARY KEY (inbox, path)) WITHOUT ROWID;
        CREATE TABLE totals (inbox TEXT PRIMARY KEY, done INTEGER NOT NULL, failed INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE inboxes (name TEXT PRIMARY KEY, path BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE former_paths (inbox TEXT NOT NULL, path BLOB NOT NULL, PRIMARY KEY (inbox, path)) WITHOUT ROWID;
        """
}

/// The ledger of version 0.1: inboxes were absolute paths, and jobs had no leases.
private enum FirstLayout {
    static let tables = ["jobs", "names", "kept", "totals"]

    static func setAside(_ database: Database) throws {
        // Indexes go with their table under their old names, which the new ones may need.
        try database.execute(sql: "DROP INDEX IF EXISTS open_jobs; DROP INDEX IF EXISTS ended_jobs")
        for table in tables where try database.tableExists(table) {
            try database.execute(sql: "ALTER TABLE \(table) RENAME TO first_\(table)")
        }
    }

    static func takeOver(inboxes: [BytePath: String], outboxes: [BytePath: BytePath], _ database: Database) throws {
        try database.execute(sql: "CREATE TEMP TABLE known (path BLOB PRIMARY KEY, name TEXT NOT NULL)")
        let paths = try Data.fetchAll(
            database,
            sql: "SELECT inbox FROM first_jobs UNION SELECT inbox FROM first_kept UNION SELECT inbox FROM first_totals")
        for path in paths.map({ BytePath([UInt8]($0)) }) {
            // One that is no longer in the mill file keeps its path as its name, so that its jobs are reported under
            // it.
            try database.execute(
                sql: "INSERT INTO known VALUES (?, ?)", arguments: [path.blob, inboxes[path] ?? path.text])
        }
        try database.execute(sql: copies)
        try rename(inboxes: inboxes, outboxes: outboxes, database)
        for table in tables { try database.execute(sql: "DROP TABLE first_\(table)") }
        try database.execute(sql: "DROP TABLE known")
    }

    /// A job that was claimed had its row before its source was renamed; where the source is now, recovery finds out.
    /// Only one job of a path may be open: of several, the latest stays.
    private static let copies = """
        INSERT OR REPLACE INTO jobs (number, id, inbox, path, is_set, device, inode, bytes, modified, keeps_original, state, attempts, not_before,
            code, stage, message, detail, recipe, offered, changed)
        SELECT number, id, (SELECT name FROM known WHERE known.path = inbox), path, 0, device, inode, bytes, modified, stays,
            CASE state WHEN 'claimed' THEN 'offered' WHEN 'rendering' THEN 'running' WHEN 'finished' THEN 'done' ELSE state END,
            attempts, not_before, code, stage, message, detail, '', claimed, changed
        FROM first_jobs ORDER BY number;
        INSERT INTO inboxes (name, path) SELECT name, path FROM known;
        INSERT INTO names (outbox, name, source) SELECT outbox, name, source FROM first_names;
        INSERT OR REPLACE INTO kept (inbox, path, device, inode, bytes, modified, recipe, code)
        SELECT (SELECT name FROM known WHERE known.path = inbox), path, device, inode, bytes, modified, recipe, code FROM first_kept;
        INSERT INTO totals (inbox, done, failed)
        SELECT (SELECT name FROM known WHERE known.path = inbox) AS inbox_name, sum(done), sum(failed) FROM first_totals GROUP BY inbox_name;
        """

    /// Names were owned by absolute paths.
    private static func rename(inboxes: [BytePath: String], outboxes: [BytePath: BytePath], _ database: Database) throws
    {
        // The longest first, so that an inbox within another one keeps its own.
        for (path, name) in inboxes.sorted(by: { $0.key.bytes.count > $1.key.bytes.count }) {
            try database.renameOwners(from: path, to: BytePath(name))
        }
        for (old, new) in outboxes where old != new {
            try database.execute(
                sql: "UPDATE OR REPLACE names SET outbox = ? WHERE outbox = ?", arguments: [new.blob, old.blob])
        }
    }
}

extension Database {
    /// Gives the names that sources of one inbox own to the sources of the same paths in another.
    func renameOwners(from old: BytePath, to new: BytePath) throws {
        let prefix = old.bytes + [UInt8(ascii: "/")]
        // Joining two blobs gives a text of the same bytes.
        try execute(
            sql: "UPDATE names SET source = CAST(? || substr(source, ?) AS BLOB) WHERE substr(source, 1, ?) = ?",
            arguments: [new.blob, prefix.count, prefix.count, Data(prefix)])
    }
}

extension BytePath {
    /// The path as the database keeps it.
    var blob: Data { Data(bytes) }

    init(blob: Data) { self.init([UInt8](blob)) }
}
