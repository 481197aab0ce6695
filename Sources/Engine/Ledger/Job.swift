// A job as the ledger keeps it: one source, from its claim to its end. Plain values; nothing here touches a disk.
import Glibc
package import Pipeline

/// What tells one state of a file from another.
package struct ObservedFile: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let bytes: Int
    /// Nanoseconds since 1970; compared, never reckoned with.
    package let modified: Int

    package init(device: UInt64, inode: UInt64, bytes: Int, modified: Int) {
        (self.device, self.inode, self.bytes, self.modified) = (device, inode, bytes, modified)
    }

    package init(_ status: FileStatus) {
        self.init(device: status.device, inode: status.inode, bytes: status.bytes, modified: status.modified)
    }
}

/// How far a job is. The order of the cases is that of a life.
package enum JobState: String, CaseIterable, Sendable {
    /// Recorded; the source is about to be renamed into `work/`, or is there.
    case claimed
    /// An attempt is under way, or was when the power went.
    case rendering
    /// Waits for another attempt.
    case waiting
    /// All renditions and the report are in place; the source is to leave `work/`.
    case published
    /// It has failed for good; the source is to go to `failed/`.
    case rejected
    /// The source has left, after success.
    case finished
    /// The source is in `failed/`.
    case failed

    /// There is something left to do.
    package var isOpen: Bool {
        switch self {
        case .claimed, .rendering, .waiting, .published, .rejected: true
        case .finished, .failed: false
        }
    }
}

/// What is to be recorded of a source before it is claimed.
package struct NewJob: Sendable {
    package let id: JobID
    /// The inbox' absolute path.
    package let inbox: BytePath
    /// The source's path from the inbox.
    package let path: BytePath
    package let observed: ObservedFile
    /// The source stays in the inbox (`originals: keep`), so there is nothing of it in `work/`.
    package let staysInInbox: Bool

    package init(id: JobID, inbox: BytePath, path: BytePath, observed: ObservedFile, staysInInbox: Bool = false) {
        (self.id, self.inbox, self.path, self.observed, self.staysInInbox) = (id, inbox, path, observed, staysInInbox)
    }
}

/// A job as recorded. Times are milliseconds since 1970.
package struct Job: Equatable, Sendable {
    package let id: JobID
    package let inbox: BytePath
    package let path: BytePath
    package let observed: ObservedFile
    package let staysInInbox: Bool
    package var state: JobState
    /// How many were begun, the present one included.
    package var attempts: Int
    /// No attempt before this time.
    package var notBefore: Int
    /// Why the last attempt failed.
    package var failure: Failure?
    /// The names of its renditions, from the outbox; empty until they are claimed.
    package var names: [BytePath]
    package let claimed: Int
    package var changed: Int

    /// The path that owns the names of its renditions.
    package var identity: BytePath { inbox.appending(path) }
}

/// Milliseconds since 1970.
package func wallClock() -> Int {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}
