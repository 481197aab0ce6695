// What the drop folder remembers, behind one protocol. Every call that changes something has reached the disk when it returns.
package import Pipeline

/// The drop folder's memory. Calls wait for the disk: for threads of one's own only. For any number of threads.
///
/// The life of a job: `add` → rename into `work/` → `begin` → work → `claimNames` → rename the renditions, write the report → `publish` → move
/// the source away → `finish`. Where it fails: `postpone` for another attempt, or `reject` → move the source to `failed/` → `finish`.
package protocol JobLedger: Sendable {
    /// Records jobs before their sources are renamed into `work/`, all or none.
    func add(_ jobs: [NewJob]) throws(LedgerError)
    /// Takes back jobs whose source was not claimed after all, or is gone. They count as nothing.
    func forget(_ jobs: [JobID]) throws(LedgerError)
    /// Records that attempts begin, before they do.
    /// - Returns: the number of each attempt, from 1.
    func begin(_ jobs: [JobID]) throws(LedgerError) -> [JobID: Int]
    /// Takes attempts back that were stopped through no fault of the source; each may be begun again at once.
    func giveBack(_ jobs: [JobID]) throws(LedgerError)
    /// Puts a job off.
    /// - Parameter costsAttempt: false where the world was broken, not the source.
    func postpone(_ job: JobID, until time: Int, costsAttempt: Bool, because failure: Failure) throws(LedgerError)
    /// Finds names that no other source owns in an outbox, and records them as the source's and the job's.
    /// - Throws: `Failure` (`name-taken`), `PlanFailure`, or `LedgerError`.
    func claimNames(_ request: NameRequest) throws -> [RenditionName]
    /// All renditions and the reports are in place.
    func publish(_ jobs: [JobID]) throws(LedgerError)
    /// It has failed for good.
    func reject(_ job: JobID, because failure: Failure) throws(LedgerError)
    /// Sources have left `work/`; jobs that were published are done, and rejected ones have failed. For originals that stay, also remembers
    /// that they are done.
    func finish(_ jobs: [FinishedJob]) throws(LedgerError)

    /// Jobs with something left to do, in the order of their claims.
    func openJobs(inbox: BytePath?) throws(LedgerError) -> [Job]
    func job(_ id: JobID) throws(LedgerError) -> Job?
    func totals(inbox: BytePath) throws(LedgerError) -> LedgerTotals
    /// The last jobs that failed for good, the latest first.
    func recentFailures(limit: Int) throws(LedgerError) -> [Job]

    /// What is known of an original that stays in its inbox.
    func kept(inbox: BytePath, path: BytePath) throws(LedgerError) -> KeptOriginal?
    /// Forgets originals, so that they are done again.
    func forgetKept(inbox: BytePath, paths: [BytePath]) throws(LedgerError)

    /// Removes the oldest ended jobs beyond a number, some thousand at a time.
    /// - Returns: how many were removed.
    func prune(keeping: Int) throws(LedgerError) -> Int
}

/// The names that a job asks for.
package struct NameRequest {
    package let job: JobID
    package let outbox: BytePath
    /// Who shall own them: the source's path.
    package let source: BytePath
    package let policy: CollisionPolicy
    /// The names of all renditions at a version, 1 and up.
    package let candidates: (_ version: Int) throws(PlanFailure) -> [RenditionName]
    /// Whether something stands at a name that no source owns.
    package let isTaken: (BytePath) -> Bool

    package init(
        job: JobID, outbox: BytePath, source: BytePath, policy: CollisionPolicy,
        candidates: @escaping (_ version: Int) throws(PlanFailure) -> [RenditionName], isTaken: @escaping (BytePath) -> Bool
    ) {
        (self.job, self.outbox, self.source, self.policy) = (job, outbox, source, policy)
        (self.candidates, self.isTaken) = (candidates, isTaken)
    }
}

/// A job whose source has left `work/`.
package struct FinishedJob: Sendable {
    package let id: JobID
    /// What was done to an original that stays, such as a digest of the pipeline: with another one it is done again.
    package let recipe: String
    package let sha256: String?

    package init(_ id: JobID, recipe: String = "", sha256: String? = nil) { (self.id, self.recipe, self.sha256) = (id, recipe, sha256) }
}

/// An original that stays in its inbox and needs nothing more.
package struct KeptOriginal: Equatable, Sendable {
    package let observed: ObservedFile
    package let recipe: String
    package let sha256: String?
    /// Why it failed; nil where it is done.
    package let code: FailureCode?

    /// The file is as it was, and so is what is to be done with it. Its inode may be another: a restored backup is no change.
    package func covers(_ now: ObservedFile, recipe: String) -> Bool {
        observed.bytes == now.bytes && observed.modified == now.modified && self.recipe == recipe
    }
}

/// What became of an inbox' sources, also of those whose rows were pruned.
package struct LedgerTotals: Equatable, Sendable {
    package var done = 0
    package var failed = 0
    /// Jobs with something left to do.
    package var open = 0
    package var waiting = 0
    /// When the oldest of them was claimed, in milliseconds since 1970.
    package var oldest: Int?
}
