// What a start finds: jobs that were under way, and what stands in `work/`. Says what to do with each. Pure.
/// One step of recovery.
package enum RecoveryStep: Equatable, Sendable {
    /// The source is there: attempt it, once its time has come.
    case attempt(Job)
    /// Its last attempt took the whole program down: to be rejected.
    case reject(Job)
    /// Published before the crash; the source still has to leave.
    case commit(Job)
    /// Rejected before the crash; the source still has to go to `failed/`.
    case quarantine(Job)
    /// The source has left already; only the record is behind.
    case finish(Job)
    /// It was never renamed into `work/`: it is in the inbox, or was taken away from there.
    case forget(Job)
    /// The source was in `work/`, and somebody has removed it: nothing is left to do but to say so.
    case lost(Job)
    /// A folder in `work/` that the ledger does not know, with a source in it.
    case adopt(JobID)
    /// A folder in `work/` without a source, which can go.
    case clear(JobID)
}

/// - Parameters:
///   - jobs: the open jobs.
///   - work: the folders in `work/`, and whether each still has its source.
///   - limit: how many attempts a source has.
/// - Returns: the steps, jobs first in their order. Doing them twice does no harm.
package func recoverySteps(jobs: [Job], work: [JobID: Bool], attempts limit: Int) -> [RecoveryStep] {
    let known = Set(jobs.map(\.id))
    var steps = jobs.map { job -> RecoveryStep in
        let hasSource = work[job.id] ?? false
        switch job.state {
        // An original that stays is looked at again where it stands.
        case .claimed: return hasSource || job.staysInInbox ? .attempt(job) : .forget(job)
        case .rendering, .waiting:
            guard hasSource || job.staysInInbox else { return .lost(job) }
            return job.attempts >= limit ? .reject(job) : .attempt(job)
        case .published: return hasSource ? .commit(job) : .finish(job)
        case .rejected: return hasSource ? .quarantine(job) : .finish(job)
        case .finished, .failed: return hasSource ? .adopt(job.id) : .clear(job.id)
        }
    }
    for (id, hasSource) in work.sorted(by: { $0.key < $1.key }) {
        if !known.contains(id) { steps.append(hasSource ? .adopt(id) : .clear(id)) }
    }
    return steps
}
