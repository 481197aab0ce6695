// One run over a list of sources: as many lanes as cores, each taking the next source when it is free.
package import Pipeline
import Synchronization
package import System

/// An observer of a run. It is called by one thread at a time.
package protocol BatchObserver: Sendable {
    func begin(sources: Int)
    func finished(_ report: SourceReport, _ summary: BatchSummary)
    func end()
}

/// The settings that a run decides once for all of its sources.
package struct BatchSettings: Sendable {
    package var render: RenderSettings
    package let workers: WorkerPool
    package let lanes: Int
    /// Gives sources their names.
    package let allocator: NameAllocator
    package let publisher: Publisher
    package let outbox: OutboxLocation
    /// How often a source may cost a worker its life.
    package var attempts = 3
    /// Whether the renditions have reached the disk when the run says that it is done.
    package var isDurable = false

    package init(
        _ render: RenderSettings, workers: WorkerPool, lanes: Int, allocator: NameAllocator, publisher: Publisher,
        outbox: OutboxLocation
    ) {
        self.render = render
        self.workers = workers
        self.lanes = lanes
        self.outbox = outbox
        self.allocator = allocator
        self.publisher = publisher
    }
}

/// Something around a run is broken, so that it has stopped before its last source.
package struct RunObstructed: Error, CustomStringConvertible {
    package let description: String
}

/// The outcome of a run.
package struct BatchOutcome: Sendable {
    package let summary: BatchSummary
    /// The obstacle that has kept it from its end: `RunObstructed`, or the `SystemError` for which the renditions may
    /// not be on the disk, or the report is not written. Nil if there is none.
    package private(set) var obstacle: (any Error)?
    /// The report is in its place.
    package let isReported: Bool

    /// Does what is left to do after the run. If it fails, that is an obstacle too.
    package mutating func finishing(_ work: () throws -> Void) {
        do {
            try work()
        } catch {
            obstacle = obstacle ?? error
        }
    }
}

