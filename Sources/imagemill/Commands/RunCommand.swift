import ArgumentParser
import Engine
import Glibc
import Pipeline
import Synchronization

extension CollisionPolicy: ExpressibleByArgument {}

/// `imagemill run`: one pass over files and folders.
struct RunCommand: RenderingCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs a pipeline over files and folders, once.",
        discussion: """
            Example: imagemill run --resize '1600x1600>' --format webp photos/ -o out/
                     imagemill run web-photos photos/ -o out/
                     imagemill run my.yaml photos/ -o out/ --exclude drafts
                     imagemill run --resize 300x --format jpeg - -o - < big.png > small.jpg
                     imagemill run --plan plan --task 17 -o out/

            The pipeline is a file, the name of a shipped pipeline, or the options --resize, --crop, --watermark, --format, --quality and \
            --metadata. A search passes over files that are no pictures; a file that is named must be one. A second run skips unchanged \
            sources; --why FILE shows why a source is processed or skipped. Files that Imagemill did not write are never overwritten, unless \
            told so.
            """)

    @Argument(
        help: ArgumentHelp(
            "The pipeline, and pictures or folders, which are searched recursively. A picture - is read from standard input.",
            valueName: "pipeline-and-sources"),
        completion: .file())
    var inputs: [String] = []

    @Option(
        name: [.customShort("o"), .long],
        help: "The folder for the renditions, made if it is missing. - writes a single rendition to standard output.",
        completion: .directory)
    var output: String?

    @OptionGroup(title: "Instead of a pipeline file")
    var quick: QuickOptions

    @OptionGroup(title: "Sources")
    var search: SearchOptions

    @Option(help: "Does one task of this plan, which `imagemill shard` has made, instead of a pipeline and sources.")
    var plan: String?

    @Option(name: .customLong("task"), help: "The number of the task. Default: what Slurm, Kubernetes or AWS Batch set in the environment.")
    var taskNumber: Int?

    @Option(help: "Worker processes, 1 to 1024. Default: one for each core.")
    var jobs: Int?

    @Option(help: "The file for the report: JSON, or a page for a browser if it ends with .html. Default: report.json in the folder of --state.")
    var report: String?

    @Option(help: "A file for metrics in Prometheus' text format, for the textfile collector of node exporter.", completion: .file())
    var metrics: String?

    @Option(
        help: "The folder for what the next run needs to know of this output folder, and for the report. Default: .imagemill in the output folder.")
    var state: String?

    @Flag(help: "Prints the report on standard output.")
    var json = false

    @Flag(help: "Prints a line of JSON on standard output for each source when it is finished, and one for the summary.")
    var jsonLines = false

    @Flag(name: [.customShort("n"), .long], help: "Lists what would be written, and writes nothing.")
    var dryRun = false

    @Flag(help: "Removes renditions whose source is gone, or that the pipeline makes no more. With --dry-run they are listed.")
    var prune = false

    @Option(help: "If a name belongs to another source: version (a-2.webp), fail, or overwrite.")
    var collision = CollisionPolicy.version

    @Flag(help: "Processes all sources, even unchanged ones.")
    var force = false

    @Option(help: "Shows why this source would be processed or skipped, and runs nothing.")
    var why: String?

    @Flag(help: "Puts renditions into the same sub-folders as their sources.")
    var keepTree = false

    @Option(help: "A folder that keeps renditions, so that no run makes the same one twice. Several runs may share it.")
    var cache: String?

    @Option(help: "The most bytes that the cache may take, such as 10G. Default: 1G.")
    var cacheSize: ByteCount?

    @Flag(name: [.customShort("v"), .long], help: "Lists what is written, warnings, and what is passed over.")
    var verbose = false

    @Flag(help: "Shows no line of progress on a terminal.")
    var noProgress = false

    @Flag(name: [.customShort("q"), .long], help: "Prints failures only.")
    var quiet = false

    @OptionGroup
    var color: ColorOption

    @OptionGroup(title: "Limits")
    var limitOptions: LimitOptions

    func validate() throws {
        guard jobs.map({ (1...1024).contains($0) }) ?? true else { throw ValidationError("--jobs takes 1 to 1024") }
        guard cacheSize == nil || cache != nil else { throw ValidationError("--cache-size needs --cache DIR") }
        guard !json || !jsonLines else { throw ValidationError("--json and --json-lines exclude each other") }
        guard !verbose || !quiet else { throw ValidationError("--verbose and --quiet exclude each other") }
        guard let plan else { return try validateWithoutPlan() }
        guard inputs.isEmpty, !quick.isAny else { throw ValidationError("--plan takes no pipeline and no sources: they are in '\(plan)'") }
        guard output != nil else { throw Self.outputMissing }
        let isOther =
            report != nil || state != nil || json || jsonLines || dryRun || force || why != nil || keepTree || cache != nil || collision != .version
            || verbose || prune || !search.isEmpty || quick.printPipeline || output == "-"
        let takes = "-o, --task, --jobs, --max-memory, --metrics, --quiet and --no-progress"
        guard !isOther, !limitOptions.hasSourceLimits else { throw ValidationError("--plan takes \(takes); everything else is in the plan") }
    }

    private static let outputMissing = ValidationError("name the folder for the renditions with -o DIR (--output)")
    private static let outputEmpty = ValidationError("-o has an empty name; name the folder for the renditions")

    private func validateWithoutPlan() throws {
        guard taskNumber == nil else { throw ValidationError("--task needs --plan") }
        guard output != "" else { throw Self.outputEmpty }
        if quick.printPipeline { return }
        let sources: [String]
        if quick.isAny {
            if let file = inputs.first(where: { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }) {
                throw ValidationError("options such as --resize replace the pipeline file; leave out '\(file)' or the options")
            }
            sources = inputs
        } else {
            guard !inputs.isEmpty || search.filesFrom != nil else {
                throw ValidationError("name a pipeline and the sources, such as: imagemill run web-photos photos/ -o out/")
            }
            sources = try PipelineArgument(among: inputs).others
        }
        guard !sources.isEmpty || search.filesFrom != nil else { throw ValidationError("name the sources: pictures, or folders of pictures") }
        guard output != nil else { throw Self.outputMissing }
        let isRecorded = json || jsonLines || prune || dryRun || why != nil || keepTree || state != nil
        guard output != "-" || !isRecorded else {
            throw ValidationError("-o - takes none of --json, --json-lines, --prune, --dry-run, --why, --keep-tree and --state")
        }
        guard output != "-" || isatty(1) == 0 else { throw ValidationError("-o - writes a picture; send standard output to a file or a program") }
        guard sources.count(where: { $0 == "-" }) + (search.filesFrom == "-" ? 1 : 0) <= 1 else {
            throw ValidationError("standard input can be read once only: name '-' once")
        }
    }

    /// The task of a plan; nil if there is no plan.
    var planned: PlannedTask? {
        plan.map { plan in
            PlannedTask(
                planPath: plan, task: taskNumber, output: output ?? "", jobs: jobs, memory: limitOptions.maxMemory, isQuiet: quiet,
                metrics: metrics.map { RawArguments.paths([$0])[0] }, showsProgress: !noProgress && !quiet && isatty(2) == 1)
        }
    }

    /// What is known before any worker is started.
    struct Preparation {
        let start: ContinuousClock.Instant
        let pipeline: LoadedPipeline
        /// The sources as the user named them.
        let roots: [BytePath]
        let found: FoundSources
        let setup: RunSetup
        let work: WorkList
        let outbox: OutboxLocation
        /// For standard input and output; nil if they are not used.
        let streams: StreamFolder?
        /// Nil if nothing is written.
        let lock: OutboxLock?
    }

    func prepare() throws -> Preparation {
        let start = ContinuousClock.now
        if quick.printPipeline { try printPipeline() }
        try refuseTooFewDescriptors(workers: 1, renditions: 1)
        let (pipeline, inputs) = try loadedPipeline()
        try refuseSeveralToStandardOutput(pipeline)
        do {
            let streams = inputs.contains("-") || output == "-" || (dryRun && isPage) ? try StreamFolder() : nil
            var roots = try RawArguments.paths(inputs.filter { $0 != "-" }) + search.listed()
            let folder = RawArguments.paths([output ?? ""])[0]
            let outbox = OutboxLocation(isToStandardOutput ? streams?.output ?? folder : folder, state: state.map { RawArguments.paths([$0])[0] })
            try refuseFile(outbox.path)
            try refuseSameFolder(roots, outbox.path)
            let input = try inputs.contains("-") ? streams?.takeInput(limit: limitOptions.limits.maximumSourceBytes + 1) : nil
            if let input { roots.append(input) }
            let found = find(roots, outbox, standardInput: input, pipeline)
            try refuseOverSource(report, "report", "--report", found)
            try refuseOverSource(metrics, "metrics", "--metrics", found)
            let writes = !dryRun && why == nil
            // The specification of thumbnails wants the folder to be the user's alone.
            if writes && pipeline.file.makesThumbnails { try FileSystem.makeDirectories(outbox.path, mode: 0o700) }
            let lock = writes ? try OutboxLock(outbox) : nil
            if let note = lock?.note { printError("note: \(note)") }
            let setup = RunSetup(pipeline, keepsTree: keepTree, policy: collision)
            var work = force || why != nil ? WorkList(toDo: found.sources) : WorkList(found.sources, setup, outbox: outbox, isDryRun: dryRun)
            work.passedOver = found.passedOver.count
            let preparation = Preparation(
                start: start, pipeline: pipeline, roots: roots, found: found, setup: setup, work: work, outbox: outbox, streams: streams, lock: lock)
            try refuseTooFewDescriptors(workers: workerCount(for: preparation), renditions: pipeline.file.renditions.count)
            return preparation
        } catch let exit as ExitCode {
            throw exit
        } catch {
            throw ExitStatus.explaining(error, pipeline: pipeline.file.name)
        }
    }

    private func printPipeline() throws {
        _ = try quick.pipeline()
        printOutput("# Save this as my.yaml and run it: imagemill run my.yaml photos/ -o out/\n" + quick.text)
        throw ExitCode.success
    }

    private var isToStandardOutput: Bool { output == "-" }

    private func refuseSeveralToStandardOutput(_ pipeline: LoadedPipeline) throws {
        let count = pipeline.file.renditions.reduce(0) { $0 + $1.scales.count }
        guard isToStandardOutput, count > 1 else { return }
        printError("imagemill: this pipeline makes \(count) renditions of a picture; only one can go to standard output (-o -)")
        throw ExitStatus.usage
    }

    private func find(_ roots: [BytePath], _ outbox: OutboxLocation, standardInput: BytePath?, _ pipeline: LoadedPipeline) -> FoundSources {
        let cache = cache.map { RawArguments.paths([$0])[0] }
        let rules = WalkRules(
            outbox: outbox.path, cache: cache, kind: pipeline.file.source, filter: search.filter, allowed: limitOptions.limits.allowed)
        var found = SourceWalk.find(roots, rules)
        if let standardInput {
            found.sources = found.sources.map { $0.typed == standardInput ? $0.shown(as: "standard input") : $0 }
        }
        if !quiet { found.notes.forEach { printError("note: \($0)") } }
        if verbose { found.passedOver.forEach { printError("passed over: \($0.printable)") } }
        return found
    }

    /// The pipeline, and the sources that were named.
    private func loadedPipeline() throws -> (LoadedPipeline, [String]) {
        if quick.isAny { return (try quick.pipeline(), inputs) }
        let argument = try PipelineArgument(among: inputs)
        try PipelineArgument.refuseMistyped(argument.path)
        do {
            return (try LoadedPipeline(path: argument.path), argument.others)
        } catch {
            throw ExitStatus.explaining(error, reading: argument.path)
        }
    }

    func workerCount(for preparation: Preparation) -> Int {
        why == nil ? min(jobs ?? Machine.cores, preparation.work.toDo.count) : 0
    }

    func run(_ preparation: Preparation, _ workers: WorkerPool) async throws {
        if let why { return try Explanation(preparation, isForced: force).print(RawArguments.paths([why])[0]) }
        let cancellation = Cancellation()
        let isSilent = quiet || isToStandardOutput
        let progress = Progress(
            showsLine: !noProgress && !isSilent && isatty(2) == 1, listingIn: verbose && !dryRun ? preparation.outbox.path : nil)
        // Until everything is written and said.
        defer { withExtendedLifetime(preparation.lock) {} }
        let counted = metrics.map { runMetrics(preparation, progress, writing: RawArguments.paths([$0])[0]) }
        do {
            try SignalWatcher.watch(cancellation)
            let record = try OutboxRecord(preparation.outbox, isDryRun: dryRun)
            defer { record.close() }
            let observer = counted ?? observer(preparation, progress)
            let made = prune ? MadeNames(observer) : nil
            let prepared = try batch(preparation, record, workers, cancellation, made ?? observer)
            let summary = try await prepared.run(since: preparation.start)
            let removed = try summary.interrupted ? 0 : made.map { try removeStale(preparation, record, $0) } ?? 0
            if isToStandardOutput { try preparation.streams?.giveOutput() }
            try writePage(preparation)
            try counted?.write(skipped: summary.unchanged, passedOver: summary.passedOver, isComplete: !summary.interrupted)
            try conclude(summary, removed: removed, preparation.outbox, progress, cancellation)
        } catch let exit as ExitCode {
            throw exit
        } catch {
            throw ExitStatus.explaining(error, pipeline: preparation.pipeline.file.name)
        }
    }

    private func refuseFile(_ outbox: BytePath) throws {
        guard let found = try? FileSystem.status(outbox), found.kind != .directory else { return }
        printError("imagemill: the output folder '\(outbox.printable)' is a file; name a folder for the renditions (-o)")
        throw ExitStatus.usage
    }

    private func refuseSameFolder(_ roots: [BytePath], _ outbox: BytePath) throws {
        guard let absolute = FileSystem.absolute(outbox) else { return }
        for root in roots where FileSystem.absolute(root) == absolute {
            printError("imagemill: '\(root.printable)' is the output folder too; choose another folder for the renditions (-o)")
            throw ExitStatus.usage
        }
    }

    private func refuseOverSource(_ file: String?, _ what: String, _ option: String, _ found: FoundSources) throws {
        guard let file else { return }
        let path = RawArguments.paths([file])[0]
        guard let absolute = FileSystem.absolute(path), found.sources.contains(where: { $0.identity == absolute }) else { return }
        printError("imagemill: the \(what) would be written over the source '\(path.printable)'; choose another file (\(option))")
        throw ExitStatus.usage
    }

    private func batch(
        _ preparation: Preparation, _ record: OutboxRecord, _ workers: WorkerPool, _ cancellation: Cancellation, _ observer: any BatchObserver
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
        let document = try BatchReport(
            file: documentPath(preparation), mayBeStream: report != nil && !isPage, stream: json || jsonLines ? 1 : nil,
            form: jsonLines ? .lines : .document)
        return BatchRun(
            preparation.work, settings, report: document, observer: observer, results: dryRun ? nil : ResultRecord(record, preparation.setup))
    }

    private func runMetrics(_ preparation: Preparation, _ progress: Progress, writing path: BytePath) -> RunMetrics {
        RunMetrics(observer(preparation, progress), writing: path, labels: [("pipeline", preparation.pipeline.file.name)])
    }

    private func observer(_ preparation: Preparation, _ progress: Progress) -> any BatchObserver {
        dryRun && !json && !jsonLines ? DryRunListing(progress: progress, outbox: preparation.outbox.path) : progress
    }

    /// - Returns: how many renditions were removed.
    private func removeStale(_ preparation: Preparation, _ record: OutboxRecord, _ made: MadeNames) throws -> Int {
        let pruning = Pruning(
            record, roots: preparation.roots, found: preparation.found.sources, unchanged: preparation.work.unchanged, made: made)
        let stale = try pruning.stale()
        if dryRun {
            guard !json && !jsonLines else { return 0 }
            printOutput(stale.map { "would remove \(preparation.outbox.path.appending($0).printable)\n" }.joined())
            return 0
        }
        if verbose { stale.forEach { printError("removed \(preparation.outbox.path.appending($0).printable)") } }
        if !stale.isEmpty { try pruning.remove(stale) }
        return stale.count
    }

    private var sharedCache: SharedCache? {
        guard let cache, !dryRun else { return nil }
        return SharedCache(folder: RawArguments.paths([cache])[0], bound: cacheSize?.value ?? SharedCache.usualBound) { printError("note: \($0)") }
    }

    /// The report is a page for a browser.
    private var isPage: Bool { report.map(ReportPageFile.isPage) ?? false }

    /// Where the JSON goes, of which a page is made too.
    private func documentPath(_ preparation: Preparation) -> BytePath? {
        guard isPage else { return reportPath(preparation.outbox) }
        return dryRun ? preparation.streams?.report : preparation.outbox.report
    }

    private func writePage(_ preparation: Preparation) throws {
        guard isPage, let page = reportPath(preparation.outbox), let document = documentPath(preparation) else { return }
        try ReportPageFile(page, renditionsIn: isToStandardOutput ? nil : preparation.outbox.path).write(reportIn: document)
    }

    private func reportPath(_ outbox: OutboxLocation) -> BytePath? {
        if let report { return RawArguments.paths([report])[0] }
        return dryRun ? nil : outbox.report
    }

    private func conclude(_ summary: BatchSummary, removed: Int, _ outbox: OutboxLocation, _ progress: Progress, _ cancellation: Cancellation) throws
    {
        if !quiet && !isToStandardOutput {
            let report = reportPath(outbox)
            let words = RunSummary(
                summary: summary, isDryRun: dryRun, report: report, warnings: progress.warnings, isVerbose: verbose)
            words.lines.forEach(printError)
            if removed > 0 { printError("\(counted(removed, "rendition")) removed that nothing makes any more") }
        }
        if let signal = cancellation.cause { throw ExitStatus.stopped(by: signal) }
        guard summary.failed > 0 else { return }
        if progress.environmentFailures == summary.failed { throw ExitStatus.tryAgain }
        throw summary.failed == summary.sources ? ExitStatus.allFailed : ExitStatus.someFailed
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

/// Lists what would be written, in the order of the sources.
private final class DryRunListing: BatchObserver {
    private let progress: Progress
    private let outbox: BytePath
    private let lines = Mutex<[(path: BytePath, text: String)]>([])

    init(progress: Progress, outbox: BytePath) {
        self.progress = progress
        self.outbox = outbox
    }

    func begin(sources: Int) { progress.begin(sources: sources) }

    func end() {
        progress.end()
        let sorted = lines.withLock { $0.sorted { $0.path.precedes($1.path) } }
        printOutput(sorted.map(\.text).joined())
    }

    func finished(_ report: SourceReport, _ summary: BatchSummary) {
        progress.finished(report, summary)
        guard report.error == nil else { return }
        let text = report.renditions.map { renditionLine(report, $0, in: outbox) + "\n" }.joined()
        lines.withLock { $0.append((report.source.path, text)) }
    }
}
