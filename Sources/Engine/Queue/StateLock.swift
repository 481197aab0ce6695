// The lock on a state folder: one drop folder at a time works with it.
import Glibc
package import Pipeline
import System

/// Another process works with the state folder.
package struct StateInUse: Error, Equatable, CustomStringConvertible {
    package let description: String
}

/// The state folder is another user's, who could not use what this one wrote into it.
package struct ForeignState: Error, Equatable {
    package let state: BytePath
    /// The number of the user.
    package let owner: UInt32
}

/// A lock on a state folder, held as long as this object lives: on the file `lock` in it.
package final class StateLock: Sendable {
    private let lock: SignedLock

    /// - Throws: `StateInUse`, `ForeignState`, or `SystemError` if the folder cannot be used.
    package init(state: BytePath) throws {
        do throws(SystemError) {
            try DurableFile.makeFolders(state)
        } catch {
            throw SystemError.withoutRight(
                "make the state folder '\(state.printable)' ('state' in the mill file)", in: state.directory,
                code: error.code)
        }
        if let owner = Self.otherOwner(of: state) { throw ForeignState(state: state, owner: owner) }
        let path = state.appending(BytePath("lock"))
        let file: OpenFile
        do throws(SystemError) {
            file = try Directory(state).openingLock(path.lastComponent)
        } catch {
            throw SystemError.withoutRight("open '\(path.printable)'", in: state, code: error.code)
        }
        do {
            lock = try SignedLock(file, path)
        } catch let error as LockTaken {
            throw StateInUse(
                description:
                    "another imagemill watch\(error.words) works with the state folder '\(state.printable)'; stop it first, or give this one "
                    + "a 'state' folder of its own")
        }
    }

    /// Users of services, in most distributions.
    private static let serviceUsers: Range<uid_t> = 1..<1000

    /// The user who works with the state folder, if this one is root, who may write there all the same; nil if it is
    /// root's own. A folder that nothing has worked with yet may have been made for root by a person, but not by a
    /// service.
    private static func otherOwner(of state: BytePath) -> uid_t? {
        guard geteuid() == 0 else { return nil }
        let files = [LedgerFile.name, BytePath("lock")].map { state.appending($0) }
        let owner: uid_t
        if let known = files.firstFound({ (try? FileSystem.status($0)) ?? nil }) {
            owner = known.owner
        } else if let folder = (try? FileSystem.status(state)) ?? nil, serviceUsers.contains(folder.owner) {
            owner = folder.owner
        } else {
            return nil
        }
        // On a share that takes root for somebody else, all is that user's.
        return owner == geteuid() || owner == ownerOfNewFiles(in: state) ? nil : owner
    }

    private static func ownerOfNewFiles(in folder: BytePath) -> uid_t? {
        guard let directory = try? Directory(folder),
            let staged = try? StagedFile(
                in: directory, destination: folder.appending(BytePath("owner")), token: DurableFile.newToken)
        else { return nil }
        staged.removeName()
        return try? staged.file.status().owner
    }
}
