// A lane: one thread with one worker, which takes jobs from the dispatcher and brings each to its end.
import Glibc
import Pipeline

/// Runs jobs until the dispatcher is closed. Everything in here waits, so a runner has a thread of its own and is used on that alone.
package final class JobRunner {
    private let dispatcher: Dispatcher
    private let store: any JobStore
    private let lane: Int
    private let site: (String) -> (any JobSite)?
    private let maker: RenditionMaker
    private let status: LaneStatus
    /// A source is in the middle of being made: its worker knows it.
    private var keepsWorker = false

    /// How long the first of a group waits for the others.
    private static let patience = Duration.milliseconds(50)
    /// A group is published before a picture of more pixels is rendered, which may take long.
    private static let quickPixels = 2_000_000
    /// How often a name may be taken by somebody else between its choice and the rename.
    private static let mostNames = 8

    /// - Parameter site: the inbox of a name; nil if there is none any more.
    package init(
        _ dispatcher: Dispatcher, _ store: any JobStore, lane: Int, maker: RenditionMaker, status: LaneStatus,
        site: @escaping (String) -> (any JobSite)?
    ) {
        self.dispatcher = dispatcher
        self.store = store
        self.lane = lane
        self.maker = maker
        self.status = status
        self.site = site
    }

    /// A job that this lane works on.
    private struct Attempt {
        let lease: Lease
        let route: Route
        var work: SourceWork
        var outputs: [StagedFile] = []
        var allocation: Allocation?
        var plan: ((Int) throws(PlanFailure) -> [RenditionName])?
        var job: Job { lease.job }
    }

    package func run() {
        defer { dispatcher.ended(lane) }
        while case let leases = dispatcher.next(lane: lane), let first = leases.first {
            status.hold(lane, leases)
            if let site = site(first.job.inbox) { process(leases, site) }
            status.hold(lane, [])
            status.note(lane, nil)
            dispatcher.free(lane)
        }
    }

    private func process(_ leases: [Lease], _ site: any JobSite) {
        // One for all: a group is published in one place, whatever a reload does meanwhile.
        let route = site.route
        var rendered: [Attempt] = []
        var end = Moment.now + Self.patience
        for lease in leases {
            guard claim(lease, site) else { continue }
            for effect in lease.effects {
                switch effect {
                case .attempt:
                    attempt(lease, route, site, &rendered)
                    if .now >= end {
                        publish(&rendered, site)
                        end = .now + Self.patience
                    }
                case .settle: settle([(lease, nil, nil)], site)
                case .deadLetter(let failure): deadLetter(lease, failure, site, work: nil)
                case .claim, .retry, .countDone, .countFailed, .lost, .completeNote, .adopt, .outOfStep: break
                }
            }
        }
        publish(&rendered, site)
    }

    // MARK: - Claiming

    /// - Returns: whether the source is in the spool.
    private func claim(_ lease: Lease, _ site: any JobSite) -> Bool {
        guard lease.effects.contains(.claim) else { return true }
        note(.files, lease, "claim")
        do throws(SystemError) {
            try FaultPoint.pass(.afterAttemptRecord)
        } catch {
            return unreached(lease, Pause(error, missing: .missingInbox), site)
        }
        switch site.claim(lease.job) {
        case .claimed: return true
        case .refused:
            update([JobUpdate(lease, .unclaimed)], site)
            return false
        case .obstructed(let pause): return unreached(lease, pause, site)
        }
    }

    /// The inbox cannot be looked into: the source is still there.
    private func unreached(_ lease: Lease, _ pause: Pause, _ site: any JobSite) -> Bool {
        site.pause(pause)
        update([JobUpdate(lease, .unreached)], site)
        return false
    }

    // MARK: - Rendering

    private func attempt(_ lease: Lease, _ route: Route, _ site: any JobSite, _ rendered: inout [Attempt]) {
        guard !site.isDraining else { return interrupt(lease, site) }
        var attempt = Attempt(lease: lease, route: route, work: SourceWork(lease.job, route))
        do {
            try render(&attempt, site, &rendered)
            rendered.append(attempt)
        } catch is StillWritten {
            putBack(lease, site)
        } catch is Cancelled {
            interrupt(lease, site)
        } catch let failure as Failure {
            fail(attempt, attempt.work.failure(from: failure), site)
        } catch let error as StoreError {
            obstruct(lease, Pause(error.pauseReason, error.description), error.asFailure, site, work: attempt.work)
        } catch {
            // No worker can be started, or an asset was changed: that is no source's fault.
            obstruct(lease, Pause(.ioError, "\(error)"), nil, site, work: attempt.work)
        }
    }

    /// Works on the source until it is rendered, has failed, or has cost too many workers.
    private func render(_ attempt: inout Attempt, _ site: any JobSite, _ rendered: inout [Attempt]) throws {
        let route = attempt.route
        let job = attempt.job
        note(.files, attempt.lease, "open")
        let source = try site.open(job, route)
        attempt.work.take(source)
        let opened = try attempt.work.open(route.render.limits)
        note(.worker, attempt.lease, "render")
        try prepare(route)
        var isAlone = false
        var hasAskedTwice = false
        while true {
            do {
                var allocation = attempt.allocation
                var plan = attempt.plan
                attempt.outputs = try maker.make(&attempt.work, opened, route.render, alone: isAlone) { candidates in
                    plan = candidates
                    let given = try site.names(for: job, route, insteadOf: nil, candidates: candidates)
                    allocation = given
                    return given.names
                } beforeRendering: { pixels in
                    // What is rendered already does not wait for something that takes long.
                    guard pixels > Self.quickPixels, !rendered.isEmpty else { return }
                    keepsWorker = true
                    publish(&rendered, site)
                    keepsWorker = false
                    note(.worker, attempt.lease, "render")
                }
                attempt.allocation = allocation
                attempt.plan = plan
                attempt.work.add([allocation?.warning].compactMap { $0 })
                return
            } catch let loss as WorkerLoss {
                maker.replaceWorker()
                site.workerLost()
                // The kernel may have killed it for what others needed: once more, with all memory to itself.
                if case .killed = loss, !isAlone {
                    isAlone = true
                    continue
                }
                let failure = try loss.failure(attempt: attempt.work.report.attempt)
                guard route.retriesAtOnce, failure.code == .workerCrashed, attempt.work.report.attempt < route.policy.attempts else { throw failure }
                attempt.work.report.attempt += 1
            } catch let failure as Failure where shouldAskAgain(failure, route) && !hasAskedTwice {
                maker.replaceWorker()
                hasAskedTwice = true
            }
        }
    }

    /// A worker that other pictures have been through may lie about this one.
    private func shouldAskAgain(_ failure: Failure, _ route: Route) -> Bool {
        route.wantsSecondOpinion && failure.code.mayComeFromWorker && !failure.code.isRetryable && !maker.isWorkerFresh
    }

    /// Makes sure that there is a worker that knows the pipeline. It has not seen the source yet: what goes wrong here is not its fault.
    private func prepare(_ route: Route) throws {
        if maker.cachePlanner(route.render) != nil { return }
        do {
            try maker.prepare(route.render)
        } catch let loss as WorkerLoss {
            maker.replaceWorker()
            throw WorkerTrouble(description: "no worker can be used: \(try loss.failure(attempt: 1).message)")
        } catch let failure as Failure {
            maker.replaceWorker()
            throw WorkerTrouble(description: "no worker can be used: \(failure.message)")
        }
    }

    private struct WorkerTrouble: Error, CustomStringConvertible {
        let description: String
    }

    // MARK: - Publishing

    private func publish(_ rendered: inout [Attempt], _ site: any JobSite) {
        var attempts = rendered
        rendered = []
        for _ in 0..<Self.mostNames where !attempts.isEmpty { attempts = publishOnce(attempts, site) }
        for attempt in attempts {
            fail(attempt, Failure(.nameTaken, stage: "publish", "others take the names of its renditions again and again"), site)
        }
    }

    /// - Returns: those whose name was taken by somebody else in between, with other names.
    private func publishOnce(_ attempts: [Attempt], _ site: any JobSite) -> [Attempt] {
        note(.files, attempts[0].lease, "publish")
        guard let attempts = stillHeld(attempts, site), !attempts.isEmpty else { return [] }
        let outcomes = attempts[0].route.publisher.publish(attempts.map { publication($0, site) })
        var published: [(lease: Lease, work: SourceWork?, files: Fingerprint?)] = []
        var again: [Attempt] = []
        for (var attempt, outcome) in zip(attempts, outcomes) {
            switch outcome {
            case .published(let milliseconds, let files):
                attempt.work.report.status = attempt.route.render.isDryRun ? .planned : .done
                attempt.work.report.milliseconds.publish += milliseconds
                published.append((attempt.lease, attempt.work, files))
            case .nameOccupied(let name): if let renamed = renamed(attempt, name, site) { again.append(renamed) }
            case .failed(let error): fail(attempt, error.asOutputFailure, site)
            }
        }
        let recorded = update(published.map { JobUpdate($0.lease, .published) }, site)
        settle(published.filter { recorded.contains($0.lease.job.id) }, site)
        return again
    }

    private func publication(_ attempt: Attempt, _ site: any JobSite) -> Publication {
        let report = site.publishedReport(for: attempt.job, version: attempt.allocation?.version ?? 1) { milliseconds in
            var report = attempt.work.report
            report.status = .done
            report.milliseconds.publish = milliseconds
            return report
        }
        return Publication(
            outputs: attempt.outputs, names: attempt.work.names ?? [], owner: site.owner(of: attempt.job), owned: attempt.allocation?.owned ?? [],
            overwrites: attempt.route.render.overwrites, report: report)
    }

    /// The attempt with the next names that are free.
    private func renamed(_ attempt: Attempt, _ occupied: BytePath, _ site: any JobSite) -> Attempt? {
        var attempt = attempt
        do {
            guard let plan = attempt.plan, let first = attempt.allocation else {
                throw Failure(.internal, stage: "publish", "a rendition without a plan")
            }
            let allocation = try site.names(for: attempt.job, attempt.route, insteadOf: (first, occupied), candidates: plan)
            attempt.allocation = allocation
            attempt.work.rename(allocation.names)
            attempt.work.add([allocation.warning].compactMap { $0 })
            try attempt.route.render.outbox.redirect(attempt.outputs, to: allocation.names)
            return attempt
        } catch let error as SystemError {
            fail(attempt, error.asOutputFailure, site)
        } catch let error as StoreError {
            obstruct(attempt.lease, Pause(error.pauseReason, error.description), error.asFailure, site)
        } catch {
            fail(attempt, attempt.work.failure(from: error), site)
        }
        return nil
    }

    /// Those whose leases still hold; nil if that cannot be found out. Asked only if so much time has passed that one may have run out.
    private func stillHeld(_ attempts: [Attempt], _ site: any JobSite) -> [Attempt]? {
        guard attempts.contains(where: { .now > $0.lease.taken + .milliseconds(Dispatcher.lease / 2) }) else { return attempts }
        do throws(StoreError) {
            let held = Set(try store.extend(attempts.map(\.lease), by: Dispatcher.lease).map(\.job.id))
            for attempt in attempts where !held.contains(attempt.job.id) { site.happened(.leaseLost, to: attempt.job, files: nil, source: nil) }
            return attempts.filter { held.contains($0.job.id) }
        } catch {
            for attempt in attempts { obstruct(attempt.lease, Pause(error.pauseReason, error.description), error.asFailure, site) }
            return nil
        }
    }

    // MARK: - Putting away

    /// Originals of published jobs leave the spool. The moves share their syncs.
    private func settle(_ jobs: [(lease: Lease, work: SourceWork?, files: Fingerprint?)], _ site: any JobSite) {
        guard let first = jobs.first else { return }
        note(.files, first.lease, "put away")
        var left: [(lease: Lease, work: SourceWork?, files: Fingerprint?)] = []
        var folders: Set<BytePath> = []
        for var job in jobs {
            let source = job.work?.opened?.fingerprint
            let rendered = job.work?.rendered
            // Nothing in the spool is open any more when it is moved or removed: network file systems keep what is open.
            job.work?.close()
            do throws(SystemError) {
                try FaultPoint.pass(.afterOutcomeRecord)
                folders.formUnion(try site.settle(job.lease.job, rendered: rendered))
                job.work?.sourceFingerprint = source
                left.append(job)
            } catch {
                obstruct(job.lease, Pause(error, missing: .missingInbox), nil, site)
            }
        }
        do throws(SystemError) {
            for folder in folders { try DurableFile.syncFolder(folder) }
        } catch {
            for job in left { obstruct(job.lease, Pause(error, missing: .missingInbox), nil, site) }
            return
        }
        let recorded = update(left.map { JobUpdate($0.lease, .settled) }, site)
        for job in left where recorded.contains(job.lease.job.id) {
            let report = job.work?.report ?? SourceReport(status: .done, pipeline: site.route.render.pipeline.file.name, source: job.lease.job.path)
            site.happened(.done(report), to: job.lease.job, files: job.files, source: job.work?.sourceFingerprint)
        }
    }

    private func deadLetter(_ lease: Lease, _ failure: Failure, _ site: any JobSite, work: SourceWork?) {
        note(.files, lease, "put away")
        var work = work ?? SourceWork(lease.job, site.route)
        work.close()
        do throws(SystemError) {
            try FaultPoint.pass(.afterOutcomeRecord)
            try site.deadLetter(lease.job, failure)
        } catch {
            return obstruct(lease, Pause(error, missing: .missingInbox), nil, site)
        }
        guard !update([JobUpdate(lease, .settled)], site).isEmpty else { return }
        work.report.status = .failed
        work.report.error = failure
        work.report.renditions = []
        let attempts = max(1, lease.job.progress.attempts)
        work.report.attempt = max(work.report.attempt, attempts)
        site.happened(.failed(work.report, failure, attempts: attempts), to: lease.job, files: nil, source: work.sourceFingerprint)
    }

    private func putBack(_ lease: Lease, _ site: any JobSite) {
        note(.files, lease, "put back")
        do throws(SystemError) {
            try site.putBack(lease.job)
        } catch {
            return obstruct(lease, Pause(error, missing: .missingInbox), nil, site)
        }
        update([JobUpdate(lease, .returned)], site)
        site.happened(.returned, to: lease.job, files: nil, source: nil)
    }

    // MARK: - Failures

    /// An attempt has failed: again later, never again, or not the source's fault.
    private func fail(_ attempt: Attempt, _ failure: Failure, _ site: any JobSite) {
        let lease = attempt.lease
        switch attempt.route.policy.decide(after: failure, surroundings: { site.surroundings(attempt.route) }) {
        case .pause(let reason): obstruct(lease, Pause(reason, failure.message), failure, site)
        // What is retried at once has had all its attempts.
        case .retry: attemptFailed(attempt, failure, isFinal: attempt.route.retriesAtOnce, site)
        case .final: attemptFailed(attempt, failure, isFinal: true, site)
        }
    }

    private func attemptFailed(_ attempt: Attempt, _ failure: Failure, isFinal: Bool, _ site: any JobSite) {
        let lease = attempt.lease
        for effect in effects(of: JobUpdate(lease, .attemptFailed(failure, isFinal: isFinal, now: wallClock())), site) {
            switch effect {
            case .retry(let after):
                site.happened(.postponed(failure, attempt: lease.job.progress.attempts, after: after), to: lease.job, files: nil, source: nil)
            case .deadLetter(let failure): deadLetter(lease, failure, site, work: attempt.work)
            case .claim, .attempt, .settle, .countDone, .countFailed, .lost, .completeNote, .adopt, .outOfStep: break
            }
        }
    }

    private func interrupt(_ lease: Lease, _ site: any JobSite) {
        update([JobUpdate(lease, .interrupted)], site)
        site.happened(.interrupted, to: lease.job, files: nil, source: nil)
    }

    /// Something around the job is broken: the inbox pauses, and the job waits, which costs no attempt.
    private func obstruct(_ lease: Lease, _ pause: Pause, _ failure: Failure?, _ site: any JobSite, work: SourceWork? = nil) {
        let reason = failure ?? Failure(.ioError, stage: "publish", pause.message)
        let route = site.route
        guard route.canPause else {
            let attempt = Attempt(lease: lease, route: route, work: work ?? SourceWork(lease.job, route))
            return attemptFailed(attempt, reason, isFinal: true, site)
        }
        site.pause(pause)
        update([JobUpdate(lease, .obstructed(reason, now: wallClock()))], site)
        site.happened(.obstructed, to: lease.job, files: nil, source: nil)
    }

    // MARK: - The store

    private func effects(of change: JobUpdate, _ site: any JobSite) -> [JobEffect] {
        var found: [JobEffect] = []
        update([change], site) { found += $1 }
        return found
    }

    /// Records what has happened.
    /// - Returns: the jobs of which it is recorded.
    @discardableResult
    private func update(_ updates: [JobUpdate], _ site: any JobSite, _ each: (Job, [JobEffect]) -> Void = { _, _ in }) -> Set<JobID> {
        guard !updates.isEmpty else { return [] }
        do {
            let outcomes = try store.update(updates)
            try FaultPoint.pass(.afterFinishRecord)
            var recorded: Set<JobID> = []
            for (update, outcome) in zip(updates, outcomes) {
                let job = update.lease.job
                switch outcome {
                case .changed(let progress, let effects):
                    recorded.insert(job.id)
                    // What waits is due at some time that the dispatcher must know.
                    if let progress, progress.state == .waiting {
                        dispatcher.added(to: job.inbox, due: .now + .milliseconds(max(0, progress.notBefore - wallClock())))
                    }
                    each(job, effects)
                case .leaseLost: site.happened(.leaseLost, to: job, files: nil, source: nil)
                }
            }
            return recorded
        } catch {
            let trouble = (error as? StoreError)?.pauseReason ?? .ioError
            site.defer(updates)
            site.pause(Pause(trouble, "\(error)"))
            return []
        }
    }

    private func note(_ activity: Dispatcher.Activity, _ lease: Lease, _ stage: String) {
        if activity == .files && !keepsWorker { maker.giveBackWorker() }
        dispatcher.note(activity, lane: lane)
        status.note(lane, RunningJob(lease.job, stage: stage))
    }
}
