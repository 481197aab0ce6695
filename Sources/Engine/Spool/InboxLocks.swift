// Locks on the inboxes themselves: two drop folders on one machine must not share one, nor have one inside of another's.
import CLinux
import Glibc
package import Pipeline
import Synchronization

/// The inboxes that this process has locked. For any thread.
///
/// An inbox that is renamed in the mill file has two owners until the first has finished its jobs, so a lock is held by
/// all who ask for it.
package final class InboxLocks: Sendable {
    /// Held as long as this object lives; the system releases it however the process ends.
    ///
    /// The inbox is locked for this process alone. The folders above it are shared by all that have an inbox below, so
    /// that nobody can lock one of them as an inbox.
    package final class Lock: Sendable {
        private let folders: [Directory]

        fileprivate init(_ folders: [Directory]) { self.folders = folders }
    }

    /// The lock of one inbox.
    private final class Entry: Sendable {
        private struct Held {
            weak var lock: Lock?
        }

        /// Held while the system is asked, which may hang: only those wait who want the same inbox.
        let asking = Mutex(())
        private let held = Mutex(Held())

        var lock: Lock? {
            get { held.withLock { $0.lock } }
            set { held.withLock { $0.lock = newValue } }
        }
    }

    /// As many as there were inboxes.
    private let entries = Mutex<[FileIdentity: Entry]>([:])

    package init() {}

    /// Locks an inbox against other processes. Waits for its file system.
    /// - Returns: nil if its file system has no locks of folders.
    /// - Throws: EWOULDBLOCK if another process has locked it, a folder above it, or one inside of it.
    package func lock(_ inbox: BytePath) throws(SystemError) -> Lock? {
        let folder = try Directory(inbox)
        let identity = try folder.identity
        let entry = entries.withLock { entries in
            let entry = entries[identity] ?? Entry()
            entries[identity] = entry
            return entry
        }
        return try entry.asking.withLock { _ throws(SystemError) in
            if let lock = entry.lock { return lock }
            guard clinux_lock_exclusive(folder.file.descriptor) == 0 else {
                guard errno == EWOULDBLOCK else { return nil }
                let isShared = flock(folder.file.descriptor, LOCK_SH | LOCK_NB) == 0
                throw Self.refusal(inbox, isShared ? "has an inbox inside of it" : "takes them")
            }
            let lock = Lock(try [folder] + lockFolders(above: inbox))
            entry.lock = lock
            return lock
        }
    }

    private func lockFolders(above inbox: BytePath) throws(SystemError) -> [Directory] {
        var folders: [Directory] = []
        var path = FileSystem.absolute(inbox) ?? inbox
        while path.bytes.count > 1 {
            path = path.directory
            // One that must not be read cannot be locked. What everybody may write to is no inbox, and who cleans it
            // up passes over what is locked.
            guard let folder = try? Directory(path), let status = try? folder.file.status(), status.mode & S_ISVTX == 0,
                !isLocked(status.identity)
            else { continue }
            guard flock(folder.file.descriptor, LOCK_SH | LOCK_NB) == 0 else {
                guard errno == EWOULDBLOCK else { continue }
                throw Self.refusal(inbox, "takes those in '\(path.printable)', with all that is inside of it")
            }
            folders.append(folder)
        }
        return folders
    }

    /// Whether this process has locked a folder as an inbox.
    private func isLocked(_ folder: FileIdentity) -> Bool { entries.withLock { $0[folder] }?.lock != nil }

    private static func refusal(_ inbox: BytePath, _ what: String) -> SystemError {
        SystemError(
            "take the sources in '\(inbox.printable)'", code: EWOULDBLOCK,
            because: "another imagemill watch \(what); stop one of the two, or give each an inbox of its own")
    }
}
