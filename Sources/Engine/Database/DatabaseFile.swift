// SQLite files in folders of any name, on any file system.
import CLinux
import GRDB
import Pipeline
import System

extension DatabaseError {
    /// SQLite says so of a disk that is too small for the files that it needs beside its own.
    var mayBeForWantOfRoom: Bool { [.SQLITE_IOERR, .SQLITE_ERROR, .SQLITE_CANTOPEN].contains(resultCode) }
}

package enum DatabaseFile {
    /// A file system's support for memory that processes share through a file, which SQLite's WAL needs.
    package enum SharedMemory {
        case works
        /// Each first change of a page takes room on the disk: when it is full, the process ends by SIGBUS.
        case takesRoom
        /// Another machine does not see it.
        case isOfOneMachine

        init(of directory: Directory) {
            self.init(ofType: clinux_file_system_type(directory.file.descriptor))
        }

        /// - Parameter type: the file system's number in statfs(2), 0 if it does not say.
        init(ofType type: UInt32) {
            let btrfs: UInt32 = 0x9123_683E
            let bcachefs: UInt32 = 0xCA45_1A4E
            self =
                [btrfs, bcachefs].contains(type)
                ? .takesRoom
                : type == 0 || RemoteFileSystem.name(ofType: type) != nil ? .isOfOneMachine : .works
        }
    }

    /// The way in which a file is opened.
    struct Options {
        /// For how many seconds it waits while another process writes.
        let patience: Double
        /// Done on each connection.
        let pragmas: String
        var isReadOnly = false
        /// Others can wait while it is open here. Then this process locks it where shared memory does not work, and
        /// needs none.
        var hasOneProcess = false
        /// Nil asks the system.
        var memory: SharedMemory?
    }

    /// Opens a file, and makes it unless it is only read.
    /// - Parameter prepare: done on the connection before anything else is written.
    static func open(
        _ name: BytePath, in folder: Directory, _ options: Options, prepare: (Database) throws -> Void = { _ in }
    ) throws -> DatabaseQueue {
        let memory = options.memory ?? SharedMemory(of: folder)
        let (hasOneProcess, pragmas) = (options.hasOneProcess, options.pragmas)
        var configuration = Configuration()
        configuration.readonly = options.isReadOnly
        configuration.busyMode = .timeout(options.patience)
        configuration.prepareDatabase { database in
            // Before all that reads the file, which would map the memory.
            if hasOneProcess, memory != .works { try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
            try database.execute(sql: pragmas)
        }
        // SQLite's paths are text here, and the folder's need not be; its descriptor's is.
        let path = "/proc/self/fd/\(folder.file.descriptor)/\(name.text)"
        let database = try withExtendedLifetime(folder) { try DatabaseQueue(path: path, configuration: configuration) }
        guard !options.isReadOnly else { return database }
        let hasLog = memory == .works || memory == .takesRoom && hasOneProcess
        try database.writeWithoutTransaction { database in
            try prepare(database)
            try database.execute(sql: "PRAGMA journal_mode = \(hasLog ? "WAL" : "DELETE")")
        }
        return database
    }
}
