// The recovery of the jobs that an earlier start had begun.
import Glibc
import Pipeline
import Synchronization
import System

/// Takes up the jobs of one inbox. Doing it twice does no harm.
struct InboxRecovery {
    private let controller: InboxController
    private let spool: Spool
    private var store: any Ledger { controller.shared.store }

    init(_ controller: InboxController, _ spool: Spool) {
        self.controller = controller
        self.spool = spool
    }

    /// - Throws: `StoreError` or `SystemError`; then it is tried again as a whole.
    func run() throws {
        let orphans = try store.orphans(inbox: controller.name, owner: controller.shared.owner)
        try removeLeftovers(of: orphans)
        let former =
            orphans.isEmpty
            ? [] : try store.formerPaths(inbox: controller.name).map { controller.inbox.spool.moved(to: $0) }
        var count = 0
        for job in orphans {
            let place = try spool.place(of: job, inbox: controller.path, former: former)
            if let end = end(of: job, at: place) { controller.ends(job, end.report) }
            for outcome in try store.recover([(job, place)], by: controller.shared.owner) {
                guard case .changed(let progress, let effects, _) = outcome else { continue }
                try perform(effects, job, at: place)
                if let progress, progress.state.isOpen, progress.state != .offered {
                    controller.state.withLock { state in
                        state.inSpool[job.id] = InboxController.SpooledJob(in: spool.folders(of: job.id))
                        state.inSpool[job.id]?.isOfEarlierStart = true
                    }
                }
                if progress?.state != .offered { count += 1 }
            }
            try FaultPoint.pass(.duringRecovery)
        }
        count += try adopt()
        let kept = try store.kept(inbox: controller.name)
        controller.state.withLock { $0.kept = kept }
        try controller.shared.hooks.takeUpForgotten()
        if count > 0 { controller.tell(.recovered(count)) }
        controller.shared.dispatcher.added(to: controller.name)
    }

    private func perform(_ effects: [JobEffect], _ job: Job, at place: SourcePlace) throws {
        for effect in effects {
            switch effect {
            case .lost:
                try spool.discard(job.id)
                controller.tell(.lost(job.id, job.path))
            case .completeNote:
                _ = try spool.completeNote(of: job, token: controller.shared.newToken(), note: failureNote(job))
            case .countDone, .countFailed:
                if let end = end(of: job, at: place) {
                    controller.happened(end.news, to: job, files: nil, source: nil)
                }
                try spool.putAwayCompanions(of: job, isDone: effect == .countDone)
                try spool.discard(job.id)
            // Lanes do these when they take the job.
            case .claim, .attempt, .settle, .deadLetter, .retry: break
            case .adopt, .outOfStep: break
            }
        }
    }

    /// The end of a job whose source had left the spool already; nil for any other one.
    private func end(of job: Job, at place: SourcePlace) -> (report: SourceReport, news: JobNews)? {
        let effects = transition(job.progress, .found(place), now: store.now, policy: controller.route.policy).effects
        var report = SourceWork(job, controller.route).report
        if effects.contains(.countDone) {
            report.status = .done
            return (report, .done(report))
        }
        guard effects.contains(.countFailed) else { return nil }
        let (failure, attempts) = (failure(of: job), max(1, job.progress.attempts))
        report.fail(failure, attempts: attempts)
        return (report, .failed(report, failure, attempts: attempts))
    }

    private func failure(of job: Job) -> Failure {
        job.progress.failure ?? Failure(.internal, stage: "read", "the reason was not recorded")
    }

    private func failureNote(_ job: Job) -> (BytePath) -> FailureNote {
        let (path, pipeline) = (controller.path, controller.inbox.pipeline.absolutePath)
        let failure = failure(of: job)
        return { quarantined in
            FailureNote(
                source: job.path, job: job.id.text, inbox: path, quarantined: quarantined, pipeline: pipeline,
                failure: failure, attempts: max(1, job.progress.attempts)
            )
        }
    }

    /// Sources in the spool that the store does not know become new jobs, under the names that were noted beside them.
    private func adopt() throws -> Int {
        var count = 0
        for entry in try spool.entries(ignored: controller.inbox.ignored) {
            let known = try store.job(entry.id)
            if let known, known.progress.state.isOpen { continue }
            guard let source = entry.source, !entry.isCopy else {
                // There is nothing in it, or a copy of an original that is in the inbox.
                try spool.discard(entry.id)
                continue
            }
            if try source.kind == .directory && spool.putAwayRest(of: entry.id) { continue }
            let id = known == nil ? entry.id : controller.shared.ids.next()
            if id != entry.id { try spool.rename(entry.id, to: id) }
            let path = entry.path ?? BytePath("recovered-\(id.text)")
            let job = NewJob(
                id: id, inbox: controller.name, path: path, isSet: source.kind == .directory,
                observed: source.version, isInSpool: true)
            // One of the path is under way; the next start finds this one again.
            if try store.offer([job]) == [.busy] { continue }
            controller.state.withLock { $0.inSpool[id] = InboxController.SpooledJob(in: spool.folders(of: id)) }
            count += 1
            try FaultPoint.pass(.duringRecovery)
        }
        return count
    }

    /// Removes staged files that a crash has left beside the renditions, the reports and the notes of these jobs.
    private func removeLeftovers(of jobs: [Job]) throws {
        let inbox = controller.inbox
        let (ours, present) = (controller.shared.prefix, controller.shared.owner)
        var folders: Set<BytePath> = []
        for job in jobs {
            for name in try store.names(of: job.owner, in: inbox.outboxKey) { folders.insert(name.directory) }
        }
        let outbox = Outbox(path: inbox.outbox, of: .dropFolder)
        for folder in folders { _ = outbox.removeLeftovers(in: folder, prefix: ours, present: present) }
        try spool.removeLeftovers(of: jobs, prefix: ours, present: present)
    }
}
