// How an attempt ends that has published nothing, and how the queue hears of it.
import Pipeline
import System

extension JobRunner {
    /// How long the folders may take to show that they can be written to.
    private static let patienceWithSurroundings = Duration.seconds(10)

    // MARK: - Failures

    /// An attempt has failed: again later, never again, or not the source's fault.
    func fail(_ attempt: Attempt, with failure: Failure, at site: any JobSite) {
        let isLate = failure.code == .timedOut
        let message =
            isLate
            ? "'\(attempt.job.path.printable)' took too long, and the file system of its inbox, of its outbox or of the state folder does not answer"
            : failure.message
        let decision = attempt.route.policy.decide(after: failure) {
            let wasSilent = isLate && site.shelving?.wasSilent(since: attempt.began) ?? false
            return wasSilent ? Pause(.ioError, message) : surroundings(of: attempt, message, site)
        }
        switch decision {
        case .pause(let pause): obstruct(attempt, for: pause, after: failure, at: site)
        case .wait(let time): postpone(attempt, because: failure, by: time, at: site)
        // A job that is retried at once has had all its attempts.
        case .retry: attemptFailed(attempt, with: failure, isFinal: attempt.route.retriesAtOnce, at: site)
        case .final: attemptFailed(attempt, with: failure, isFinal: true, at: site)
        }
    }

    private func attemptFailed(_ attempt: Attempt, with failure: Failure, isFinal: Bool, at site: any JobSite) {
        let job = attempt.job
        var report = attempt.work.report
        report.fail(failure, attempts: max(1, job.progress.attempts))
        let event = JobEvent.attemptFailed(failure, isFinal: isFinal)
        for effect in effects(of: JobUpdate(attempt.lease, event, report: document(of: report)), site) {
            switch effect {
            case .retry(let after):
                site.happened(
                    .postponed(failure, attempt: job.progress.attempts, after: after), to: job, files: nil, source: nil)
            case .deadLetter(let failure): deadLetter(attempt, with: failure, at: site)
            case .claim, .attempt, .settle, .countDone, .countFailed, .lost, .completeNote, .adopt, .outOfStep: break
            }
        }
    }

    // MARK: - Surroundings

    /// Why nothing can be written now; nil if it can. What does not answer soon is no place to write to either.
    /// - Parameter message: what is said if nothing answers.
    private func surroundings(of attempt: Attempt, _ message: String, _ site: any JobSite) -> Pause? {
        dispatcher.note(.files, lane: lane)
        let route = attempt.route
        let found = Background { site.surroundings(route) }.value(until: .now + Self.patienceWithSurroundings)
        return found ?? Pause(.ioError, message)
    }

    /// Something around the job is broken: the inbox pauses, and the job waits, which costs no attempt.
    func obstruct(_ attempt: Attempt, for pause: Pause, after failure: Failure?, at site: any JobSite) {
        let reason = failure ?? Failure(.ioError, stage: "publish", pause.message)
        site.pause(pause)
        update([JobUpdate(attempt.lease, .obstructed(reason, after: 0))], at: site)
        site.happened(.obstructed, to: attempt.job, files: nil, source: nil)
    }

    /// The surroundings lack what this job needs: it waits, which costs no attempt, and others go on.
    private func postpone(_ attempt: Attempt, because failure: Failure, by time: Int, at site: any JobSite) {
        update([JobUpdate(attempt.lease, .obstructed(failure, after: time))], at: site)
        site.happened(
            .postponed(failure, attempt: attempt.job.progress.attempts, after: time), to: attempt.job, files: nil,
            source: nil)
    }

