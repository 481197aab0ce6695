// The way of a job's source: out of the inbox, into the spool, and to where originals go.
import Glibc
import Pipeline
import Synchronization
import System

extension InboxController: JobSite, Shelving {
    var route: Route { state.withLock { $0.route } }
    var isDraining: Bool { shared.isDraining() }
    var shelving: (any Shelving)? { self }
    /// Whoever is first gets a name.
    var nameOrder: (any NameOrder)? { nil }

    func claim(_ job: Job) -> ClaimResult {
        if let pause = currentPause ?? outboxPause { return .obstructed(pause) }
        // It was offered while the end of an earlier job was being recorded.
        if isDone(job.path, job.observed) {
            answer(job, .taken)
            return .refused
        }
        let (spool, inbox, limits) = state.withLock { ($0.spool, $0.inbox, $0.route.render.limits) }
        guard let spool else { return .obstructed(Pause(.missingInbox, "the inbox has no folders yet")) }
        switch spool.claim(
            job, from: inbox.path, inbox.companions, settle: inbox.settings.settle,
            largest: limits.maximumSourceBytes)
        {
        case .claimed:
            state.withLock { $0.inSpool[job.id] = SpooledJob(in: spool.folders(of: job.id)) }
            // If the original stays in the inbox, the answer comes when the job is done.
            if !job.keepsOriginal { answer(job, .taken) }
            return .claimed
        case .gone: answer(job, .gone)
        case .changed: answer(job, .changed)
        case .blocked(let error): answer(job, .blocked(error))
        case .unreachable(let error):
            // The inbox came back on another file system: its folders are made anew.
            state.withLock { $0.spool = nil }
            answer(job, .blocked(error))
        // A bad sector under one source holds up no other.
        case .unavailable(let error) where error.code == EIO && surroundings(route) == nil: answer(job, .blocked(error))
        case .unavailable(let error):
            return .obstructed(shared.state.look() ?? Pause(error, missing: .missingInbox))
        }
        return .refused
    }

    func open(_ job: Job, _ route: Route) throws -> SourceFile {
        let spool: Spool
        do throws(SystemError) {
            spool = try self.spool(of: job)
        } catch {
            throw error.asSourceFailure
        }
        state.withLock { $0.postponed[job.id] = nil }
        return try spool.open(
            job, ignored: inbox.ignored, limits: route.render.limits, sidecars: inbox.companions.sidecars)
    }

    func owner(of job: Job) -> BytePath { job.owner }

    func surroundings(_ route: Route) -> Pause? {
        spool == nil
            ? Pause(.missingInbox, "the inbox has no folders yet") : trouble(outbox: route.render.outbox.path)
    }

    func wasSilent(since time: Moment) -> Bool {
        state.withLock { state in
            [state.answers.lastSilence, state.lastSilence].contains { $0.map { $0 > time } ?? false }
        }
    }

    /// Why one of its folders, or the state folder, cannot be written to or read now; nil if all can.
    func trouble(outbox: BytePath) -> Pause? {
        if let trouble = shared.state.look() { return trouble }
        if let error = WriteProbe.trouble(in: outbox) { return Pause(error, missing: .missingOutbox) }
        if let error = WriteProbe.trouble(in: shared.state.path) { return Pause(error, missing: .missingState) }
        // Obstacles to the folders of the spool show when they are made.
        guard let spool else { return nil }
        return Shelf.allCases.firstFound { shelf in
            WriteProbe.trouble(in: spool.path(shelf)).map { Pause($0, missing: .missingInbox) }
        }
    }

    func countObstacle(of job: Job) -> Int {
        state.withLock { state in
            state.inSpool[job.id]?.obstacles += 1
            return state.inSpool[job.id]?.obstacles ?? 1
        }
    }

    func settle(_ job: Job, mayDelete: Bool) throws(SystemError) -> [BytePath] {
        try expectHook(job)
        // Renditions of a damaged source may lack parts of it, so the original is kept.
        let folders = try spool(of: job).settle(job, mayDelete: mayDelete)
        remember(job, code: nil)
        return folders
    }

    /// Called before the job ends, so that its hook runs even if the program is killed right after.
    private func expectHook(_ job: Job) throws(SystemError) {
        do throws(StoreError) {
            try shared.hooks.expectEnd(of: job.id, inbox: name)
        } catch {
            throw SystemError(
                "record the event for hooks: \(error)", code: error.pauseReason == .noSpace ? ENOSPC : EIO)
        }
    }

    func deadLetter(_ job: Job, _ failure: Failure) throws(SystemError) {
        try expectHook(job)
        let spool = try spool(of: job)
        let (path, pipeline) = (path, inbox.pipeline.absolutePath)
        _ = try spool.deadLetter(job, token: shared.newToken()) { quarantined in
            FailureNote(
                source: job.path, job: job.id.text, inbox: path, quarantined: quarantined, pipeline: pipeline,
                failure: failure, attempts: max(1, job.progress.attempts))
        }
        remember(job, code: failure.code)
    }

    func putBack(_ job: Job) throws(SystemError) {
        _ = try spool(of: job).putBack(job, to: path)
    }

    func `defer`(_ updates: [JobUpdate]) { state.withLock { $0.deferred += updates } }

    func workerLost() { shared.workerLost() }

    func ends(_ job: Job, _ report: SourceReport) {
        let spooled = state.withLock { $0.inSpool[job.id] }
        guard spooled?.isInJournal != true else { return }
        // The journal is no promise: if it cannot be written, the work goes on.
        guard (try? shared.journal.add(report, unlessThere: spooled?.isOfEarlierStart ?? true)) != nil else { return }
        state.withLock { $0.inSpool[job.id]?.isInJournal = true }
        try? FaultPoint.pass(.afterJournalLine)
    }

    func happened(_ news: JobNews, to job: Job, files: Fingerprint?, source: Fingerprint?) {
        switch news {
        case .done(let report):
            ended(job)
            shared.hooks.done(job.id, report: report, inbox: name)
            tell(.done(job.id, report))
        case .failed(let report, let failure, let attempts):
            ended(job)
            shared.hooks.failed(job.id, report: report, failure: failure, inbox: name)
            tell(.failed(job.id, job.path, failure, attempts: attempts))
        case .postponed(let failure, let attempt, let after):
            state.withLock { state in
                guard state.postponed.count < Self.mostPostponed || state.postponed[job.id] != nil else { return }
                state.postponed[job.id] = .init(
                    path: job.path, failure: failure, next: .now + .milliseconds(after))
            }
            tell(.postponed(job.id, job.path, failure, attempt: attempt, after: after))
        case .obstructed, .interrupted: break
        case .returned:
            forget(job.id)
            if job.keepsOriginal { answer(job, .changed) }
            tell(.putBack(job.path))
        case .leaseLost:
            forget(job.id)
            tell(.trouble("'\(job.path.printable)' is worked on by another process now"))
        case .outOfStep:
            forget(job.id)
            tell(.trouble("'\(job.path.printable)' is left as it is: a mistake in Imagemill, please report it"))
        }
    }

    /// Sources that wait and are named in the status.
    private static let mostPostponed = 100

    private func ended(_ job: Job) {
        forget(job.id)
        if job.keepsOriginal { answer(job, .taken) }
    }

    private func forget(_ job: JobID) {
        state.withLock { state in
            state.inSpool[job] = nil
            state.postponed[job] = nil
        }
    }
}
