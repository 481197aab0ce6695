import ArgumentParser
import Engine
import Glibc
import Pipeline

extension CollisionPolicy: ExpressibleByArgument {}

/// `imagemill run`: one pass over files and folders.
struct RunCommand: RenderingCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs a pipeline over files and folders, once.",
        discussion: """
            Example: imagemill run pipelines/web-photos.yaml photos/ -o out/
                     imagemill run --plan plan --task 17 -o out/

            A second run skips sources that nothing has changed about; --why FILE says why a source is done or skipped. What Imagemill did \
            not write is never overwritten, unless told so.
            """)

    @Argument(help: "The pipeline file.")
    var pipeline = ""

    @Argument(help: "Pictures, or folders of pictures, which are walked to their depth.")
    var sources: [String] = []

    @Option(name: [.customShort("o"), .long], help: "The folder for the renditions; made where it is missing.")
    var output: String

    @Option(help: "Does one task of this plan, which `imagemill shard` has made, instead of a pipeline and sources.")
    var plan: String?

    @Option(name: .customLong("task"), help: "The number of the task. Default: what Slurm, Kubernetes or AWS Batch say in the environment.")
    var taskNumber: Int?

    @Option(help: "Worker processes. Default: one for each core.")
    var jobs: Int?

    @Option(help: "Where the report goes. Default: report.json in the folder of --state.")
    var report: String?

    @Option(
        help: "The folder for what the next run needs to know of this output folder, and for the report. Default: .imagemill in the output folder.")
    var state: String?

    @Flag(help: "Prints the report on standard output.")
    var json = false

    @Flag(help: "Says what would be written, and writes nothing.")
    var dryRun = false

    @Option(help: "When a name belongs to another source: version (a-2.webp), fail, or overwrite.")
    var collision = CollisionPolicy.version

    @Flag(help: "Does all sources, also those that nothing has changed about.")
    var force = false

    @Option(help: "Says why this source would be done or skipped, and runs nothing.")
    var why: String?

    @Flag(help: "Puts renditions into the same sub-folders as their sources.")
    var keepTree = false

    @Option(help: "A folder that keeps renditions, so that no run makes the same one twice. Several runs may share it.")
    var cache: String?

    @Option(help: "Most bytes of the cache, such as 10G. Default: 1G.")
    var cacheSize: ByteCount?

    @Flag(help: "Shows no line of progress on a terminal.")
    var noProgress = false

    @Flag(name: [.customShort("q"), .long], help: "Prints failures only.")
    var quiet = false

    @OptionGroup(title: "Limits")
    var limitOptions: LimitOptions

    func validate() throws {
        guard jobs.map({ (1...1024).contains($0) }) ?? true else { throw ValidationError("--jobs takes 1 to 1024") }
        guard cacheSize == nil || cache != nil else { throw ValidationError("--cache-size needs --cache DIR") }
        guard let plan else {
            guard taskNumber == nil else { throw ValidationError("--task needs --plan") }
            guard !pipeline.isEmpty else { throw ValidationError("name a pipeline file and the sources, or a plan with --plan") }
            guard !sources.isEmpty else { throw ValidationError("name the sources: pictures, or folders of pictures") }
            return
        }
        guard pipeline.isEmpty else { throw ValidationError("--plan takes no pipeline and no sources: they are in '\(plan)'") }
        let isOther = report != nil || state != nil || json || dryRun || force || why != nil || keepTree || cache != nil || collision != .version
        let takes = "-o, --task, --jobs, --max-memory, --quiet and --no-progress"
        guard !isOther, !limitOptions.hasSourceLimits else { throw ValidationError("--plan takes \(takes); everything else is in the plan") }
    }

    /// The task of a plan; nil if there is no plan.
    var planned: PlannedTask? {
        plan.map { plan in
            PlannedTask(
                planPath: plan, task: taskNumber, output: output, jobs: jobs, memory: limitOptions.maxMemory, isQuiet: quiet,
                showsProgress: !noProgress && !quiet && isatty(2) == 1)
        }
    }

    /// What is known before any worker is started.
    struct Preparation {
        let start: ContinuousClock.Instant
        let pipeline: LoadedPipeline
        let found: FoundSources
        let setup: RunSetup
        let work: WorkList
        let outbox: OutboxLocation
        /// Nil if nothing is written.
        let lock: OutboxLock?
    }

    func prepare() throws -> Preparation {
        let start = ContinuousClock.now
        try refuseTooFewDescriptors(workers: 1, renditions: 1)
        let roots = RawArguments.paths(sources)
        let outbox = OutboxLocation(RawArguments.paths([output])[0], state: state.map { RawArguments.paths([$0])[0] })
        try refuseSameFolder(roots, outbox.path)
        let pipeline = try loadedPipeline()
        do {
            let found = SourceWalk.find(roots, outbox: outbox.path, cache: cache.map { RawArguments.paths([$0])[0] }, kind: pipeline.file.source)
            if !quiet { found.notes.forEach { printError("note: \($0)") } }
            try refuseReportOverSource(found)
            let writes = !dryRun && why == nil
            // The specification of thumbnails wants the folder to be the user's alone.
            if writes && pipeline.file.makesThumbnails { try FileSystem.makeDirectories(outbox.path, mode: 0o700) }
            let lock = writes ? try OutboxLock(outbox) : nil
            if let note = lock?.note { printError("note: \(note)") }
            let setup = RunSetup(pipeline, keepsTree: keepTree, policy: collision)
            let work = force || why != nil ? WorkList(toDo: found.sources) : WorkList(found.sources, setup, outbox: outbox, isDryRun: dryRun)
            let preparation = Preparation(start: start, pipeline: pipeline, found: found, setup: setup, work: work, outbox: outbox, lock: lock)
            try refuseTooFewDescriptors(workers: workerCount(for: preparation), renditions: pipeline.file.renditions.count)
            return preparation
        } catch let exit as ExitCode {
            throw exit
        } catch {
            throw ExitStatus.explaining(error, pipeline: self.pipeline)
        }
    }

    private func loadedPipeline() throws -> LoadedPipeline {
        do {
            return try LoadedPipeline(path: pipeline)
        } catch {
            throw ExitStatus.explaining(error, reading: pipeline)
        }
    }

    func workerCount(for preparation: Preparation) -> Int {
        why == nil ? min(jobs ?? Machine.cores, preparation.work.toDo.count) : 0
    }

    func run(_ preparation: Preparation, _ workers: WorkerPool) async throws {
        if let why { return try Explanation(preparation, isForced: force).print(RawArguments.paths([why])[0]) }
        let cancellation = Cancellation()
        let progress = Progress(showsLine: !noProgress && !quiet && isatty(2) == 1)
        // Until everything is written and said.
        defer { withExtendedLifetime(preparation.lock) {} }
        do {
            try SignalWatcher.watch(cancellation)
            let record = try OutboxRecord(preparation.outbox, isDryRun: dryRun)
            defer { record.close() }
            let prepared = try batch(preparation, record, workers, cancellation, progress)
            let summary = try await prepared.run(since: preparation.start)
            try conclude(summary, preparation.outbox, progress, cancellation)
        } catch let exit as ExitCode {
            throw exit
        } catch {
            throw ExitStatus.explaining(error, pipeline: pipeline)
        }
    }

    private func refuseSameFolder(_ roots: [BytePath], _ outbox: BytePath) throws {
        guard let absolute = FileSystem.absolute(outbox) else { return }
        for root in roots where FileSystem.absolute(root) == absolute {
            printError("imagemill: '\(root.printable)' is the output folder too; choose another folder for the renditions (-o)")
            throw ExitStatus.usage
        }
    }

    private func refuseReportOverSource(_ found: FoundSources) throws {
        guard let report else { return }
        let path = RawArguments.paths([report])[0]
        guard let absolute = FileSystem.absolute(path), found.sources.contains(where: { $0.identity == absolute }) else { return }
        printError("imagemill: the report would be written over the source '\(path.printable)'; choose another file (--report)")
        throw ExitStatus.usage
    }

    private func batch(
        _ preparation: Preparation, _ record: OutboxRecord, _ workers: WorkerPool, _ cancellation: Cancellation, _ progress: Progress
    ) throws -> BatchRun {
        let limits = limitOptions.limits
        let location = preparation.outbox
        let outbox = Outbox(path: location.path, of: .run)
        var render = RenderSettings(
            pipeline: preparation.pipeline, limits: limits, outbox: outbox, keepsTree: keepTree, overwrites: collision == .overwrite,
            memory: MemoryBudget(bytes: limits.maximumMemory), cancellation: cancellation)
        render.isDryRun = dryRun
        render.cache = sharedCache.map { PipelineCache($0, preparation.pipeline) }
        // A source may be the rendition of another one that is gone; its name is not free for that.
        let sources = Set(preparation.found.sources.map(\.identity))
        let allocator = NameAllocator(
            store: record, outbox: BytePath([]), folder: outbox, policy: collision, isGone: { location.isGone($0) },
            isSource: { sources.contains(location.realPath.appending($0)) })
        let settings = BatchSettings(
            render, workers: workers, lanes: jobs ?? Machine.cores, allocator: allocator,
            publisher: Publisher(outbox: outbox, durability: .none), outbox: location)
        let document = try BatchReport(file: reportPath(location), mayBeStream: report != nil, stream: json ? 1 : nil)
        let observer: any BatchObserver = dryRun && !json ? DryRunListing(progress: progress) : progress
        return BatchRun(
            preparation.work, settings, report: document, observer: observer, results: dryRun ? nil : ResultRecord(record, preparation.setup))
    }

    private var sharedCache: SharedCache? {
        guard let cache, !dryRun else { return nil }
        return SharedCache(folder: RawArguments.paths([cache])[0], bound: cacheSize?.value ?? SharedCache.usualBound) { printError("note: \($0)") }
    }

    private func reportPath(_ outbox: OutboxLocation) -> BytePath? {
        if let report { return RawArguments.paths([report])[0] }
        return dryRun ? nil : outbox.report
    }

    private func conclude(_ summary: BatchSummary, _ outbox: OutboxLocation, _ progress: Progress, _ cancellation: Cancellation) throws {
        if !quiet {
            printError(sentence(summary, report: reportPath(outbox)))
            if let versions = versionsSentence(progress.versionedSources) { printError(versions) }
        }
        if let signal = cancellation.cause { throw ExitStatus.stopped(by: signal) }
        guard summary.failed > 0 else { return }
        if progress.environmentFailures == summary.failed { throw ExitStatus.tryAgain }
        throw summary.failed == summary.sources ? ExitStatus.allFailed : ExitStatus.someFailed
    }

    private func sentence(_ summary: BatchSummary, report: BytePath?) -> String {
        if summary.sources == 0 { return "nothing to do: no files were found" }
        let time = "\(oneDecimal(Double(summary.milliseconds) / 1000)) s"
        let unchanged = summary.unchanged > 0 ? ", \(summary.unchanged) unchanged" : ""
        if dryRun { return "\(summary.planned) of \(summary.sources) sources can be rendered\(unchanged); nothing was written" }
        let path = report?.printable ?? ""
        if summary.unchanged == summary.sources {
            return "\(summary.sources) source\(summary.sources == 1 ? "" : "s") unchanged: nothing to do (\(time)); report: \(path)"
        }
        let rate = Double(summary.done + summary.failed) * 1000 / Double(max(1, summary.milliseconds))
        let head = summary.interrupted ? "stopped: " : ""
        let failed = summary.failed > 0 ? ", \(summary.failed) failed" : ""
        let counts = "\(summary.done) of \(summary.sources) sources done\(failed)\(unchanged), \(summary.renditions) renditions"
        return "\(head)\(counts) in \(time) (\(oneDecimal(rate))/s); report: \(path)"
    }
}

