// Locks on the inboxes themselves: two drop folders on one machine must not share one.
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
    package final class Lock: Sendable {
        private let folder: Directory

        fileprivate init(_ folder: Directory) { self.folder = folder }
    }

    /// The lock of one folder. Its mutex is held while the system is asked, which may hang: only those wait who want the
    /// same folder.
    private final class Entry: Sendable {
        private struct Held {
            weak var lock: Lock?
        }

        private let held = Mutex(Held())

        func lock(_ folder: Directory, _ inbox: BytePath) throws(SystemError) -> Lock? {
            try held.withLock { held throws(SystemError) in
                if let lock = held.lock { return lock }
                guard clinux_lock_exclusive(folder.file.descriptor) == 0 else {
                    guard errno == EWOULDBLOCK else { return nil }
                    let remedy =
                        "another imagemill watch takes them; stop one of the two, or give each an inbox of its own"
                    throw SystemError("take the sources in '\(inbox.printable)'", code: EWOULDBLOCK, because: remedy)
                }
                let lock = Lock(folder)
                held.lock = lock
                return lock
            }
        }
    }

    /// As many as there were inboxes.
    private let entries = Mutex<[FileIdentity: Entry]>([:])

    package init() {}

    /// Locks an inbox against other processes. Waits for its file system.
    /// - Returns: nil if its file system has no locks of folders.
    /// - Throws: EWOULDBLOCK if another process has locked it.
    package func lock(_ inbox: BytePath) throws(SystemError) -> Lock? {
        let folder = try Directory(inbox)
        let identity = try folder.identity
        let entry = entries.withLock { entries in
            let entry = entries[identity] ?? Entry()
            entries[identity] = entry
            return entry
        }
        return try entry.lock(folder, inbox)
    }
}
