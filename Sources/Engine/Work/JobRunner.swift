// A lane: one thread with one worker, which takes jobs from the dispatcher and brings each to its end.
import Glibc
import Pipeline
import System

/// Runs jobs until the dispatcher is closed. Everything in here waits, so a runner has a thread of its own and is used
/// on that alone.
package final class JobRunner {
    let dispatcher: Dispatcher
    let store: any JobStore
    let lane: Int
    private let site: (String) -> (any JobSite)?
    let maker: RenditionMaker
    private let status: LaneStatus
    /// A source is in the middle of being made: its worker knows it.
    var keepsWorker = false

    /// How long the first of a group waits for the others.
    private static let patience = Duration.milliseconds(50)
    /// A group is published before a picture of more pixels is rendered, which may take long.
    private static let quickPixels = 2_000_000
    /// How often a worker may be stopped by a signal in one attempt.
    private static let mostStops = 3
    /// More than libraries use for a picture. If the system does not give as many, that is why a worker got none.
    private static let threadsPerWorker = 32

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
        maker.noteActivity = { [dispatcher] in dispatcher.note($0, lane: lane) }
    }

    package func run() {
        defer { dispatcher.ended(lane) }
        while case let leases = dispatcher.next(lane: lane), let first = leases.first {
            status.hold(lane, leases)
            if let site = site(first.job.inbox) { process(leases, site) } else { giveBack(leases) }
            status.hold(lane, [])
            status.note(lane, nil)
            dispatcher.free(lane)
        }
    }

    /// The inbox was let go meanwhile: its jobs are free for whoever has it next.
    private func giveBack(_ leases: [Lease]) {
        _ = try? store.update(leases.map { JobUpdate($0, $0.effects.contains(.claim) ? .unreached : .interrupted) })
    }

    private func process(_ leases: [Lease], _ site: any JobSite) {
        // One for all: a group is published in one place, whatever a reload does meanwhile.
        let route = site.route
        var rendered: [Attempt] = []
        var end = Moment.now + Self.patience
        for lease in leases {
            guard beginsAloneIfSuspect(lease, site), claim(lease, site) else { continue }
            for effect in lease.effects {
                switch effect {
                case .attempt:
                    attempt(lease, along: route, at: site, rendered: &rendered)
                    if .now >= end || lease.job.progress.isSuspect {
                        publish(&rendered, site)
                        end = .now + Self.patience
                    }
                case .settle: settle([Attempt(lease, route)], site)
                case .deadLetter(let failure): deadLetter(Attempt(lease, route), with: failure, at: site)
                case .claim, .retry, .countDone, .countFailed, .lost, .completeNote, .adopt, .outOfStep: break
                }
            }
        }
        publish(&rendered, site)
    }

    // MARK: - Claiming

    /// A job that may have taken the program down waits until no other such job is attempted. Then its attempt is
    /// recorded: if the program ends now, this job is why.
    /// - Returns: whether the job is still held.
    private func beginsAloneIfSuspect(_ lease: Lease, _ site: any JobSite) -> Bool {
        guard lease.job.progress.isSuspect, lease.effects.contains(.attempt) else { return true }
        dispatcher.waitToBeAlone(lane)
        return !update([JobUpdate(lease, .begunAlone)], at: site).isEmpty
    }

    /// - Returns: whether the source is in the spool.
    private func claim(_ lease: Lease, _ site: any JobSite) -> Bool {
        guard lease.effects.contains(.claim) else { return true }
        note(.files, of: lease, stage: "claim")
        do throws(SystemError) {
            try FaultPoint.pass(.afterAttemptRecord)
        } catch {
            return unreached(lease, for: Pause(error, missing: .missingInbox), at: site)
        }
        switch site.shelving?.claim(lease.job) ?? .claimed {
        case .claimed: return true
        case .refused:
            update([JobUpdate(lease, .unclaimed)], at: site)
            return false
        case .obstructed(let pause): return unreached(lease, for: pause, at: site)
        }
    }

    /// The inbox cannot be looked into: the source is still there.
    private func unreached(_ lease: Lease, for pause: Pause, at site: any JobSite) -> Bool {
        site.pause(pause)
        update([JobUpdate(lease, .unreached)], at: site)
        return false
    }

    // MARK: - Rendering

    private func attempt(_ lease: Lease, along route: Route, at site: any JobSite, rendered: inout [Attempt]) {
        let attempt = Attempt(lease, route)
        guard !site.isDraining else { return interrupt(attempt, site) }
        do {
            try render(attempt, at: site, rendered: &rendered)
            rendered.append(attempt)
        } catch is StillWritten {
            putBack(attempt, site)
        } catch is Cancelled {
            interrupt(attempt, site)
        } catch let failure as Failure {
            fail(attempt, with: attempt.work.failure(from: failure), at: site)
        } catch let error as StoreError {
            obstruct(attempt, for: Pause(error.pauseReason, error.description), after: error.asFailure, at: site)
        } catch {
            // No worker can be started, or an asset was changed: that is no source's fault.
            obstruct(attempt, for: Pause(.ioError, "\(error)"), after: nil, at: site)
        }
    }

    /// Works on the source until it is rendered, has failed, or has cost too many workers.
    private func render(_ attempt: Attempt, at site: any JobSite, rendered: inout [Attempt]) throws {
        let route = attempt.route
        note(.files, of: attempt.lease, stage: "open")
        let source = try site.open(attempt.job, route)
        attempt.work.take(source)
        let opened = try attempt.work.open(route.render.limits)
        if try isSkipped(attempt, opened, at: site) { return }
        note(.worker, of: attempt.lease, stage: "render")
        // A job that may have taken the program down, or has lacked memory before, is done alone, by a worker that
        // nothing else has been through. Such a worker makes the last of several attempts, too.
        var isAlone = attempt.job.progress.isSuspect || attempt.job.progress.failure?.code == .outOfMemory
        let number = attempt.work.report.attempt
        if isAlone || number > 1 && number >= route.policy.attempts { maker.worker.replace() }
        maker.worker.isSilent = { [began = attempt.began] in site.shelving?.wasSilent(since: began) ?? false }
        try prepare(route, opened)
        var (hasAskedTwice, stops) = (false, 0)
        while true {
            do {
                let task = SourceTask(source: source, opened: opened, settings: route.render, isAlone: isAlone)
                attempt.outputs = try maker.make(&attempt.work, task) { candidates in
                    attempt.candidates = candidates
                    try maker.onFiles { try attempt.takeNames(site) }
                    return attempt.allocation?.names ?? []
                } beforeRendering: { pixels, time in
                    // Finished renditions are published before a long rendering begins.
                    if pixels > Self.quickPixels, !rendered.isEmpty {
                        keepsWorker = true
                        publish(&rendered, site)
                        keepsWorker = false
                    }
                    note(.worker, of: attempt.lease, stage: "render", within: time)
                }
                attempt.work.add([attempt.allocation?.warning].compactMap { $0 })
                return
            } catch let loss as WorkerLoss {
                maker.worker.replace()
                site.shelving?.workerLost()
                // Others may have needed what it lacked, or more was needed than predicted: once more, with all memory
                // to itself.
                if loss.mayEndOtherwiseAlone, !isAlone {
                    isAlone = true
                    continue
                }
                // Somebody outside has done that, unless it comes back each time.
                if loss == .stopped, stops < Self.mostStops {
                    stops += 1
                    continue
                }
                if loss == .starved { try checkThreads(Self.threadsPerWorker) }
                let failure = try loss.failure(
                    attempt: attempt.work.report.attempt, predicted: attempt.work.report.predictedMemory ?? 0)
                if loss == .silenced { throw failure }
                if isFinal(failure, of: attempt) {
                    guard !hasAskedTwice, !maker.worker.isFresh else { throw failure }
                    hasAskedTwice = true
                } else {
                    guard route.retriesAtOnce else { throw failure }
                    attempt.work.report.attempt += 1
                }
            } catch let failure as Failure
                where isFinal(failure, of: attempt) && !isSeenHere(failure, route) && !hasAskedTwice
                && (failure.code.isDamage || !maker.worker.isFresh)
            {
                // A decoder takes a read that fails for damage, so what counts is decoded after it could be read.
                if failure.code.isDamage { try maker.onFiles { () throws(Failure) in try opened.confirmDamage() } }
                // A worker that other pictures have been through may have brought that about, whatever it is: a fresh
                // one has the last word. The next is wanted soon, as damaged pictures seldom come alone.
                if !maker.worker.isFresh {
                    maker.worker.replace()
                    maker.worker.keepSpare()
                }
                hasAskedTwice = true
            }
        }
    }

    /// Returns true if another source of the inbox had the same bytes, so that this one is done without renditions.
    /// - Throws: `Failure` if that is one, `StoreError`.
    private func isSkipped(_ attempt: Attempt, _ opened: OpenedInput, at site: any JobSite) throws -> Bool {
        let route = attempt.route
        guard route.duplicates != .process else { return false }
        let digest = try maker.onFiles { () throws(Failure) in
            let digest = try opened.sha256()
            try maker.checkUnchanged(opened)
            return digest
        }
        attempt.work.report.source.sha256 = digest
        let contents = try contents(digest, of: attempt)
        guard let other = try store.note(contents: contents, of: attempt.lease) else { return false }
        let isOwn = other == attempt.job.path
        // Dropped again, it is no copy of another one.
        if route.duplicates == .fail, isOwn { return false }
        guard try hasRenditions(other, of: attempt) else { return false }
        // Its own renditions may be of other contents, and would stay.
        if try !isOwn && !route.allocator.ownNames(of: site.owner(of: attempt.job)).isEmpty { return false }
        let message = "'\(other.printable)' had the same bytes"
        guard route.duplicates == .skip else { throw Failure(.duplicate, stage: "read", message) }
        let task = SourceTask(source: attempt.work.source, opened: opened, settings: route.render)
        let warning = Warning(.duplicateSkipped, message + "; nothing is made of it")
        try attempt.work.begin([warning], of: task, stage: "plan")
        attempt.work.names = []
        attempt.candidates = { _ in [] }
        attempt.repeatsItself = isOwn
        if isOwn { return true }
        try maker.onFiles { try attempt.takeNames(site) }
        attempt.work.add([attempt.allocation?.warning].compactMap { $0 })
        return true
    }

    /// A digest that is equal for two sources of an inbox with the same bytes and the same sidecars.
    private func contents(_ digest: String, of attempt: Attempt) throws -> String {
        if attempt.route.render.pipeline.file.settings.isEmpty { return digest }
        let source = attempt.work.source
        let sidecars = try maker.onFiles { () throws(Failure) in try source.openedSidecars() }
        if sidecars.isEmpty { return digest }
        return Digest.of(json([digest] + sidecars.map(\.sidecar.text)))
    }

    /// Returns true if all renditions of another source of the inbox are in the outbox.
    private func hasRenditions(_ path: BytePath, of attempt: Attempt) throws -> Bool {
        let owner = BytePath(attempt.job.inbox).appending(path)
        let names = try maker.onFiles { () throws(StoreError) in try attempt.route.allocator.wholeNames(of: owner) }
        let reports = (1...names.count + 1).compactMap { attempt.route.reports?.path(for: path, version: $0) }
        return !names.subtracting(reports).isEmpty
    }

    /// Our own code has found it in the file or in its surroundings, so that no worker can have brought it about.
    private func isSeenHere(_ failure: Failure, _ route: Route) -> Bool {
        switch failure.code {
        case .truncated: route.render.pipeline.file.tolerance == .nothing
        case .refusedByPolicy: failure.stage == "plan"
        case .badParameters: failure.stage == "read"
        case .requirementNotMet, .tooManyScans, .diskFull, .outputNotWritable, .ioError, .permissionDenied, .notFound,
            .nameTaken:
            true
        default: false
        }
    }

    private func isFinal(_ failure: Failure, of attempt: Attempt) -> Bool {
        attempt.route.policy.isFinal(failure.code, attempt: attempt.work.report.attempt)
    }

    /// Makes sure that there is a worker that knows the pipeline. It has not seen the source yet: what goes wrong here
    /// is not its fault.
    private func prepare(_ route: Route, _ opened: OpenedInput) throws {
        if maker.cachePlanner(route.render) != nil { return }
        do {
            try maker.worker.prepare(route.render, for: opened.formats)
        } catch let loss as WorkerLoss {
            maker.worker.replace()
            throw WorkerTrouble(
                description: "no worker can be used: \(try loss.failure(attempt: 1, predicted: 0).message)")
        } catch let failure as Failure {
            maker.worker.replace()
            throw WorkerTrouble(description: "no worker can be used: \(failure.message)")
        }
    }

    private struct WorkerTrouble: Error, CustomStringConvertible {
        let description: String
    }

    /// Records the activity of the lane.
    /// - Parameter time: what the worker has for it.
    func note(_ activity: Dispatcher.Activity, of lease: Lease, stage: String, within time: TimeBound? = nil) {
        if activity == .files && !keepsWorker { maker.worker.giveBack() }
        dispatcher.note(activity, lane: lane, within: .seconds(time?.seconds ?? 0))
        status.note(lane, RunningJob(lease.job, stage: stage))
    }
}

extension FailureCode {
    /// A decoder reports this for a damaged file, and also if the file could not be read.
    fileprivate var isDamage: Bool { self == .corrupt || self == .truncated || self == .setMemberFailed }
}