/// Each worker needs a socket, and an open source, asset and renditions; without them every source would fail with `io-error`.
func refuseTooFewDescriptors(workers: Int, renditions: Int) throws {
    let limit = Machine.raiseDescriptorLimit()
    // Databases, the terminal, folders on the way, and a worker that is replaced: 26 in all were seen with two workers, and once 38.
    let needed = 32 + workers * (6 + renditions)
    guard (1..<needed).contains(limit) else { return }
    printError("imagemill: only \(limit) files may be open at once, and this run needs \(needed); raise the limit (ulimit -n), or use fewer --jobs")
    throw ExitStatus.tryAgain
}

/// Says that names were not the expected ones; nil if all were.
func versionsSentence(_ count: Int) -> String? {
    switch count {
    case 0: nil
    case 1: "1 source shares a name with another one and was given a version; see the report"
    default: "\(count) sources share a name with another one and were given versions; see the report"
    }
}

/// Lists what would be written.
private struct DryRunListing: BatchObserver {
    let progress: Progress

    func begin(sources: Int) { progress.begin(sources: sources) }
    func end() { progress.end() }

    func finished(_ report: SourceReport, _ summary: BatchSummary) {
        progress.finished(report, summary)
        guard report.error == nil else { return }
        let lines = report.renditions.map { "\(report.source.path.printable) → \($0.path.printable) (\($0.size))\n" }
        printOutput(lines.joined())
    }
}
