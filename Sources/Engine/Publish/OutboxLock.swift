// One run at a time writes into an output folder.
import Glibc
import Pipeline
import System

/// Another run writes into the output folder.
package struct OutboxInUse: Error, Equatable, CustomStringConvertible {
    package let description: String
}

/// The lock of an output folder, held as long as this object lives.
package final class OutboxLock: Sendable {
    private let lock: SignedLock?
    /// A note for the user: the file system has no locks, so nothing keeps two runs apart.
    package let note: String?

    /// - Throws: `OutboxInUse`, or `SystemError` if the file cannot be written.
    package init(_ location: OutboxLocation) throws {
        try FileSystem.makeDirectories(location.state)
        let file = try Directory(location.state).openingLock(location.lock.lastComponent, mode: 0o644)
        do {
            (lock, note) = (try SignedLock(file, location.lock), nil)
        } catch let error as LockTaken {
            throw OutboxInUse(
                description:
                    "another 'imagemill run'\(error.words) is writing to '\(location.path.printable)'; wait for it, or choose another folder"
            )
        } catch let error as SystemError where [ENOLCK, EOPNOTSUPP, ENOSYS].contains(error.code) {
            (lock, note) = (
                nil,
                "the file system of '\(location.state.printable)' has no locks; run only one 'imagemill run' into '\(location.path.printable)' at once"
            )
        }
    }
}
