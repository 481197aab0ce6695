// Locks on the inboxes themselves: two drop folders on one machine must not share one, nor have one inside of another's.
import Glibc
package import Pipeline
import Synchronization
package import System

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
        /// The folders that somebody else has locked, who may be anybody: whoever may read a folder may lock it. They
        /// do not keep the inbox from working, but another program of this user's does not see that it works.
        package let strangers: [BytePath]

        fileprivate init(_ folders: [Directory], strangers: [BytePath]) {
            self.folders = folders
            self.strangers = strangers
        }
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
    /// - Throws: EWOULDBLOCK if another process of this user's, or an imagemill of another user who may take the files, has
    ///   locked it, a folder above it, or one inside of it.
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
            var (held, strangers): ([Directory], [BytePath]) = ([], [])
            switch Self.lock(folder) {
            case .locked: held.append(folder)
            case .impossible: return nil
            case .taken(by: .stranger): strangers.append(inbox)
            case .taken(by: let owner):
                let isShared = folder.file.lock(isShared: true) == .locked
                throw Self.refusal(inbox, owner, isShared ? "has an inbox inside of it" : "takes them")
            }
            try lockFolders(above: inbox, &held, &strangers)
            let lock = Lock(held, strangers: strangers)
            entry.lock = lock
            return lock
        }
    }

    private func lockFolders(
        above inbox: BytePath, _ held: inout [Directory], _ strangers: inout [BytePath]
    ) throws(SystemError) {
        var path = FileSystem.absolute(inbox) ?? inbox
        while path.bytes.count > 1 {
            path = path.directory
            // One that must not be read cannot be locked. What everybody may write to is no inbox, and who cleans it
            // up passes over what is locked.
            guard let folder = try? Directory(path), let status = try? folder.file.status(), status.mode & S_ISVTX == 0,
                !isLocked(status.identity)
            else { continue }
            switch Self.lock(folder, isShared: true) {
            case .locked: held.append(folder)
            case .impossible: continue
            case .taken(by: .stranger): strangers.append(path)
            case .taken(by: let owner):
                throw Self.refusal(inbox, owner, "takes those in '\(path.printable)', with all that is inside of it")
            }
        }
    }

    private enum Locking {
        case locked
        /// The file system has no locks of folders.
        case impossible
        case taken(by: LockOwner)
    }

    private static func lock(_ folder: Directory, isShared: Bool = false) -> Locking {
        // Once more if whoever had it has let it go meanwhile, and so is not in the table.
        for isLast in [false, true] {
            switch folder.file.lock(isShared: isShared) {
            case .locked: return .locked
            case .impossible: return .impossible
            case .taken: break
            }
            let owner = LockOwner(of: folder, by: .current, .current)
            if isLast || owner != .stranger { return .taken(by: owner) }
        }
        return .impossible
    }

    /// Whether this process has locked a folder as an inbox.
    private func isLocked(_ folder: FileIdentity) -> Bool { entries.withLock { $0[folder] }?.lock != nil }

    private static func refusal(_ inbox: BytePath, _ owner: LockOwner, _ what: String) -> SystemError {
        let holder =
            if case .rival(let process, let user) = owner { " (process \(process) of '\(user)')" } else { "" }
        return SystemError(
            "take the sources in '\(inbox.printable)'", code: EWOULDBLOCK,
            because: "another imagemill watch\(holder) \(what); stop one of the two, or give each an inbox of its own")
    }
}
