// The right to work on a job, how it is asked for, and what its holder says of the job.
import Pipeline
import System

/// The right to work on a job, for as long as its holder is alive.
package struct Lease: Equatable, Sendable {
    package let job: Job
    /// The effects that `taken` asked for.
    package let effects: [JobEffect]
    /// Tells this lease from every other one, of any program. Never used twice.
    package let token: String

    package init(job: Job, effects: [JobEffect], token: String) {
        self.job = job
        self.effects = effects
        self.token = token
    }

    package static func == (left: Lease, right: Lease) -> Bool {
        left.token == right.token && left.job == right.job && left.effects == right.effects
    }
}

/// The outcome of an offer.
package enum OfferOutcome: Equatable, Sendable {
    case added
    /// The same source was waiting in the inbox already: as it was, or now as it is.
    case known
    /// A job of this path is under way; offer it again later.
    case busy
}

/// A request to take jobs.
package struct TakeRequest: Sendable {
    package let inbox: String
    /// At most so many, and more than one only of light jobs.
    package let limit: Int
    /// A source of at most so many bytes is light.
    package let lightBytes: Int
    /// The owner that takes them: random for each start of a program.
    package let owner: String
    /// How long the leases hold unless they are extended, in milliseconds.
    package let lease: Int
    /// A digest of what is to be done, kept with the jobs.
    package let recipe: String

    package init(inbox: String, limit: Int, lightBytes: Int, owner: String, lease: Int, recipe: String) {
        self.inbox = inbox
        self.limit = limit
        self.lightBytes = lightBytes
        self.owner = owner
        self.lease = lease
        self.recipe = recipe
    }
}

/// Something that has happened to a leased job.
package struct JobUpdate: Sendable {
    package let lease: Lease
    package let event: JobEvent
    /// The report of the attempt, as a document: kept with the job if there is still something to settle.
    package let report: [UInt8]?

    package init(_ lease: Lease, _ event: JobEvent, report: [UInt8]? = nil) {
        self.lease = lease
        self.event = event
        self.report = report
    }
}

/// The outcome of an update.
package enum UpdateOutcome: Equatable, Sendable {
    /// The job as it is now; nil if it was forgotten. The lease holds on while there is something left to do at once.
    /// - Parameter dueIn: milliseconds until somebody can take it; 0 if there is nothing to take.
    case changed(JobProgress?, [JobEffect], dueIn: Int = 0)
    /// The token is no longer current: somebody else has the job. Nothing was changed.
    case leaseLost
}
