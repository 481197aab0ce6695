// A job with its lease, as every store keeps it, and what happens to both: a store reads records, asks here, and
// writes them back.
import Pipeline
import Synchronization
import System

/// The owner that works on a job, and until when no other may.
struct Hold: Equatable, Sendable {
    let owner: String
    let token: String
    /// In the store's time.
    var until: Int
}

/// A job, its place in the order of offers, and its lease.
struct JobRecord: Sendable {
    var job: Job
    /// Rises with each offer.
    let number: Int
    var hold: Hold?

    /// Nobody holds the job, or the lease has ended.
    func isFree(now: Int) -> Bool { hold.map { $0.until <= now } ?? true }

    /// The job's time has come.
    func isDue(now: Int) -> Bool { job.progress.notBefore <= now }

    /// A job that was just offered.
    init(_ new: NewJob, number: Int, now: Int) {
        job = Job(
            id: new.id, inbox: new.inbox, path: new.path, isSet: new.isSet, observed: new.observed,
            originals: new.originals,
            progress: JobProgress(new.isInSpool ? .waiting : .offered, notBefore: now), offered: now,
            changed: wallClock())
        self.number = number
    }

    init(job: Job, number: Int, hold: Hold?) {
        self.job = job
        self.number = number
        self.hold = hold
    }

    /// The same job after another look at its source; nil if it is under way and cannot change. Attempts belong to what
    /// was attempted, so another content has none behind it.
    func offeredAgain(_ new: NewJob, now: Int) -> JobRecord? {
        guard job.progress.state == .offered, !new.isInSpool else { return nil }
        let isSame = job.observed.stamp == new.observed.stamp && job.isSet == new.isSet
        let progress = isSame ? job.progress : JobProgress(.offered, notBefore: job.progress.notBefore)
        let renewed = Job(
            id: job.id, inbox: job.inbox, path: job.path, isSet: new.isSet, observed: new.observed,
            originals: new.originals,
            progress: progress, recipe: job.recipe, offered: job.offered, changed: wallClock())
        return JobRecord(job: renewed, number: number, hold: hold)
    }

    /// The job in the hands of who takes it; nil if it cannot be taken.
    func taken(by request: TakeRequest, now: Int, _ policy: RetryPolicy) -> (record: JobRecord, lease: Lease)? {
        let (progress, effects) = transition(job.progress, .taken, now: now, policy: policy)
        guard let progress, !effects.contains(.outOfStep) else { return nil }
        var taken = self
        taken.job.progress = progress
        taken.job.changed = wallClock()
        // The end of an attempt is recorded with that attempt's recipe, also if the pipeline has changed since.
        if progress.state == .running { taken.job.recipe = request.recipe }
        let token = newToken()
        taken.hold = Hold(owner: request.owner, token: token, until: now + request.lease)
        return (taken, Lease(job: taken.job, effects: effects, token: token))
    }

    /// The job after an event; nil as record if it is forgotten.
    /// - Parameter report: of the attempt that the event ends.
    func after(
        _ event: JobEvent, report: [UInt8]?, now: Int, _ policy: RetryPolicy
    ) -> (record: JobRecord?, effects: [JobEffect]) {
        let (progress, effects) = transition(job.progress, event, now: now, policy: policy)
        guard let progress else { return (nil, effects) }
        var changed = self
        changed.job.progress = progress
        changed.job.report = progress.state.awaitsSettling ? report ?? job.report : nil
        if progress != job.progress { changed.job.changed = wallClock() }
        if !effects.contains(where: \.isForTheHolder) { changed.hold = nil }
        return (changed, effects)
    }
}

extension JobRecord {
    /// The answer to an update that has led to this record.
    func outcome(_ effects: [JobEffect], now: Int) -> UpdateOutcome {
        let isFree = job.progress.state.isOpen && hold == nil
        return .changed(job.progress, effects, dueIn: isFree ? max(0, job.progress.notBefore - now) : 0)
    }

    /// A start may take it up: no other owner holds it.
    func isOrphan(for owner: String, now: Int) -> Bool {
        job.progress.state.isOpen && isFree(now: now) && hold?.owner != owner
    }
}

extension JobEffect {
    /// The holder goes on with it, so the lease holds on.
    var isForTheHolder: Bool {
        switch self {
        case .claim, .attempt, .settle, .deadLetter, .outOfStep: true
        case .retry, .countDone, .countFailed, .lost, .completeNote, .adopt: false
        }
    }
}

extension Job {
    /// The record of an original that stays in its inbox, for the time after the job has ended.
    var keptOriginal: KeptOriginal? {
        guard keepsOriginal else { return nil }
        let code = progress.state == .failed ? progress.failure?.code : nil
        return KeptOriginal(observed: observed, recipe: recipe, code: code)
    }
}

extension Sequence<JobRecord> {
    /// The jobs that one holder takes together: the first, and those after it if all are light. What was begun before
    /// is not light, so that it shares its attempt with nobody.
    func group(_ request: TakeRequest) -> [JobRecord] {
        var group: [JobRecord] = []
        for record in self where group.count < request.limit {
            let areLight = [group.first ?? record, record].allSatisfy { $0.job.isLight(below: request.lightBytes) }
            guard group.isEmpty || areLight else { break }
            group.append(record)
        }
        return group
    }
}

/// For one lease: random for each start of a program, then counted, so that it is never used twice.
private func newToken() -> String { "\(tokens.start)-\(tokens.count.add(1, ordering: .relaxed).newValue)" }

private let tokens = Tokens()

private struct Tokens: ~Copyable, Sendable {
    let start = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    let count = Atomic(0)
}