    /// The source cannot be moved. If everything can be written to, that is its own trouble, such as its permissions:
    /// it waits longer each time, and others go on.
    func obstruct(_ attempt: Attempt, by error: SystemError, at site: any JobSite) {
        let failure = Failure(.ioError, stage: "put away", "the original cannot be put away: \(error)")
        if let pause = surroundings(of: attempt, error.description, site) {
            return obstruct(attempt, for: pause, after: failure, at: site)
        }
        let count = site.shelving?.countObstacle(of: attempt.job) ?? 1
        let delay = attempt.route.policy.delay(afterObstacle: count)
        update([JobUpdate(attempt.lease, .obstructed(failure, after: delay))], at: site)
        site.happened(.postponed(failure, attempt: count, after: delay), to: attempt.job, files: nil, source: nil)
    }

    func interrupt(_ attempt: Attempt, _ site: any JobSite) {
        update([JobUpdate(attempt.lease, .interrupted)], at: site)
        site.happened(.interrupted, to: attempt.job, files: nil, source: nil)
    }

    // MARK: - Moving the source

    /// Moves a source that has failed for good to `failed/`.
    func deadLetter(_ attempt: Attempt, with failure: Failure, at site: any JobSite) {
        let job = attempt.job
        note(.files, of: attempt.lease, stage: "put away")
        attempt.work.close()
        do throws(SystemError) {
            try FaultPoint.pass(.afterOutcomeRecord)
            try site.shelving?.deadLetter(job, failure)
        } catch {
            return obstruct(attempt, by: error, at: site)
        }
        let attempts = max(1, job.progress.attempts)
        attempt.work.report.fail(failure, attempts: attempts)
        site.shelving?.ends(job, attempt.work.report)
        guard !update([JobUpdate(attempt.lease, .settled)], at: site).isEmpty else { return }
        site.happened(
            .failed(attempt.work.report, failure, attempts: attempts), to: job, files: nil,
            source: attempt.work.sourceFingerprint)
    }

    /// Gives a source that somebody still writes to back to the inbox.
    func putBack(_ attempt: Attempt, _ site: any JobSite) {
        note(.files, of: attempt.lease, stage: "put back")
        do throws(SystemError) {
            try site.shelving?.putBack(attempt.job)
        } catch {
            return obstruct(attempt, by: error, at: site)
        }
        update([JobUpdate(attempt.lease, .returned)], at: site)
        site.happened(.returned, to: attempt.job, files: nil, source: nil)
    }

    // MARK: - The queue

    /// The report of an attempt for whoever settles the job, which may be the next start.
    func document(of report: SourceReport) -> [UInt8]? { store.outlivesProcess ? report.document : nil }

    private func effects(of change: JobUpdate, _ site: any JobSite) -> [JobEffect] {
        var found: [JobEffect] = []
        update([change], at: site) { found += $1 }
        return found
    }

    /// Records what has happened.
    /// - Returns: the jobs of which it is recorded.
    @discardableResult
    func update(_ updates: [JobUpdate], at site: any JobSite, each: (Job, [JobEffect]) -> Void = { _, _ in }) -> Set<
        JobID
    > {
        guard !updates.isEmpty else { return [] }
        do {
            let outcomes = try store.update(updates)
            try FaultPoint.pass(.afterFinishRecord)
            var recorded: Set<JobID> = []
            for (update, outcome) in zip(updates, outcomes) {
                let job = update.lease.job
                switch outcome {
                case .changed(_, let effects, _) where effects.contains(.outOfStep):
                    site.happened(.outOfStep, to: job, files: nil, source: nil)
                case .changed(let progress, let effects, let dueIn):
                    recorded.insert(job.id)
                    // The remaining work is due at some time that the dispatcher must know. The holder goes on with
                    // what it has to do at once.
                    if let progress, progress.state.isOpen, !effects.contains(where: \.isForTheHolder) {
                        dispatcher.added(to: job.inbox, due: .now + .milliseconds(dueIn))
                    }
                    each(job, effects)
                case .leaseLost: site.happened(.leaseLost, to: job, files: nil, source: nil)
                }
            }
            return recorded
        } catch {
            let trouble = (error as? StoreError)?.pauseReason ?? .ioError
            site.shelving?.defer(updates)
            site.pause(Pause(trouble, "\(error)"))
            return []
        }
    }
}
