// OUT/.imagemill/names.sqlite: which source owns which name, and what each source's results were. Opened here for all who use it.
import GRDB
import Pipeline

enum OutboxRecord {
    static let fileName = BytePath("names.sqlite")

    /// Where the record of an output folder stands.
    static func folder(_ outbox: BytePath) -> BytePath { outbox.appending(BytePath(".imagemill")) }

    /// Opens the record for reading and writing, and makes what is missing in it: an older version knew names only.
    /// - Parameter isDryRun: what is recorded there is copied, and nothing is written.
    static func open(in folder: BytePath, isDryRun: Bool) throws -> DatabaseQueue {
        let database: DatabaseQueue
        if isDryRun {
            database = try DatabaseQueue(configuration: configuration())
            if try FileSystem.status(folder.appending(fileName)) != nil { try connect(folder, isReadOnly: true).backup(to: database) }
        } else {
            database = try connect(folder, isReadOnly: false)
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        }
        try database.write(makeTables)
        return database
    }

    /// Opens the record as it stands there.
    static func connect(_ folder: BytePath, isReadOnly: Bool) throws -> DatabaseQueue {
        // SQLite's paths are text here, and the folder's need not be; its descriptor's is.
        let folder = try OpenFile.reading(folder)
        let path = "/proc/self/fd/\(folder.descriptor)/\(fileName.text)"
        return try withExtendedLifetime(folder) { try DatabaseQueue(path: path, configuration: configuration(isReadOnly: isReadOnly)) }
    }

    private static func configuration(isReadOnly: Bool = false) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.busyMode = .timeout(30)
        configuration.prepareDatabase { database in
            // A name that is lost with the power was not published either, in this order of writing.
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        return configuration
    }

    private static func makeTables(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS names (name BLOB PRIMARY KEY, source BLOB NOT NULL) WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS setups (id INTEGER PRIMARY KEY, parts TEXT NOT NULL UNIQUE);
                CREATE TABLE IF NOT EXISTS results (
                    source BLOB PRIMARY KEY, relative BLOB NOT NULL, setup INTEGER NOT NULL, fingerprint BLOB NOT NULL, outputs BLOB NOT NULL,
                    failure TEXT, document TEXT)
                """)
    }
}
