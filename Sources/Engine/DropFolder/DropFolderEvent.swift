// The events of the drop folder, for the log.
package import Pipeline

/// Something that has happened in the drop folder.
package enum DropFolderEvent: Sendable {
    case note(WatchNote)
    case done(JobID, SourceReport)
    case failed(JobID, BytePath, Failure, attempts: Int)
    /// It is tried again after so many milliseconds.
    case postponed(JobID, BytePath, Failure, attempt: Int, after: Int)
    /// It went back to the inbox, because somebody still writes to it.
    case putBack(BytePath)
    case paused(Pause)
    case resumed
    /// A person has asked for it: no hook hears of it.
    case pausedByRequest, resumedByRequest
    /// A person has paused it before the start, and nobody has ended that: since when, in milliseconds since 1970.
    case staysPausedByRequest(since: Int)
    /// Jobs that an earlier start had begun are taken up again.
    case recovered(Int)
    /// Somebody has removed a claimed source.
    case lost(JobID, BytePath)
    /// The folders that originals are moved to.
    case spool(done: BytePath, failed: BytePath)
    /// So many sources were removed from `done/` or `failed/`, since the mill file says so.
    case pruned(Int, from: BytePath)
    case hook(HookNews)
    /// A sentence about something that has no better name.
    case trouble(String)
}

/// Receives the events of a drop folder. Called from any thread.
package protocol DropFolderObserver: Sendable {
    /// - Parameter inbox: its name.
    func happened(_ event: DropFolderEvent, inbox: String)
    /// Something happened that concerns all inboxes, in a sentence.
    func noted(_ sentence: String)
}
