// Errors of SQLite as sentences that say what to do.
import GRDB
import Pipeline
import System

extension StoreError {
    /// - Parameter file: the ledger, for the message.
    init(_ error: any Error, file: BytePath) {
        let name = "the ledger '\(file.printable)'"
        guard let error = error as? DatabaseError else {
            self = error as? StoreError ?? StoreError(.inaccessible, "\(name) cannot be used: \(error)")
            return
        }
        let words = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
        switch error.resultCode {
        case .SQLITE_FULL: self = .full(name, words)
        case _ where error.mayBeForWantOfRoom && WriteProbe.isFull(DurableFile.folder(of: file)):
            self = .full(name, words)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(
                .locked, "\(name) is held by another program (\(words)); close it, for instance an open sqlite3 shell")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .damaged(file, words)
        case .SQLITE_IOERR, .SQLITE_PROTOCOL:
            self.init(.unreachable, "\(name) cannot be read or written (\(words)); look after its disk")
        default: self.init(.inaccessible, "\(name) cannot be used: \(words)")
        }
    }

    private static func full(_ name: String, _ words: String) -> StoreError {
        StoreError(.full, "the disk of \(name) is full (\(words)); make room, and it goes on")
    }

    static func damaged(_ file: BytePath, _ words: String) -> StoreError {
        StoreError(
            .damaged,
            "the ledger '\(file.printable)' is damaged (\(words)); move it away together with its -wal and -shm files and start again: "
                + "no picture is in it, and what is in work/ is taken up again")
    }

    static func otherLayout(_ file: BytePath, version: Int) -> StoreError {
        let writer = version > LedgerSchema.version ? "a newer Imagemill" : "an Imagemill that was not released"
        return StoreError(
            .otherLayout,
            "the ledger '\(file.printable)' was written by \(writer) (layout \(version)); install that one again, or give this one "
                + "a 'state' folder of its own")
    }
}
