// The queue as a store keeps it: in memory for one run, in SQLite for a drop folder, one day in PostgreSQL for several
// machines.
import Messages
package import Pipeline
package import System

/// The right to work on a job, for as long as its holder is alive.
package struct Lease: Equatable, Sendable {
    package let job: Job
    /// What `taken` asked for.
    package let effects: [JobEffect]
    /// Tells this lease from every other one, of any program. Never used twice.
    package let token: String
    /// When it was taken, by this process's clock.
    package let taken = Moment.now

    package init(job: Job, effects: [JobEffect], token: String) {
        self.job = job
        self.effects = effects
        self.token = token
    }

    package static func == (left: Lease, right: Lease) -> Bool {
        left.token == right.token && left.job == right.job && left.effects == right.effects
    }
}

/// What became of an offer.
package enum OfferOutcome: Equatable, Sendable {
    case added
    /// The same source was waiting in the inbox already: as it was, or now as it is.
    case known
    /// A job of this path is under way; offer it again later.
    case busy
}

/// Which jobs to take.
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

/// What an update did.
package enum UpdateOutcome: Equatable, Sendable {
    /// The job as it is now; nil if it was forgotten. The lease holds on while there is something left to do at once.
    case changed(JobProgress?, [JobEffect])
    /// The token is no longer current: somebody else has the job. Nothing was changed.
    case leaseLost
}

/// An original that stays in its inbox and needs nothing more.
package struct KeptOriginal: Equatable, Sendable {
    package let observed: ObservedFile
    package let recipe: String
    /// Why it failed; nil if it is done.
    package let code: FailureCode?

    package init(observed: ObservedFile, recipe: String, code: FailureCode?) {
        self.observed = observed
        self.recipe = recipe
        self.code = code
    }

    /// The file is as it was, and so is what is to be done with it. Its inode may be another: a restored backup is no
    /// change.
    package func covers(_ now: ObservedFile, recipe: String) -> Bool {
        observed.bytes == now.bytes && observed.modified == now.modified && self.recipe == recipe
    }
}

/// How many sources of an inbox have ended how, also of those whose rows were pruned.
package struct JobTotals: Equatable, Sendable {
    package var done = 0
    package var failed = 0

    package init(done: Int = 0, failed: Int = 0) {
        self.done = done
        self.failed = failed
    }
}

/// Jobs and names. Calls may wait for a disk or a network, so they belong on threads of one's own. For any number of
/// threads.
///
/// Every call that changes something is durable when it returns, as far as the store is durable at all. The life of a
/// job: `offer`, `take`, then one `update` for each event. Every write names a lease's token; with a token that is no
/// longer current it changes nothing and says so.
package protocol JobStore: NameStore {
    /// The store's time, in milliseconds, by which its jobs wait. It only goes forward, whatever the time of day is set
    /// to.
    var now: Int { get }
    /// Another process goes on with the jobs if this one ends.
    var outlivesProcess: Bool { get }

    /// Adds jobs, all or none. There is at most one open job of a path in an inbox.
    func offer(_ jobs: [NewJob]) throws(StoreError) -> [OfferOutcome]
    /// Leases the jobs of an inbox that are due, the longest due first: `offered`, `waiting`, `published` and
    /// `rejected` ones that nobody holds, and those of other owners whose lease has run out. Records the attempt before
    /// this returns.
    func take(_ request: TakeRequest) throws(StoreError) -> [Lease]
    /// Extends leases.
    /// - Returns: those that still hold.
    func extend(_ leases: [Lease], by milliseconds: Int) throws(StoreError) -> [Lease]
    /// Applies an event to each job, in one transaction. A job that ends, waits or is forgotten loses its lease.
    func update(_ updates: [JobUpdate]) throws(StoreError) -> [UpdateOutcome]

    /// When the next job of an inbox is due that the owner can take; nil if there is none.
    func nextDue(inbox: String, owner: String) throws(StoreError) -> Int?
    /// Open jobs of an inbox that no living owner holds, for a start: every lease of another owner counts as dead.
    func orphans(inbox: String, owner: String) throws(StoreError) -> [Job]
    /// Takes the place of dead owners: applies `found` to each job, which frees it for `take`.
    func recover(_ jobs: [(job: Job, place: SourcePlace)]) throws(StoreError) -> [UpdateOutcome]

    func job(_ id: JobID) throws(StoreError) -> Job?
    func totals(inbox: String) throws(StoreError) -> JobTotals
    /// Open jobs of an inbox, and when the oldest was offered.
    func openCount(inbox: String) throws(StoreError) -> (count: Int, waiting: Int, oldest: Int?)
    /// Paths that an inbox with open jobs had before the present one.
    func formerPaths(inbox: String) throws(StoreError) -> [BytePath]
    /// Every inbox that has open jobs.
    func inboxesWithOpenJobs() throws(StoreError) -> [String]
    /// The last jobs that failed for good, the latest first.
    func recentFailures(limit: Int) throws(StoreError) -> [Job]

    /// All originals of an inbox that stay in it and need nothing more.
    func kept(inbox: String) throws(StoreError) -> [BytePath: KeptOriginal]
    /// Forgets originals, so that they are done again.
    func forgetKept(inbox: String, paths: [BytePath]) throws(StoreError)

    /// Those of these names whose sources have no open job.
    /// - Returns: also the number of the latest job, for `release`.
    func idle(_ names: [OwnedName]) throws(StoreError) -> (names: [OwnedName], latest: Int)
    /// Frees names, but for those of a source that has had a job since it was idle.
    func release(_ names: [OwnedName], idleSince latest: Int) throws(StoreError)

    /// Removes some thousand of the oldest ended jobs beyond a number.
    /// - Returns: how many were removed.
    func prune(keeping: Int) throws(StoreError) -> Int
}
