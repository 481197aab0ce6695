// One source from its claim to its end, as lanes hand it on.
package import Pipeline

/// A claimed source with what is to be done next.
struct MillJob: Sendable {
    enum Task: Sendable {
        /// Render and publish.
        case attempt
        /// It has used up its attempts, or cannot succeed.
        case reject(Failure)
        /// It is recorded as rejected; the source still has to go to `failed/`.
        case quarantine(Failure)
        /// It is recorded as published; the source still has to leave.
        case commit
    }

    let id: JobID
    let post: InboxPost
    /// Where its folder stands; the inbox' may be another one by now.
    let place: WorkPlace
    /// The path from the inbox.
    let relative: BytePath
    let isSet: Bool
    let observed: ObservedFile
    /// The source stays in the inbox, and what stands in `work/` is a copy.
    let staysInInbox: Bool
    var task = Task.attempt
    /// How many attempts were begun so far.
    var attempts = 0
    /// Of the route that the last attempt took; nil where that was before this start.
    var recipe: String?
    /// What the inbox offered, and awaits an answer for; nil where it was answered.
    var offered: ReadySource?
}

extension ObservedFile {
    init(_ sighting: Sighting) {
        // What changes with every member of a set is in `changed`.
        let modified = sighting.kind == .directory ? sighting.changed : sighting.modified
        self.init(device: sighting.identity.device, inode: sighting.identity.inode, bytes: sighting.bytes, modified: modified)
    }
}

/// What the drop folder has to say, for the log.
package enum MillEvent: Sendable {
    case note(WatchNote)
    case done(JobID, SourceReport)
    case failed(JobID, BytePath, Failure, attempts: Int)
    /// It is tried again after so many milliseconds.
    case postponed(JobID, BytePath, Failure, attempt: Int, after: Int)
    /// It went back to the inbox, since somebody still writes to it.
    case putBack(BytePath)
    case paused(InboxPause)
    case resumed
    /// What an earlier start had begun is taken up again.
    case takenUp(Int)
    /// Somebody has removed a claimed source.
    case lost(JobID, BytePath)
    /// Something that has no better name: a sentence.
    case trouble(String)
}

/// Who listens to the drop folder. Called from any thread.
package protocol MillObserver: Sendable {
    /// - Parameter inbox: its name.
    func happened(_ event: MillEvent, inbox: String)
}
