// A job: one source of one inbox and what has happened to it so far. Plain values; nothing here touches a disk or knows
// a clock.
package import Pipeline
package import System

/// A source that intake considers complete, as it is handed to the queue.
package struct NewJob: Equatable, Sendable {
    package let id: JobID
    /// The inbox's name in the mill file: its identity, whatever its path is.
    package let inbox: String
    /// The source's path from the inbox.
    package let path: BytePath
    package let isSet: Bool
    package let observed: FileVersion
    /// The policy for the source after the job, as the mill file had it when the source was offered.
    package let originals: OriginalPolicy
    /// It is in the spool already: recovery found it there, and the store did not know it.
    package let isInSpool: Bool

    package init(
        id: JobID, inbox: String, path: BytePath, isSet: Bool = false, observed: FileVersion,
        originals: OriginalPolicy = .move, isInSpool: Bool = false
    ) {
        self.id = id
        self.inbox = inbox
        self.path = path
        self.isSet = isSet
        self.observed = observed
        self.originals = originals
        self.isInSpool = isInSpool
    }
}

/// A job as the store keeps it.
package struct Job: Equatable, Sendable {
    package let id: JobID
    package let inbox: String
    package let path: BytePath
    package let isSet: Bool
    package let observed: FileVersion
    package let originals: OriginalPolicy
    package var progress: JobProgress
    /// The recipe when its last attempt began: a digest of the pipeline and of the options.
    package var recipe: String
    /// The report of the attempt that made it `published` or `rejected`, as a document, until it is settled and its hook
    /// has the report.
    package var report: [UInt8]?
    /// When it was offered, in the store's time.
    package let offered: Int
    /// Milliseconds since 1970, for people to read.
    package var changed: Int

    package init(
        id: JobID, inbox: String, path: BytePath, isSet: Bool, observed: FileVersion, originals: OriginalPolicy,
        progress: JobProgress,
        recipe: String = "", report: [UInt8]? = nil, offered: Int, changed: Int
    ) {
        self.id = id
        self.inbox = inbox
        self.path = path
        self.isSet = isSet
        self.observed = observed
        self.originals = originals
        self.progress = progress
        self.recipe = recipe
        self.report = report
        self.offered = offered
        self.changed = changed
    }

    /// The snapshot in the spool is a copy, and the original stays in the inbox.
    package var keepsOriginal: Bool { originals == .keep }

    /// The name by which it owns the names of its renditions: the inbox and the path in it.
    package var owner: BytePath { BytePath(inbox).appending(path) }

    /// The inbox and the path of the owner of a name: no inbox has a slash in its name.
    static func inboxAndPath(of owner: BytePath) -> (inbox: String, path: BytePath) {
        let parts = owner.bytes.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        return (String(decoding: parts[0], as: UTF8.self), BytePath(Array(parts.dropFirst().first ?? [])))
    }

    /// Several jobs like this can share their syncs. What was begun before is done alone: it may be what took the
    /// program down.
    package func isLight(below bytes: Int) -> Bool {
        !isSet && progress.state == .offered && progress.attempts == 0 && !progress.isSuspect
            && observed.stamp.bytes <= bytes
    }
}
