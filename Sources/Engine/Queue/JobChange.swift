// The trace that a job leaves in a debug log.
package import Pipeline

/// One event of one job, and what it has led to.
package struct JobChange: Sendable, CustomStringConvertible {
    package let id: JobID
    package let inbox: String
    package let path: BytePath
    let event: JobEvent
    let before: JobProgress
    /// Nil if the job was forgotten.
    let after: JobProgress?
    let effects: [JobEffect]

    init(_ job: Job, _ event: JobEvent, to after: JobProgress?, _ effects: [JobEffect]) {
        (id, inbox, path) = (job.id, job.inbox, job.path)
        (self.event, before, self.after, self.effects) = (event, job.progress, after, effects)
    }

    /// `offered → running: taken (attempt 1); to do: claim, attempt`
    package var description: String {
        let next = after.map { progress in
            "\(progress.state.rawValue): \(event.title) (attempt \(progress.attempts)"
                + (progress.ends > 0 ? ", \(counted(progress.ends, "end")) of the program" : "")
                + (progress.failure.map { ", \($0.code.rawValue)" } ?? "") + ")"
        }
        return "\(before.state.rawValue) → \(next ?? "forgotten: \(event.title)")"
            + (effects.isEmpty ? "" : "; to do: " + effects.map(\.name).joined(separator: ", "))
    }
}

extension JobEvent {
    /// The name, with the time that a job waits after it.
    fileprivate var title: String {
        if case .obstructed(_, let time) = self { "\(name) for \(time) ms" } else { name }
    }

    /// In words, with what decides: `found in the spool`.
    var name: String {
        switch self {
        case .taken: "taken"
        case .begunAlone: "begun alone"
        case .unclaimed: "unclaimed"
        case .unreached: "unreached"
        case .returned: "returned"
        case .interrupted: "interrupted"
        case .obstructed: "obstructed"
        case .attemptFailed(_, let isFinal): isFinal ? "attempt failed, final" : "attempt failed"
        case .published(let damage): damage == nil ? "published" : "published from a damaged source"
        case .settled: "settled"
        case .found(.spool): "found in the spool"
        case .found(.inbox): "found in the inbox"
        case .found(.nowhere): "found nowhere"
        }
    }
}

extension JobEffect {
    /// In words: `dead letter`.
    var name: String {
        switch self {
        case .claim: "claim"
        case .attempt: "attempt"
        case .settle: "settle"
        case .deadLetter: "dead letter"
        case .retry: "retry"
        case .countDone: "count done"
        case .countFailed: "count failed"
        case .lost: "lost"
        case .completeNote: "complete note"
        case .adopt: "adopt"
        case .outOfStep: "out of step"
        }
    }
}
