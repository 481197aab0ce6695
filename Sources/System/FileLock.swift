// Locks on open files and folders, which the system releases however the process ends.
import CLinux
import Glibc
package import Pipeline

/// The answer to a request for a lock.
package enum LockAnswer: Equatable {
    case locked
    /// Somebody else has a lock that excludes it.
    case taken
    /// The file system has no locks, or none of folders, or it fails.
    case impossible(code: CInt)
}

extension OpenFile {
    /// Locks the file or folder against all who do not share the lock. Never waits.
    package func lock(isShared: Bool = false) -> LockAnswer {
        guard flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 else { return .locked }
        return errno == EWOULDBLOCK ? .taken : .impossible(code: errno)
    }

    /// Takes a shared lock. Waits while somebody has an exclusive one.
    package func waitForSharedLock() throws(SystemError) {
        while flock(descriptor, LOCK_SH) != 0 { guard errno == EINTR else { throw SystemError("share a lock") } }
    }
}

extension Directory {
    /// Opens the file of a lock, which is made if it is missing. A file is locked, since NFS has no locks of folders.
    /// - Parameter mode: permissions of a new file. Whoever may read it may lock it.
    package func openingLock(_ name: BytePath, mode: UInt32 = 0o600) throws(SystemError) -> OpenFile {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let descriptor = withPath(name) { clinux_openat(file.descriptor, $0, flags, mode) }
        guard descriptor >= 0 else { throw SystemError("open '\(shown(name))'") }
        return OpenFile(owning: descriptor)
    }
}
