// What can go wrong with a store, as sentences that say what to do.
import GRDB
package import Pipeline
import System

package struct StoreError: Error, Equatable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// The disk is full.
        case full
        /// Another program holds the file.
        case locked
        /// The file is no ledger, or damaged.
        case damaged
        /// A newer version of this program has written it.
        case tooNew
        /// It cannot be opened, read or written.
        case inaccessible
    }

    package let kind: Kind
    package let description: String

    init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }

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
            .tooNew,
            "the ledger '\(file.printable)' was written by \(writer) (layout \(version)); install that one again, or give this one "
                + "a 'state' folder of its own")
    }

    /// What it means for a source that was under way.
    package var asFailure: Failure {
        switch kind {
        case .full: Failure(.diskFull, stage: "publish", description)
        case .locked, .damaged, .tooNew, .inaccessible: Failure(.ioError, stage: "publish", description)
        }
    }
}

extension StoreError {
    /// Why an inbox pauses that cannot use its store.
    package var pauseReason: PauseReason { kind == .full ? .noSpace : .ioError }
}
