// One thread of a run, with its worker: one source after the other, from the open file to the published renditions.
import Glibc
import Pipeline

/// Serves a run until its sources are used up. Everything in here waits, so a lane has a thread of its own, and is used on that alone.
final class Lane {
    private let settings: LaneSettings
    private let maker: RenditionMaker

    private var render: RenderSettings { settings.render }

    init(_ settings: LaneSettings) {
        self.settings = settings
        maker = RenditionMaker(settings.workers, cancellation: settings.render.cancellation)
    }

    /// Takes sources from the queue until there are none left or the run is cancelled.
    /// - Throws: what `RenditionMaker.prepare` throws.
    func work(through queue: SourceQueue) throws {
        if maker.cachePlanner(render) == nil { try maker.prepare(render) }
        while !render.cancellation.isRaised, let (source, order) = queue.next() {
            guard let finished = process(source, order: order) else { break }
            queue.add(finished)
        }
    }

    /// Processes one source, and says what was done.
    /// - Parameter order: the source's place among all sources, from 0.
    /// - Returns: nil where the run was cancelled before the source was done.
    private func process(_ source: SourceFile, order: Int) -> FinishedSource? {
        let turn = DeskTurn(settings.names, order: order)
        defer { turn.end() }
        var work = SourceWork(source, pipeline: render.pipeline.file)
        var outputs = Fingerprint([])
        do {
            outputs = try attempt(&work, turn)
            work.report.status = render.isDryRun ? .planned : .done
        } catch is Cancelled {
            return nil
        } catch {
            work.report.error = work.failure(from: error)
            work.report.renditions = []
        }
        return FinishedSource(source: source, report: work.report, fingerprint: work.opened?.fingerprint, outputs: outputs)
    }

    /// Works on the source until it is done, has failed, or has cost too many workers.
    private func attempt(_ work: inout SourceWork, _ turn: DeskTurn) throws -> Fingerprint {
        let opened = try work.open(render.limits)
        while true {
            do {
                let outputs = try maker.make(&work, opened, render, turn)
                return try publish(outputs, &work)
            } catch let loss as WorkerLoss {
                maker.seat.letGo()
                let failure = try loss.failure(attempt: work.report.attempt)
                guard failure.code == .workerCrashed, work.report.attempt < settings.attempts else { throw failure }
                work.report.attempt += 1
            }
        }
    }

    /// All renditions of a source or none: everything that can fail is done before the first rename.
    /// - Returns: what the next run compares the renditions with.
    private func publish(_ outputs: [StagedFile], _ work: inout SourceWork) throws(Failure) -> Fingerprint {
        var clock = Stopwatch()
        do throws(SystemError) {
            for output in outputs { try output.makeReady() }
            for output in outputs { try output.publish() }
            var files: [Fingerprint.File] = []
            for (output, name) in zip(outputs, work.names ?? []) { files.append(Fingerprint.File(name: name.path, try output.file.status())) }
            work.report.milliseconds.publish += clock.lap()
            return Fingerprint(files)
        } catch {
            throw error.asOutputFailure
        }
    }
}

/// A source's turn at the desk of names.
private final class DeskTurn: NameGiver {
    private let desk: NameDesk
    private let order: Int
    private var hasAsked = false
    private var names: [RenditionName]?

    init(_ desk: NameDesk, order: Int) {
        self.desk = desk
        self.order = order
    }

    func names(for source: SourceFile, _ candidates: @escaping (_ version: Int) throws(PlanFailure) -> [RenditionName]) throws -> [RenditionName] {
        hasAsked = true
        let names = try desk.claim(order: order, source: source.identity, candidates: candidates)
        self.names = names
        return names
    }

    /// The source has written its names, or will not ask for any.
    func end() {
        if let names { desk.release(names) } else if !hasAsked { desk.pass(order: order) }
    }
}
