// SQLite files in folders of any name, on any file system.
import GRDB
import Pipeline

extension DatabaseError {
    /// SQLite says so of a disk that is too small for the files that it needs beside its own.
    var mayBeForWantOfRoom: Bool { [.SQLITE_IOERR, .SQLITE_ERROR, .SQLITE_CANTOPEN].contains(resultCode) }
}

enum DatabaseFile {
    /// Opens a file, and makes it unless the configuration is for reading only.
    /// - Parameters:
    ///   - isRemote: whether the folder is on a network file system; nil asks the system.
    ///   - prepare: done on the connection before anything else is written.
    static func open(
        _ name: BytePath, in folder: Directory, _ configuration: Configuration, isRemote: Bool? = nil,
        prepare: (Database) throws -> Void = { _ in }
    ) throws -> DatabaseQueue {
        // SQLite's paths are text here, and the folder's need not be; its descriptor's is.
        let path = "/proc/self/fd/\(folder.file.descriptor)/\(name.text)"
        let database = try withExtendedLifetime(folder) { try DatabaseQueue(path: path, configuration: configuration) }
        guard !configuration.readonly else { return database }
        // WAL needs memory that all processes share, which a network file system does not give.
        let isRemote = isRemote ?? (RemoteFileSystem.name(of: folder) != nil)
        try database.writeWithoutTransaction { database in
            try prepare(database)
            try database.execute(sql: "PRAGMA journal_mode = \(isRemote ? "DELETE" : "WAL")")
        }
        return database
    }
}
