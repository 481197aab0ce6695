// One thread of the drop folder, with its worker: claims what is ready, renders it, and has it published.
import Glibc
import Pipeline

/// A job that a lane has in its hands.
struct ActiveJob {
    var job: MillJob
    /// As it was when the attempt began.
    let route: MillRoute
    /// Its number, from 1.
    let attempt: Int
    var work: SourceWork
    var outputs: [StagedFile] = []
    /// Where the report goes, from the outbox.
    var report: BytePath

    init(_ job: MillJob) {
        self.job = job
        route = job.post.route
        let source = SourceFile(path: job.place.source(of: job.id), identity: job.post.path.appending(job.relative), relative: job.relative)
        report = route.reports.path(for: job.relative)
        attempt = job.attempts
        work = Self.work(on: source, route, attempt)
    }

    /// Goes on with what the worker is to read.
    mutating func take(_ source: SourceFile) { work = Self.work(on: source, route, attempt) }

    private static func work(on source: SourceFile, _ route: MillRoute, _ attempt: Int) -> SourceWork {
        var work = SourceWork(source, pipeline: route.render.pipeline.file)
        work.report.attempt = attempt
        work.report.inbox = route.inbox.settings.name
        return work
    }
}

/// Serves the drop folder until its queue is closed. Everything in here waits, so a lane has a thread of its own.
final class MillLane {
    private let mill: MillCore
    private let maker: RenditionMaker
    private let index: Int

    /// How many light sources share their syncs.
    private static let groupSize = 16
    /// How long the first of them waits for the others.
    private static let patience = Duration.milliseconds(50)

    init(_ mill: MillCore, index: Int) {
        self.mill = mill
        self.index = index
        maker = RenditionMaker(mill.workers, cancellation: mill.cancellation, token: mill.newToken())
    }

    /// Has the worker read every pipeline.
    /// - Throws: `Diagnostics` where an asset cannot be decoded, `SystemError` where no worker can be started.
    func prepare(_ routes: [MillRoute]) throws {
        for route in routes { try maker.prepare(route.render) }
    }

    func run() {
        while case let works = mill.queue.take(atMost: Self.groupSize, leaving: mill.laneCount), !works.isEmpty {
            process(works)
            mill.note(lane: index, nil)
        }
    }

    private func process(_ works: [InboxWork]) {
        var ready: [ReadySource] = []
        var standing: [MillJob] = []
        for work in works {
            switch work {
            case .ready(let source): ready.append(source)
            case .standing(let job): standing.append(job)
            }
        }
        let jobs = standing + Claiming(mill).claim(ready)
        var toAttempt: [MillJob] = []
        for job in jobs {
            switch job.task {
            case .attempt: toAttempt.append(job)
            case .reject(let failure): mill.endings.reject(job, failure)
            case .quarantine(let failure): mill.endings.quarantine(job, failure)
            case .commit: mill.endings.commit([job])
            }
        }
        attempt(toAttempt)
    }

    private func attempt(_ jobs: [MillJob]) {
        guard let numbers = mill.begin(jobs) else { return }
        var rendered: [ActiveJob] = []
        var end = Moment.now + Self.patience
        for job in jobs {
            guard let number = numbers[job.id] else { continue }
            var job = job
            job.attempts = number
            job.recipe = job.post.route.recipe
            var active = ActiveJob(job)
            if render(&active) { rendered.append(active) }
            guard .now >= end else { continue }
            publish(&rendered)
            end = .now + Self.patience
        }
        publish(&rendered)
    }

    private func publish(_ rendered: inout [ActiveJob]) {
        guard let first = rendered.first else { return }
        mill.note(lane: index, first, stage: "publish")
        Publication(mill).publish(rendered)
        rendered = []
    }

    /// - Returns: whether there is something to publish. What failed is taken care of.
    private func render(_ active: inout ActiveJob) -> Bool {
        guard !mill.isDraining else {
            mill.giveBack(active.job)
            return false
        }
        mill.note(lane: index, active, stage: "render")
        do {
            try prepare(active.route)
            let source = try MillSource(active.job, ignored: active.route.watchSettings.ignored, limits: active.route.render.limits).file()
            try FaultPoint.passOutput(.afterSnapshot)
            active.take(source)
            let opened = try active.work.open(active.route.render.limits)
            let names = LedgerNames(mill.ledger, active)
            defer { active.report = names.report }
            active.outputs = try maker.make(&active.work, opened, active.route.render, names)
            return true
        } catch is StillWritten {
            mill.endings.putBack(active.job)
        } catch is Cancelled {
            mill.giveBack(active.job)
        } catch let loss as WorkerLoss {
            maker.seat.letGo()
            mill.noteLoss()
            fail(active, loss)
        } catch let error as Failure {
            mill.endings.fail(active, active.work.failure(from: error))
        } catch {
            // No worker can be started, or an asset was changed: that is no source's fault.
            mill.endings.rest(active.job, InboxPause(.ioError, "\(error)"))
        }
        return false
    }

    /// Sees to it that there is a worker. No source was touched yet: what goes wrong here is none's fault.
    private func prepare(_ route: MillRoute) throws {
        do {
            try maker.prepare(route.render)
        } catch let loss as WorkerLoss {
            maker.seat.letGo()
            mill.noteLoss()
            throw WorkerTrouble(description: "no worker can be used: \(try loss.failure(attempt: 1).message)")
        } catch let failure as Failure {
            maker.seat.letGo()
            throw WorkerTrouble(description: "no worker can be used: \(failure.message)")
        }
    }

    private struct WorkerTrouble: Error, CustomStringConvertible {
        let description: String
    }

    private func fail(_ active: ActiveJob, _ loss: WorkerLoss) {
        do throws(Cancelled) {
            mill.endings.fail(active, try loss.failure(attempt: active.attempt))
        } catch {
            mill.giveBack(active.job)
        }
    }
}
