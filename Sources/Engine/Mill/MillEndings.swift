// How jobs end, or are put off: each step is recorded before the file is moved.
import Pipeline

struct MillEndings {
    private let mill: MillCore

    init(_ mill: MillCore) { self.mill = mill }

    // MARK: - Failures

    /// An attempt has failed: again later, never again, or not the source's fault.
    func fail(_ active: ActiveJob, _ failure: Failure) {
        let (job, route) = (active.job, active.route)
        let decision = decide(after: failure, attempt: job.attempts, limit: route.inbox.settings.attempts) {
            OutboxProbe.trouble(route.inbox.outbox) ?? OutboxProbe.trouble(job.place.work)
        }
        switch decision {
        case .pause(let reason): rest(job, InboxPause(reason, failure.message), failure)
        case .reject: reject(job, failure)
        case .retry(let milliseconds): postpone(job, failure, milliseconds)
        }
    }

    private func postpone(_ job: MillJob, _ failure: Failure, _ milliseconds: Int) {
        do throws(LedgerError) {
            try mill.ledger.postpone(job.id, until: wallClock() + milliseconds, costsAttempt: true, because: failure)
        } catch {
            return rest(job, InboxPause(error.pauseReason, error.description))
        }
        job.post.wait(job, until: .now + .milliseconds(milliseconds))
        mill.tell(.postponed(job.id, job.relative, failure, attempt: job.attempts, after: milliseconds), job.post)
    }

    /// The world is broken: the inbox pauses, and the job waits for it, which costs no attempt.
    func rest(_ job: MillJob, _ pause: InboxPause, _ failure: Failure? = nil) {
        if case .attempt = job.task {
            let because = failure ?? Failure(.ioError, stage: "publish", pause.message)
            // Where even this cannot be written down, the next start counts one attempt too many.
            try? mill.ledger.postpone(job.id, until: wallClock(), costsAttempt: false, because: because)
        }
        job.post.wait(job, until: .now)
        mill.rest(job.post, pause)
    }

    // MARK: - To failed/

    /// It has failed for good.
    func reject(_ job: MillJob, _ failure: Failure) {
        var job = job
        do throws(LedgerError) {
            try mill.ledger.reject(job.id, because: failure)
        } catch {
            job.task = .reject(failure)
            return rest(job, InboxPause(error.pauseReason, error.description))
        }
        job.task = .quarantine(failure)
        quarantine(job, failure)
    }

    /// Moves a source that is recorded as rejected to `failed/`, with a note beside it.
    func quarantine(_ job: MillJob, _ failure: Failure) {
        do throws(SystemError) {
            try FaultPoint.pass(.afterOutcomeRecord)
            try FaultPoint.pass(.beforeSourceCommit)
            if let path = try job.place.putAway(job.id, job.relative, on: .failed) {
                try FaultPoint.pass(.afterSourceCommit)
                try note(job, failure, at: path)
            }
        } catch {
            var job = job
            job.task = .quarantine(failure)
            return rest(job, InboxPause(error, missing: .missingInbox))
        }
        guard finish([job], else: .quarantine(failure)) else { return }
        let report = failedReport(job, failure)
        mill.log(report)
        job.post.end(job, failed: 1)
        answer(job)
        mill.tell(.failed(job.id, job.relative, failure, attempts: job.attempts), job.post)
    }

    /// Says beside a source in `failed/` why it stands there.
    func note(_ job: MillJob, _ failure: Failure, at path: BytePath) throws(SystemError) {
        let (inbox, shelf) = (job.post.route.inbox, job.place.path(.failed))
        let note = FailureNote(
            source: job.relative, inbox: job.post.path, quarantined: shelf.appending(path), pipeline: inbox.pipeline.absolutePath, failure: failure,
            attempts: job.attempts)
        try note.write(beside: shelf.appending(path), token: mill.newToken())
    }

    private func failedReport(_ job: MillJob, _ failure: Failure) -> SourceReport {
        var report = SourceReport(status: .failed, pipeline: job.post.route.render.pipeline.file.name, source: job.relative)
        report.inbox = job.post.name
        report.source.bytes = job.observed.bytes
        report.error = failure
        report.attempt = max(1, job.attempts)
        return report
    }

    // MARK: - To done/

    /// Sources of jobs that are published leave `work/`. The moves share their syncs.
    func commit(_ jobs: [MillJob]) {
        var left: [MillJob] = []
        var touched: [BytePath] = []
        for job in jobs {
            do throws(SystemError) {
                try FaultPoint.pass(.afterOutcomeRecord)
                try FaultPoint.pass(.beforeSourceCommit)
                touched += try leave(job)
                try FaultPoint.pass(.afterSourceCommit)
                left.append(job)
            } catch {
                restCommitting(job, InboxPause(error, missing: .missingInbox))
            }
        }
        do throws(SystemError) {
            for folder in Set(touched) { try DurableFile.syncFolder(folder) }
        } catch {
            for job in left { restCommitting(job, InboxPause(error, missing: .missingInbox)) }
            return
        }
        guard finish(left, else: .commit) else { return }
        for job in left {
            job.post.end(job, done: 1)
            answer(job)
        }
    }

    private func restCommitting(_ job: MillJob, _ pause: InboxPause) {
        var job = job
        job.task = .commit
        rest(job, pause)
    }

    /// - Returns: the folders that must be synced for the source to have left for good.
    private func leave(_ job: MillJob) throws(SystemError) -> [BytePath] {
        // What stands in work/ is a copy, or the original itself: that was claimed when the setting was another one.
        if job.staysInInbox {
            try job.place.delete(job.id)
            return []
        }
        switch job.post.route.inbox.settings.originals {
        case .move, .keep:
            guard let path = try job.place.putAway(job.id, job.relative, on: .done, syncs: false) else { return [] }
            let folders = path.directory.components.reduce(into: [job.place.path(.done)]) { $0.append($0[$0.count - 1].appending(BytePath($1))) }
            return folders + [job.place.work]
        case .delete:
            try job.place.delete(job.id)
            return []
        }
    }

    /// - Parameter task: what is tried again where it cannot be recorded; or the next start finds the source gone, and records it then.
    /// - Returns: whether it is recorded.
    private func finish(_ jobs: [MillJob], else task: MillJob.Task) -> Bool {
        guard !jobs.isEmpty else { return true }
        do {
            try mill.ledger.finish(jobs.map { FinishedJob($0.id, recipe: $0.recipe ?? $0.post.route.recipe) })
            try FaultPoint.pass(.afterFinishRecord)
            return true
        } catch {
            for var job in jobs {
                job.task = task
                rest(job, InboxPause((error as? LedgerError)?.pauseReason ?? .ioError, "\(error)"))
            }
            return false
        }
    }

    /// Tells the inbox that an original that stays is done with.
    private func answer(_ job: MillJob) {
        guard let source = job.offered else { return }
        job.post.answer(source, .taken)
    }

    // MARK: - Back to the inbox

    /// Somebody still writes to the source: it goes back, and has to settle again.
    func putBack(_ job: MillJob) {
        do throws(SystemError) {
            if job.staysInInbox { try job.place.delete(job.id) } else { try job.place.putBack(job.id, job.relative, to: job.post.path) }
        } catch {
            return rest(job, InboxPause(error, missing: .missingInbox))
        }
        // Where this fails, the next start finds no source, and says that it is lost: it is in the inbox.
        try? mill.ledger.forget([job.id])
        job.post.end(job)
        if let source = job.offered { job.post.answer(source, .changed) }
        mill.tell(.putBack(job.relative), job.post)
    }
}
