// The tables of the ledger.
import FoundationEssentials
import GRDB
import Pipeline

enum LedgerSchema {
    /// The number of the present layout in the file's header. Rises with each migration.
    static let version = 5
    /// The layouts that are brought to the present one.
    static let released = 5...version

    /// The condition of every query over open jobs: SQLite uses a partial index only if the query repeats its words.
    static let isOpen = "state NOT IN ('done', 'failed')"

    /// A migration that was released stays as it is: it names no word of the code, and the next one comes after it.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("ledger") { try $0.execute(sql: ledger) }
        return migrator
    }

    // Reports have a table of their own, which is nearly empty: rows of jobs that grow and shrink would split the pages
    // of `jobs`. By the numbers of jobs, since a row that is found by a text spills most of a report into a page of its
    // own.
    private static let ledger = """
        CREATE TABLE jobs (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            inbox TEXT NOT NULL,
            path BLOB NOT NULL,
            is_set INTEGER NOT NULL CHECK (is_set IN (0, 1)),
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            originals TEXT NOT NULL CHECK (originals IN ('move', 'keep', 'delete')),
            state TEXT NOT NULL
                CHECK (state IN ('offered', 'running', 'waiting', 'published', 'rejected', 'done', 'failed')),
            attempts INTEGER NOT NULL CHECK (attempts >= 0),
            ends INTEGER NOT NULL CHECK (ends >= 0),
            not_before INTEGER NOT NULL,
            code TEXT,
            stage TEXT,
            message TEXT,
            detail TEXT,
            recipe TEXT NOT NULL,
            offered INTEGER NOT NULL,
            changed INTEGER NOT NULL,
            owner TEXT,
            token TEXT,
            lease_until INTEGER,
            contents TEXT,
            CHECK ((owner IS NULL) = (token IS NULL) AND (token IS NULL) = (lease_until IS NULL)));
        CREATE UNIQUE INDEX one_open_job ON jobs (inbox, path) WHERE state NOT IN ('done', 'failed');
        CREATE INDEX due_jobs ON jobs (inbox, not_before, number) WHERE state NOT IN ('done', 'failed');
        CREATE INDEX same_contents ON jobs (inbox, contents) WHERE contents IS NOT NULL;
        CREATE INDEX contents_of_paths ON jobs (inbox, path) WHERE contents IS NOT NULL;
        CREATE INDEX done_jobs ON jobs (number) WHERE state = 'done';
        CREATE INDEX failed_jobs ON jobs (number) WHERE state = 'failed';
        CREATE TABLE reports (job INTEGER PRIMARY KEY, document BLOB NOT NULL);
        CREATE TABLE names (
            outbox BLOB NOT NULL, name BLOB NOT NULL, source BLOB NOT NULL, contents TEXT, PRIMARY KEY (outbox, name)) WITHOUT ROWID;
        CREATE INDEX names_of_sources ON names (outbox, source);
        CREATE TABLE kept (
            inbox TEXT NOT NULL, path BLOB NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL, bytes INTEGER NOT NULL,
            modified INTEGER NOT NULL, recipe TEXT NOT NULL, code TEXT, PRIMARY KEY (inbox, path)) WITHOUT ROWID;
        CREATE TABLE shelved (
            inbox TEXT NOT NULL, shelf TEXT NOT NULL, path BLOB NOT NULL, changed INTEGER NOT NULL, bytes INTEGER NOT NULL,
            since INTEGER NOT NULL, PRIMARY KEY (inbox, shelf, path)) WITHOUT ROWID;
        CREATE INDEX oldest_shelved ON shelved (inbox, shelf, since, changed);
        CREATE TABLE totals (inbox TEXT PRIMARY KEY, done INTEGER NOT NULL, failed INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE history (
            inbox TEXT NOT NULL, hour INTEGER NOT NULL, done INTEGER NOT NULL, failed INTEGER NOT NULL,
            PRIMARY KEY (inbox, hour)) WITHOUT ROWID;
        CREATE TABLE inboxes (name TEXT PRIMARY KEY, path BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE former_paths (inbox TEXT NOT NULL, path BLOB NOT NULL, PRIMARY KEY (inbox, path)) WITHOUT ROWID;
        CREATE TABLE pauses (inbox TEXT PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE hooks (
            number INTEGER PRIMARY KEY AUTOINCREMENT, inbox TEXT NOT NULL, event TEXT NOT NULL, key TEXT NOT NULL, body BLOB,
            attempts INTEGER NOT NULL CHECK (attempts >= 0), not_before INTEGER NOT NULL, created INTEGER NOT NULL, UNIQUE (inbox, key));
        CREATE INDEX due_hooks ON hooks (not_before, inbox) WHERE body IS NOT NULL;
        CREATE TABLE hook_losses (
            number INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, inbox TEXT NOT NULL, event TEXT, source BLOB,
            action TEXT, count INTEGER NOT NULL, reason TEXT NOT NULL);
        CREATE TABLE clock (time INTEGER NOT NULL, wall INTEGER NOT NULL, uptime INTEGER NOT NULL);
        CREATE TABLE identity (text TEXT NOT NULL);
        PRAGMA user_version = 5;
        """
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
