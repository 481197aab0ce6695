// What a start does with the jobs that an earlier one had begun: each has a fixed answer, and doing it twice does no harm.
import Glibc
import Pipeline
import Synchronization

/// Takes up the jobs of one inbox.
struct MillRecovery {
    private let mill: MillCore
    private let post: InboxPost
    private let place: WorkPlace
    /// The other inboxes of the mill file, which take up their jobs themselves.
    private let others: Set<BytePath>

    init(_ mill: MillCore, _ post: InboxPost, _ place: WorkPlace, others: Set<BytePath>) {
        self.mill = mill
        self.post = post
        self.place = place
        self.others = others
    }

    private struct Standing {
        let place: WorkPlace
        let job: StandingJob
    }

    /// - Throws: `LedgerError` or `SystemError`; then it is tried again as a whole.
    func run() throws {
        // What this process has begun is in hand.
        let known = post.state.withLock { Set($0.open.keys) }
        let jobs = try mill.ledger.openJobs(inbox: post.path).filter { !known.contains($0.id) }
        let standing = try standing(of: Set(jobs.map(\.id)), known)
        try removeLeftovers(of: jobs)
        let work = standing.mapValues { $0.job.source != nil }
        let steps = recoverySteps(jobs: jobs, work: work, attempts: post.route.inbox.settings.attempts)
        for step in steps {
            try perform(step, standing)
            try FaultPoint.pass(.duringRecovery)
        }
        let count = steps.count { if case .clear = $0 { false } else { true } }
        if count > 0 { mill.tell(.takenUp(count), post) }
    }

    /// The jobs that stand in `work/`: of this inbox, and those of the ledger wherever they stand, since the inbox may have had another name.
    private func standing(of jobs: Set<JobID>, _ known: Set<JobID>) throws -> [JobID: Standing] {
        var found: [JobID: Standing] = [:]
        for candidate in post.route.inbox.base.candidates {
            let work = candidate.appending(BytePath("work"))
            guard try FileSystem.status(work) != nil else { continue }
            for name in try FileSystem.names(in: work) {
                let place = WorkPlace(base: candidate, name: BytePath(name))
                for job in try place.standingJobs() where !known.contains(job.id) {
                    guard try jobs.contains(job.id) || isOwn(place) && !isOthers(job.id) else { continue }
                    found[job.id] = Standing(place: place, job: job)
                }
            }
        }
        return found
    }

    /// Only the present place is this inbox' own beyond doubt: another inbox may have had the name before.
    private func isOwn(_ other: WorkPlace) -> Bool { other.base == place.base && other.name == place.name }

    /// Two inboxes may have changed names.
    private func isOthers(_ id: JobID) throws -> Bool {
        guard let job = try mill.ledger.job(id) else { return false }
        return job.state.isOpen && others.contains(job.inbox)
    }

    private func perform(_ step: RecoveryStep, _ standing: [JobID: Standing]) throws {
        switch step {
        case .attempt(let job):
            guard let found = standing[job.id], found.job.source != nil else {
                // An original that stays was not copied yet; it is offered again.
                try mill.ledger.forget([job.id])
                return
            }
            take(job, found, .attempt, after: BackOff().effective(job.notBefore, now: wallClock()) - wallClock())
        case .reject(let job):
            let reason = job.failure ?? Failure(.workerCrashed, stage: "render", "it was under way \(job.attempts) times when the program ended")
            take(job, standing[job.id], .reject(reason))
        case .commit(let job): take(job, standing[job.id], .commit)
        case .quarantine(let job): take(job, standing[job.id], .quarantine(failure(of: job)))
        case .finish(let job):
            if job.state == .rejected { try completeNote(of: job, standing[job.id]?.place ?? place) }
            try mill.ledger.finish([FinishedJob(job.id, recipe: post.route.recipe)])
            post.state.withLock { state in
                if job.state == .rejected { state.failed += 1 } else { state.done += 1 }
            }
            try discard(job.id, standing)
        case .forget(let job):
            try mill.ledger.forget([job.id])
            try discard(job.id, standing)
        case .lost(let job):
            try mill.ledger.forget([job.id])
            try discard(job.id, standing)
            mill.tell(.lost(job.id, job.path), post)
        case .adopt(let id): if let found = standing[id] { try adopt(id, found) }
        case .clear(let id): try discard(id, standing)
        }
    }

