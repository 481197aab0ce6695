// The place that a job comes from, as far as a runner needs to know it: an inbox of the drop folder, or the folders of
// one run.
package import Pipeline
package import System

/// Everything that was decided about the sources of a site before they came. A reload makes another one; a job keeps
/// the one that it began with.
package struct Route: Sendable {
    package let render: RenderSettings
    /// Gives sources their names.
    package let allocator: NameAllocator
    package let publisher: Publisher
    /// The places of the reports that are published with the renditions; nil if there are none.
    package let reports: ReportFiles?
    package let policy: RetryPolicy
    package let duplicates: DuplicatePolicy
    /// The inbox's name, for the report.
    package let inbox: String?
    /// A digest of what is to be done: an original that stays is done again if it changes.
    package let recipe: String
    /// A worker that died is tried again at once and in the same lane: others wait for the names that this source will
    /// take.
    package let retriesAtOnce: Bool

    package init(
        render: RenderSettings, allocator: NameAllocator, publisher: Publisher, reports: ReportFiles? = nil,
        policy: RetryPolicy, duplicates: DuplicatePolicy = .process, inbox: String?,
        recipe: String, retriesAtOnce: Bool
    ) {
        self.render = render
        self.allocator = allocator
        self.publisher = publisher
        self.reports = reports
        self.policy = policy
        self.duplicates = duplicates
        self.inbox = inbox
        self.recipe = recipe
        self.retriesAtOnce = retriesAtOnce
    }
}

/// The outcome of an attempt to take a source out of its inbox.
package enum ClaimResult: Sendable {
    case claimed
    /// It is not to be had now; its inbox knows.
    case refused
    /// Nothing can be taken from this inbox now.
    case obstructed(Pause)
}

/// How a job ended, or what has happened to it.
package enum JobNews: Sendable {
    case done(SourceReport)
    case failed(SourceReport, Failure, attempts: Int)
    /// It is tried again after so many milliseconds.
    case postponed(Failure, attempt: Int, after: Int)
    /// It went back to the inbox, because somebody still writes to it.
    case returned
    /// It was stopped, and the next start goes on with it.
    case interrupted
    /// It waits until something around it is repaired.
    case obstructed
    /// Somebody else has the job by now.
    case leaseLost
    /// The event that was recorded of it does not follow from its state: a mistake in this program. It stays as it is.
    case outOfStep
}

/// One inbox, or one run. For any thread; calls wait for file systems.
package protocol JobSite: AnyObject, Sendable {
    var route: Route { get }
    /// Nothing new is begun.
    var isDraining: Bool { get }
    /// The part that takes sources out of an inbox and puts originals away; nil if sources stay where they are.
    var shelving: (any Shelving)? { get }
    /// The order in which names are claimed; nil if any will do.
    var nameOrder: (any NameOrder)? { get }

    /// The source as the worker is to read it.
    /// - Throws: `StillWritten`, or `Failure` if it cannot be read.
    func open(_ job: Job, _ route: Route) throws -> SourceFile
    /// The owner of the names of a job's renditions.
    func owner(of job: Job) -> BytePath
    /// Why nothing can be written now; nil if it can. Asked after a failure that may be the surroundings' fault.
    func surroundings(_ route: Route) -> Pause?

    /// Nothing is taken until the reason is gone.
    func pause(_ pause: Pause)
    /// A job has ended, or goes on later. Called after that was recorded.
    func happened(_ news: JobNews, to job: Job, files: Fingerprint?, source: Fingerprint?)
}

/// An inbox, a spool and folders for originals. For any thread; calls wait for file systems.
package protocol Shelving: AnyObject, Sendable {
    /// Takes a source out of the inbox into the spool.
    func claim(_ job: Job) -> ClaimResult
    /// Lets an original leave the spool after success.
    /// - Parameter mayDelete: its decoder has not warned, and something was made of it.
    /// - Returns: the folders to sync.
    func settle(_ job: Job, mayDelete: Bool) throws(SystemError) -> [BytePath]
    /// Moves a source to `failed/`.
    func deadLetter(_ job: Job, _ failure: Failure) throws(SystemError)
    /// Gives a source that somebody still writes to back to the inbox.
    func putBack(_ job: Job) throws(SystemError)
    /// The source of a job could not be moved, which is no fault of the surroundings.
    /// - Returns: how often that has happened in this life of the program.
    func countObstacle(of job: Job) -> Int
    /// Whether a file system that the inbox needs has not answered for a while, now or at any time since.
    func wasSilent(since time: Moment) -> Bool

    /// Updates that could not be recorded; they are made once the store can be written to.
    func `defer`(_ updates: [JobUpdate])
    /// A job is about to end, with this report. Called before that is recorded: after a crash in between, once more.
    func ends(_ job: Job, _ report: SourceReport)
    /// A worker has died, hung or lied.
    func workerLost()
}

/// The order in which the sources of a run claim their names.
package protocol NameOrder: AnyObject, Sendable {
    /// Has a job's names claimed when it is its turn.
    func takingTurns(_ job: Job, _ claim: () throws -> Allocation) throws -> Allocation
}
