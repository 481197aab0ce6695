// The states of a job, and what can happen to one. `transition` is the only place that says what follows from what.
package import Pipeline

/// How far a job is. The order of the cases is that of a life.
package enum JobState: String, CaseIterable, Sendable {
    /// Complete, and still in its inbox.
    case offered
    /// Somebody holds its lease and works on it: the source is about to enter the spool, or is there.
    case running
    /// In the spool, until the next attempt.
    case waiting
    /// All renditions and the report are in place; the original is still to leave the spool.
    case published
    /// It has failed for good; the source is still to go to `failed/`.
    case rejected
    /// The original has left the spool after success.
    case done
    /// The source is in `failed/`.
    case failed

    /// There is something left to do.
    package var isOpen: Bool {
        switch self {
        case .offered, .running, .waiting, .published, .rejected: true
        case .done, .failed: false
        }
    }

    /// The work is done, for good or ill, and the source is still to leave the spool.
    package var awaitsSettling: Bool {
        switch self {
        case .published, .rejected: true
        case .offered, .running, .waiting, .done, .failed: false
        }
    }
}

/// The part of a job that transitions change.
package struct JobProgress: Equatable, Sendable {
    package var state: JobState
    /// Attempts that have begun, the present one included. Those that the program's own end has cut off do not count.
    package var attempts: Int
    /// How often in a row the program ended while the job was under way. Ends beside other jobs count once, together;
    /// after them the job is attempted alone.
    package var ends: Int
    /// No attempt before this time, in the store's time. It also decides the order.
    package var notBefore: Int
    /// Why the last attempt failed; of a published job, what is wrong with its source.
    package var failure: Failure?

    package init(_ state: JobState, attempts: Int = 0, ends: Int = 0, notBefore: Int = 0, failure: Failure? = nil) {
        self.state = state
        self.attempts = attempts
        self.ends = ends
        self.notBefore = notBefore
        self.failure = failure
    }

    /// An attempt at it may be what took the program down.
    package var isSuspect: Bool { ends > 0 }
}

/// Where recovery has found the source of a job.
package enum SourcePlace: CaseIterable, Sendable {
    /// In the job's folder of the spool, complete.
    case spool
    /// In the inbox, as it was observed.
    case inbox
    case nowhere
}

/// An event in the life of a job.
package enum JobEvent: Equatable, Sendable {
    /// The dispatcher has leased it.
    case taken
    /// From now on it is attempted alone, so that it is known what to blame if the program ends.
    case begunAlone
    /// The inbox did not give it: it is gone, has changed, or may not be taken.
    case unclaimed
    /// The inbox could not be looked into, so the source is still there: that costs no attempt.
    case unreached
    /// Somebody still writes to it, so it went back to its inbox.
    case returned
    /// Stopped through no fault of the source, such as SIGTERM.
    case interrupted
    /// Something around it is broken, such as a full disk, or it cannot be moved: that costs no attempt. It may be
    /// attempted again after so many milliseconds.
    case obstructed(Failure, after: Int)
    /// An attempt has failed. `isFinal`: no other attempt can succeed.
    case attemptFailed(Failure, isFinal: Bool)
    /// All renditions and the report are in place. `damage`: what the decoder found wrong with the source, so that its
    /// original is worth keeping.
    case published(damage: Failure?)
    /// The original has left the spool: to `done/`, to `failed/`, deleted, or its copy removed.
    case settled
    /// A start has looked for the source of a job that an earlier one had begun.
    case found(SourcePlace)
}

/// A task that follows from a transition.
package enum JobEffect: Equatable, Sendable {
    /// Take the source from its inbox into the spool.
    case claim
    /// Render and publish.
    case attempt
    /// Let the original leave the spool after success.
    case settle
    /// Move the source to `failed/`.
    case deadLetter(Failure)
    /// Tell that it is tried again after so many milliseconds.
    case retry(after: Int)
    /// Count it and, if its original stays in the inbox, remember that it needs nothing more.
    case countDone
    case countFailed
    /// Tell that somebody has removed the source from the spool.
    case lost
    /// The source may have reached `failed/` without its note: write it.
    case completeNote
    /// A job that has ended has a source in the spool: it is a new job.
    case adopt
    /// The event does not follow from the state: a mistake in this program. The job stays as it is until the next
    /// start.
    case outOfStep
}