/// One run. The queue is in memory, and the sources stay where they are.
package final class BatchRun: JobSite, NameOrder {
    private let settings: BatchSettings
    private let report: BatchReport
    private let observer: any BatchObserver
    /// Where results are recorded for the next run; nil if nothing is.
    private let results: ResultRecord?
    /// In a dry run: why sources failed in an earlier one, by their paths from the output folder.
    private let failedBefore: [BytePath: String]
    /// The files that have to reach the disk before the run is done; nil if none have to.
    private let written: WrittenFiles?
    private let store = MemoryJobStore()
    private let status = LaneStatus()
    private let ids = JobNames()
    /// Versions of names follow the order of the sources.
    private let turns = OrderedNames()
    private let state: Mutex<State>
    private let trouble = Mutex<(any Error)?>(nil)

    package let route: Route
    private static let inbox = "run"

    private struct State {
        var sources: [SourceFile]
        var unchanged: [UnchangedSource]
        /// A source's place among all that are given out, by its job's path.
        var places: [BytePath: Int] = [:]
        var summary = BatchSummary()
        var unfinished = 0

        /// - Precondition: the job was made for one of the sources, as all are.
        func place(of job: Job) -> Int {
            guard let place = places[job.path] else {
                preconditionFailure("the job '\(job.path.printable)' has no source")
            }
            return place
        }

        /// Sources that were to stay as they are have lost a name to an earlier one (`--collision overwrite`). They
        /// come after it in order, so they must win: they are done after all.
        mutating func takeBack(_ losers: Set<BytePath>, owner: (SourceFile) -> BytePath) -> [SourceFile] {
            guard !losers.isEmpty else { return [] }
            let lost = unchanged.filter { losers.contains(owner($0.source)) }
            unchanged.removeAll { losers.contains(owner($0.source)) }
            summary.skipped -= lost.count
            return lost.map(\.source)
        }
    }

    package init(
        _ work: WorkList, _ settings: BatchSettings, report: BatchReport, observer: any BatchObserver,
        results: ResultRecord? = nil
    ) {
        self.settings = settings
        self.report = report
        self.observer = observer
        self.results = results
        failedBefore = settings.render.isDryRun ? work.failedBefore : [:]
        written = settings.isDurable ? WrittenFiles(in: settings.outbox.path) : nil
        var state = State(sources: work.toDo, unchanged: work.unchanged)
        state.summary.sources = work.toDo.count + work.unchanged.count
        state.summary.skipped = work.unchanged.count
        state.summary.passedOver = work.passedOver
        self.state = Mutex(state)
        route = Route(
            render: settings.render, allocator: settings.allocator, publisher: settings.publisher,
            policy: RetryPolicy(attempts: settings.attempts, first: 0, longest: 0, scope: .workerCrashes), inbox: nil,
            recipe: "",
            retriesAtOnce: true)
    }

    /// Processes what is to do, and reports what is not. Blocks the calling thread.
    /// - Parameter start: when the run began.
    /// - Returns: what was done, also if the run was cancelled, or was stopped by its surroundings.
    /// - Throws: `Diagnostics` if an asset cannot be decoded, `SystemError` if workers cannot be started.
    package func run(since start: SuspendingClock.Instant = .now) throws -> BatchOutcome {
        let sources = state.withLock { $0.sources }
        observer.begin(sources: sources.count)
        if !sources.isEmpty { try process(sources) }
        observer.end()
        let lost = makeDurable()
        report.add(state.withLock { $0.unchanged.map(\.document) })
        results?.finish()
        // A lane that did not start has left its share to the others; only if they all failed is there work left.
        let trouble = state.withLock({ $0.unfinished > 0 }) && !isDraining ? self.trouble.withLock { $0 } : nil
        if let trouble, !(trouble is RunObstructed) { throw trouble }
        var summary = state.withLock { $0.summary }
        summary.milliseconds = milliseconds(in: .now - start)
        summary.interrupted = isDraining || trouble != nil
        // The report would say that renditions are there which may be lost.
        if let lost { return BatchOutcome(summary: summary, obstacle: trouble ?? lost, isReported: false) }
        do throws(SystemError) {
            try report.finish(summary)
            return BatchOutcome(summary: summary, obstacle: trouble, isReported: true)
        } catch {
            return BatchOutcome(summary: summary, obstacle: trouble ?? error, isReported: false)
        }
    }

    /// Has the renditions written to the disk, all together. On a network file system, an error while they are written
    /// shows only then.
    /// - Returns: that error; nil if all is written.
    private func makeDurable() -> (any Error)? {
        guard let written else { return nil }
        do {
            try written.sync()
            return nil
        } catch {
            results?.discard()
            return error
        }
    }

    /// Nobody else can take up the jobs of a run, however long one takes: ten years, in milliseconds.
    private static let lease = 315_360_000_000

    private func process(_ sources: [SourceFile]) throws {
        let lanes = min(settings.lanes, sources.count)
        let dispatcher = Dispatcher(store, owner: Self.inbox, workers: lanes, lease: Self.lease, trouble: { _, _ in }) {
            [self] dispatcher, lane in
            runOnNewThread { [self] in work(dispatcher, lane) }
        }
        try offer(sources)
        self.dispatcher.withLock { $0 = dispatcher }
        dispatcher.set(Self.inbox, weight: 1, recipe: "")
        dispatcher.waitUntilClosed()
    }

    private let dispatcher = Mutex<Dispatcher?>(nil)

    private func offer(_ sources: [SourceFile]) throws {
        // Its sources are compared with nothing.
        let nothing = FileVersion(device: 0, inode: 0, bytes: 0, modified: 0)
        let jobs = state.withLock { state in
            sources.map { source in
                state.places[source.identity] = state.places.count
                return NewJob(id: ids.next(), inbox: Self.inbox, path: source.identity, observed: nothing)
            }
        }
        state.withLock { $0.unfinished += jobs.count }
        _ = store.offer(jobs)
    }

    private func work(_ dispatcher: Dispatcher, _ lane: Int) {
        let maker = RenditionMaker(settings.workers, cancellation: settings.render.cancellation)
        do {
            if maker.cachePlanner(settings.render) == nil { try maker.worker.prepare(settings.render) }
        } catch {
            // If the run was cancelled, nothing was begun; the report says so.
            if (error as? WorkerLoss) != .cancelled { trouble.withLock { $0 = $0 ?? error } }
            return dispatcher.giveUp(lane)
        }
        JobRunner(dispatcher, store, lane: lane, maker: maker, status: status) { [self] _ in self }.run()
    }

    // MARK: - JobSite

    /// Sources stay where they are.
    package var shelving: (any Shelving)? { nil }
    package var nameOrder: (any NameOrder)? { self }

    package var isDraining: Bool { settings.render.cancellation.isRaised }

    package func open(_ job: Job, _ route: Route) throws -> SourceFile { source(of: job) }

    private func source(of job: Job) -> SourceFile { state.withLock { $0.sources[$0.place(of: job)] } }

    private func place(of job: Job) -> Int { state.withLock { $0.place(of: job) } }

    package func takingTurns(_ job: Job, _ claim: () throws -> Allocation) throws -> Allocation {
        try turns.claim(order: place(of: job), claim, names: { $0.names.map(\.path) }, losers: \.losers)
    }

    package func owner(of job: Job) -> BytePath { settings.outbox.identity(of: job.path) }

    /// A folder that is missing is no trouble: it is made with the next rendition.
    package func surroundings(_ route: Route) -> Pause? {
        [settings.outbox.path, settings.outbox.state].firstFound { folder in
            guard let error = WriteProbe.trouble(in: folder), !error.isAbsence else { return nil }
            return Pause(error, missing: .missingOutbox)
        }
    }

    /// Nobody waits for the surroundings of a run: what is left is for the next one.
    package func pause(_ pause: Pause) { trouble.withLock { $0 = RunObstructed(description: pause.message) } }

    package func happened(_ news: JobNews, to job: Job, files: Fingerprint?, source: Fingerprint?) {
        switch news {
        case .done(let report), .failed(let report, _, _):
            finish(job, report: report, fingerprint: source, files: files)
        case .postponed(let failure, _, _):
            // A run waits for nothing.
            pause(Pause(.ioError, failure.message))
            happened(.obstructed, to: job, files: nil, source: nil)
        case .interrupted, .obstructed:
            // Others may wait for its turn.
            turns.end(order: place(of: job))
            dispatcher.withLock { $0 }?.close()
        case .outOfStep:
            pause(Pause(.ioError, "'\(job.path.printable)' is left as it is: a mistake in Imagemill, please report it"))
            happened(.obstructed, to: job, files: nil, source: nil)
        case .returned, .leaseLost: break
        }
    }

    private func finish(_ job: Job, report: SourceReport, fingerprint: Fingerprint?, files: Fingerprint?) {
        turns.end(order: place(of: job))
        var report = report
        let source = source(of: job)
        let location = settings.outbox.identity(of: job.path)
        report.source.location = location
        report.failedBefore = failedBefore[location]
        report.source.typed = source.typed
        let finished = FinishedSource(
            source: source, report: report, fingerprint: fingerprint, outputs: files ?? Fingerprint([]))
        let document = json(report)
        self.report.add(document)
        if let files { written?.add(files) }
        results?.add(finished, document: document)
        let left = state.withLock { state in
            state.summary.add(report)
            observer.finished(report, state.summary)
            state.unfinished -= 1
            return state.unfinished
        }
        // The last ones are rendered meanwhile.
        if left == settings.lanes { written?.syncAhead() }
        if left == 0 { goOn() }
    }

    /// All that was given out is done: what has lost its names is done too, or the run is over.
    private func goOn() {
        let losers = turns.takeLosers()
        let more = state.withLock { state in
            let more = state.takeBack(losers) { settings.outbox.identity(of: $0.identity) }
            state.sources += more
            return more
        }
        guard let dispatcher = dispatcher.withLock({ $0 }) else { return }
        guard !more.isEmpty, (try? offer(more)) != nil else { return dispatcher.close() }
        dispatcher.added(more.count, to: Self.inbox)
    }
}
