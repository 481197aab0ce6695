// A task at work: one shard after the other, each by the same path as `run`.
import Glibc
import Pipeline
import System

/// The outcome of a shard.
package enum ShardOutcome: Sendable {
    case done(ShardResult)
    /// Another attempt has done it meanwhile.
    case doneElsewhere
    /// A signal came.
    case stopped
    /// Something around it is broken: nothing is wrong with its sources, and another time it may be done.
    case trouble(String)
}

/// Does the shards of a plan. Its calls wait, and come from one thread.
package struct ShardRunner: Sendable {
    private let plan: OpenedPlan
    private let pipeline: LoadedPipeline
    private let output: ShardOutput
    private let workers: WorkerPool
    private let lanes: Int
    private let limits: Limits
    private let cancellation: TaskCancellation
    private let observer: any BatchObserver

    /// - Parameter memory: bytes for all workers together.
    package init(
        _ plan: OpenedPlan, pipeline: LoadedPipeline, output: ShardOutput, workers: WorkerPool, lanes: Int, memory: Int,
        cancellation: TaskCancellation, observer: any BatchObserver
    ) {
        self.plan = plan
        self.pipeline = pipeline
        self.output = output
        self.workers = workers
        self.lanes = lanes
        self.cancellation = cancellation
        self.observer = observer
        limits = plan.plan.limits(memory: memory)
    }

    /// Does a shard. Doing one that is done already, or at the same time as somebody else, does no harm: the same
    /// sources make the same files under the same names, and each of them is put in place by a rename. Blocks the
    /// calling thread.
    /// - Throws: `PlanMismatch` if the plan is damaged.
    package func run(_ shard: Int) throws -> ShardOutcome {
        do {
            let entry = try plan.entry(of: shard)
            let sources = try plan.sources(of: shard, entry)
            let staging = try output.staging(for: shard)
            defer { output.remove(staging) }
            let outcome = try run(shard, entry: entry, sources: sources, staging: staging)
            // Whoever did it has taken this attempt's files away.
            if case .trouble = outcome, try output.isDoneByNow(shard) { return .doneElsewhere }
            return outcome
        } catch let error as SystemError {
            return (try? output.isDoneByNow(shard)) == true ? .doneElsewhere : .trouble(error.description)
        }
    }

    private func run(
        _ shard: Int, entry: ShardEntry, sources: [SourceFile], staging: ShardOutput.Staging
    ) throws -> ShardOutcome {
        let (start, started) = (SuspendingClock.now, timestamp())
        let cancellation = cancellation.next()
        let watcher = ShardObserver(observer, cancellation)
        var settings = batch(shard, staging: staging, cancellation: cancellation)
        settings.render.likelyFormats = sources.likelyFormats
        let report = try BatchReport(file: output.path(of: ShardOutput.Staging.report, in: staging), stream: nil)
        let outcome: BatchOutcome
        do {
            outcome = try BatchRun(WorkList(toDo: sources), settings, report: report, observer: watcher).run(
                since: start)
        } catch let error as SystemError {
            return .trouble(error.description)
        }
        if let obstacle = outcome.obstacle { return .trouble("\(obstacle)") }
        let summary = outcome.summary
        let totals = watcher.totals
        if self.cancellation.signal != nil { return .stopped }
        if let trouble = totals.trouble { return .trouble(trouble.message) }
        if summary.interrupted { return .trouble("the shard was given up") }
        if totals.unreadable == sources.count, let folder = missingFolder(of: sources) {
            return .trouble(
                "none of the \(sources.count) sources of shard \(shard) is there: '\(folder.printable)' is missing or empty"
            )
        }
        if plan.plan.layout == .tar {
            try pack(shard, sources: sources, renditions: totals.renditions, settings: settings, staging: staging)
        }
        let result = ShardResult(
            plan: plan.plan.id, shard: shard, list: entry.digest, folder: output.place(of: shard).text,
            node: LockHolder.current.host,
            started: started, milliseconds: milliseconds(in: .now - start), engine: engineName,
            sources: summary.sources, done: summary.done,
            failed: summary.failed, renditions: summary.renditions, bytes: totals.bytes, warnings: totals.warnings,
            failures: totals.failures)
        try output.publish(result, staging)
        return .done(result)
    }

    private func batch(_ shard: Int, staging: ShardOutput.Staging, cancellation: Cancellation) -> BatchSettings {
        let layout = plan.plan.layout
        let folder =
            layout == .tar
            ? output.path(of: ShardOutput.Staging.files, in: staging) : output.path.appending(output.place(of: shard))
        let location = OutboxLocation(folder)
        let outbox = Outbox(path: location.path, of: .run, staging: staging.folder)
        let render = RenderSettings(
            pipeline: pipeline, limits: limits, policy: plan.plan.options.policy ?? WarningPolicy(), outbox: outbox,
            keepsTree: plan.plan.options.keepTree, overwrites: true,
            memory: MemoryBudget(bytes: limits.maximumMemory), cancellation: cancellation)
        // The names of a shard depend on its own list alone. Under a digest, equal names mean equal files.
        let allocator = NameAllocator(
            store: MemoryJobStore(), outbox: BytePath([]), folder: outbox,
            policy: layout == .hash ? .overwrite : .version, isGone: { _ in false })
        return BatchSettings(
            render, workers: workers, lanes: lanes, allocator: allocator,
            publisher: Publisher(outbox: outbox, names: nil, durability: .none, keepsReplaced: false), outbox: location)
    }

    /// Puts the renditions into one tar, in the order of their sources, and the report after them.
    private func pack(
        _ shard: Int, sources: [SourceFile], renditions: [BytePath: [BytePath]], settings: BatchSettings,
        staging: ShardOutput.Staging
    ) throws(SystemError) {
        let files = try staging.folder.makingFolder(ShardOutput.Staging.files)
        let path = output.place(of: shard)
        let tar = TarWriter(try staging.folder.making(ShardOutput.Staging.tar, mode: 0o666), path: path)
        for source in sources {
            for name in renditions[settings.outbox.identity(of: source.identity)] ?? [] {
                try tar.add(name, try files.folder(name.directory).opening(name.lastComponent))
            }
        }
        let report = BytePath(ShardOutput.name(of: shard) + ".json")
        try tar.add(report, try staging.folder.opening(ShardOutput.Staging.report))
        try tar.finish()
    }

    /// A folder of the sources that is not there, or has nothing in it, as the place of a file system that is not
    /// mounted.
    private func missingFolder(of sources: [SourceFile]) -> BytePath? {
        let folders = Set(sources.map { $0.members == nil ? $0.identity.directory : $0.identity })
        return folders.sorted { $0.precedes($1) }.first { folder in
            guard let names = try? Directory(folder).names() else { return true }
            return names.isEmpty
        }
    }
}