    private func discard(_ id: JobID, _ standing: [JobID: Standing]) throws {
        if let found = standing[id] { try found.place.discard(id) }
    }

    private func failure(of job: Job) -> Failure { job.failure ?? Failure(.internal, stage: "read", "the reason was not recorded") }

    private func take(_ job: Job, _ found: Standing?, _ task: MillJob.Task, after milliseconds: Int = 0) {
        guard let found else { return }
        take(
            MillJob(
                id: job.id, post: post, place: found.place, relative: job.path, isSet: found.job.isSet, observed: job.observed,
                staysInInbox: job.staysInInbox, task: task, attempts: job.attempts), claimed: job.claimed, after: milliseconds)
    }

    private func take(_ job: MillJob, claimed: Int, after milliseconds: Int) {
        post.state.withLock { state in
            state.open[job.id] = claimed
            state.busy.insert(job.relative)
        }
        post.wait(job, until: .now + .milliseconds(max(0, milliseconds)))
    }

    /// A source in `work/` that the ledger does not know: it is a new job, under the name that was noted beside it.
    private func adopt(_ old: JobID, _ found: Standing) throws {
        guard let source = found.job.source else { return }
        var id = old
        if try mill.ledger.job(old) != nil {
            id = mill.names.next()
            let work = try Directory(found.place.work)
            try work.move(old.path, to: work, as: id.path)
        }
        let noted = found.job.relative.flatMap { $0.staysBelow ? $0 : nil }
        let relative = noted ?? BytePath("recovered-\(id.text)")
        let observed = ObservedFile(source)
        try mill.ledger.add([NewJob(id: id, inbox: post.path, path: relative, observed: observed)])
        let job = MillJob(
            id: id, post: post, place: found.place, relative: relative, isSet: found.job.isSet, observed: observed, staysInInbox: false)
        take(job, claimed: wallClock(), after: 0)
    }

    /// The source went to `failed/`, and the crash came before its note: it is found there by its inode.
    private func completeNote(of job: Job, _ place: WorkPlace) throws {
        let folder = place.path(.failed).appending(job.path.directory)
        guard let names = try? FileSystem.names(in: folder) else { return }
        for name in names.map({ BytePath($0) }) {
            let path = folder.appending(name)
            guard let found = try FileSystem.status(path, followLinks: false), found.inode == job.observed.inode || job.staysInInbox,
                found.kind != .link, !name.bytes.starts(with: Array(".imagemill-".utf8)),
                try FileSystem.status(FailureNote.path(beside: path), followLinks: false) == nil, !name.text.hasSuffix(FailureNote.suffix)
            else { continue }
            let active = MillJob(
                id: job.id, post: post, place: place, relative: job.path, isSet: false, observed: job.observed, staysInInbox: job.staysInInbox,
                attempts: job.attempts)
            return try mill.endings.note(active, failure(of: job), at: job.path.directory.appending(name))
        }
    }

    /// Removes staged files that a crash has left beside the renditions, the reports and the notes of these jobs.
    private func removeLeftovers(of jobs: [Job]) throws {
        var folders: Set<BytePath> = []
        for job in jobs {
            folders.formUnion(job.names.map { post.route.inbox.outbox.appending($0.directory) })
            folders.insert(place.path(.failed).appending(job.path.directory))
        }
        for folder in folders {
            guard let names = try? FileSystem.names(in: folder) else { continue }
            let (ours, present) = (Array(".imagemill-\(mill.statePrefix)".utf8), Array(".imagemill-\(mill.ownPrefix)".utf8))
            for name in names where name.starts(with: ours) && !name.starts(with: present) { FileSystem.remove(folder.appending(BytePath(name))) }
        }
    }
}
