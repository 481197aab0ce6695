// The publishing of rendered sources by a lane: it puts their renditions in place, and lets the originals go.
import Pipeline
import System

extension JobRunner {
    /// How often a name may be taken by somebody else between its choice and the rename.
    private static let mostNames = 8

    func publish(_ rendered: inout [Attempt], _ site: any JobSite) {
        var attempts = rendered
        rendered = []
        for _ in 0..<Self.mostNames where !attempts.isEmpty { attempts = publishOnce(attempts, site) }
        for attempt in attempts {
            fail(
                attempt,
                with: Failure(.nameTaken, stage: "publish", "others take the names of its renditions again and again"),
                at: site)
        }
    }

    /// - Returns: those whose name was taken by somebody else in between, with other names.
    private func publishOnce(_ attempts: [Attempt], _ site: any JobSite) -> [Attempt] {
        note(.files, of: attempts[0].lease, stage: "publish")
        guard let attempts = stillHeld(attempts, site), !attempts.isEmpty else { return [] }
        let outcomes = attempts[0].route.publisher.publish(
            attempts.map { $0.publication(owner: site.owner(of: $0.job)) })
        var published: [Attempt] = []
        var again: [Attempt] = []
        for (attempt, outcome) in zip(attempts, outcomes) {
            switch outcome {
            case .published(let milliseconds, let files):
                attempt.work.report.status = attempt.route.render.isDryRun ? .planned : .done
                attempt.work.report.milliseconds.publish += milliseconds
                attempt.files = files
                // An outbox that is not in use can be unmounted.
                attempt.outputs = []
                published.append(attempt)
            case .nameOccupied(let name): if rename(attempt, from: name, at: site) { again.append(attempt) }
            case .failed(let error): fail(attempt, with: error.asOutputFailure, at: site)
            case .unrecorded(let error):
                obstruct(attempt, for: Pause(error.pauseReason, error.description), after: error.asFailure, at: site)
            }
        }
        let recorded = update(
            published.map { JobUpdate($0.lease, .published(damage: $0.damage), report: document(of: $0.work.report)) },
            at: site)
        settle(published.filter { recorded.contains($0.job.id) }, site)
        return again
    }

    /// Gives an attempt the next names that are free.
    /// - Returns: false if there are none, and the attempt is over.
    private func rename(_ attempt: Attempt, from occupied: BytePath, at site: any JobSite) -> Bool {
        do {
            try attempt.takeNames(site, insteadOf: occupied)
            let names = attempt.allocation?.names ?? []
            attempt.work.rename(names)
            attempt.work.add([attempt.allocation?.warning].compactMap { $0 })
            try attempt.route.render.outbox.redirect(attempt.outputs, to: names)
            try attempt.work.writeDocuments(
                to: Array(attempt.outputs.dropFirst(attempt.work.report.renditions.count)))
            return true
        } catch let error as SystemError {
            fail(attempt, with: error.asOutputFailure, at: site)
        } catch let error as StoreError {
            obstruct(attempt, for: Pause(error.pauseReason, error.description), after: error.asFailure, at: site)
        } catch {
            fail(attempt, with: attempt.work.failure(from: error), at: site)
        }
        return false
    }

    /// Those whose leases still hold, and hold on while they are published; nil if that cannot be found out. Asked each
    /// time: a process that was stopped for a while does not know that somebody else has its jobs.
    private func stillHeld(_ attempts: [Attempt], _ site: any JobSite) -> [Attempt]? {
        do throws(StoreError) {
            let held = Set(try store.extend(attempts.map(\.lease), by: Dispatcher.lease).map(\.job.id))
            for attempt in attempts where !held.contains(attempt.job.id) {
                site.happened(.leaseLost, to: attempt.job, files: nil, source: nil)
            }
            return attempts.filter { held.contains($0.job.id) }
        } catch {
            for attempt in attempts {
                obstruct(attempt, for: Pause(error.pauseReason, error.description), after: error.asFailure, at: site)
            }
            return nil
        }
    }

    /// Lets the originals of published jobs leave the spool. The moves share their syncs.
    func settle(_ attempts: [Attempt], _ site: any JobSite) {
        guard let first = attempts.first else { return }
        note(.files, of: first.lease, stage: "put away")
        var left: [Attempt] = []
        var folders: Set<BytePath> = []
        for attempt in attempts {
            // Nothing in the spool is open any more when it is moved or removed: network file systems keep what is
            // open.
            attempt.work.close()
            do throws(SystemError) {
                try FaultPoint.pass(.afterOutcomeRecord)
                folders.formUnion(
                    try site.shelving?.settle(
                        attempt.job, mayDelete: attempt.damage == nil && !attempt.work.report.renditions.isEmpty)
                        ?? [])
                left.append(attempt)
            } catch {
                obstruct(attempt, by: error, at: site)
            }
        }
        do throws(SystemError) {
            for folder in folders { try DurableFile.syncFolder(folder) }
        } catch {
            for attempt in left { obstruct(attempt, by: error, at: site) }
            return
        }
        for attempt in left {
            if !attempt.work.wasTaken { attempt.work.report.status = .done }
            site.shelving?.ends(attempt.job, attempt.work.report)
        }
        let recorded = update(left.map { JobUpdate($0.lease, .settled) }, at: site)
        for attempt in left where recorded.contains(attempt.job.id) {
            site.happened(
                .done(attempt.work.report), to: attempt.job, files: attempt.files,
                source: attempt.work.sourceFingerprint)
        }
    }
}

extension Attempt {
    /// The damage that the decoder reported in a source that it could still decode; nil if there is none.
    fileprivate var damage: Failure? {
        if job.progress.state == .published { return job.progress.failure }
        return work.damage.map {
            Failure($0.code == .sourceTruncated ? .truncated : .corrupt, stage: "decode", $0.message)
        }
    }
}
