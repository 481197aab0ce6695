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
            "\(progress.state.rawValue): \(event.name) (attempt \(progress.attempts)"
                + (progress.ends > 0 ? ", \(counted(progress.ends, "end")) of the program" : "")
                + (progress.failure.map { ", \($0.code.rawValue)" } ?? "") + ")"
        }
        return "\(before.state.rawValue) → \(next ?? "forgotten: \(event.name)")"
            + (effects.isEmpty ? "" : "; to do: " + effects.map(\.name).joined(separator: ", "))
    }
}

extension JobEvent {
    /// Its name in words: `attempt failed`.
    fileprivate var name: String { words(of: self) }
}

extension JobEffect {
    /// Its name in words: `dead letter`.
    var name: String { words(of: self) }
}

/// The name of a case without its values, as words.
private func words(of value: some Any) -> String {
    "\(value)".prefix { $0 != "(" }.reduce("") { $0 + ($1.isUppercase ? " \($1.lowercased())" : "\($1)") }
}
