import ArgumentParser
import Engine
import Glibc
import Pipeline
import Synchronization
import System

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

    @Option(
        name: .customLong("task"),
        help: "The number of the task. Default: what Slurm, Kubernetes or AWS Batch set in the environment.")
    var taskNumber: Int?

    @Option(help: "Worker processes, 1 to 1024. Default: one for each core.")
    var jobs: Int?

    @Option(
        help:
            "The file for the report: JSON, or a page for a browser if it ends with .html. Default: report.json in the folder of --state."
    )
    var report: String?

    @Option(
        help:
            "A file that lists the renditions in the output folder by source, format and width: JSON, or a page of `<picture>` elements if it ends with .html.",
        completion: .file())
    var manifest: String?

    @Option(
        help: "A file for metrics in Prometheus' text format, for the textfile collector of node exporter.",
        completion: .file())
    var metrics: String?

    @Option(
        help:
            "The folder for what the next run needs to know of this output folder, and for the report. Default: .imagemill in the output folder."
    )
    var state: String?

    @Flag(help: "Prints the report on standard output.")
    var json = false

    @Flag(
        help: "Prints a line of JSON on standard output for each source when it is finished, and one for the summary.")
    var jsonLines = false

    @Flag(name: [.customShort("n"), .long], help: "Lists what would be written, and writes nothing.")
    var dryRun = false

    @Flag(
        help:
            "Removes renditions whose source is gone, or that the pipeline makes no more. With --dry-run they are listed."
    )
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

    @Option(help: "The most bytes that the cache may take, such as 10G. Default: 1G.", transform: readOption)
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

    /// The task of a plan; nil if there is no plan.
    var planned: PlannedTask? {
        plan.map { plan in
            PlannedTask(
                planPath: plan, task: taskNumber, output: output ?? "", jobs: jobs, memory: limitOptions.maxMemory,
                isQuiet: quiet,
                metrics: metrics.map { RawArguments.paths([$0])[0] },
                showsProgress: !noProgress && !quiet && isatty(2) == 1)
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
            showsLine: !noProgress && !isSilent && isatty(2) == 1,
            listingIn: verbose && !dryRun ? preparation.outbox.path : nil)
        // Until everything is written and said.
        defer { withExtendedLifetime(preparation.lock) {} }
        let counted = metrics.map { runMetrics(preparation, progress, writing: RawArguments.paths([$0])[0]) }
        do {
            try SignalWatcher.watch(cancellation)
            let render = renderSettings(preparation, cancellation)
            // Workers need no names yet.
            async let ready: Void = workers.prepare(render)
            let record = try OutboxRecord(preparation.outbox, isDryRun: dryRun)
            defer { record.close() }
            let observer = counted ?? observer(preparation, progress)
            let areNamesKnown = !dryRun || !preparation.pipeline.file.namesByContents
            let made = prune ? MadeNames(observer, areKnown: areNamesKnown) : nil
            let prepared = try batch(preparation, render, record: record, workers: workers, observer: made ?? observer)
            await ready
            let start = preparation.start
            var outcome = try await onNewThread { try prepared.run(since: start) }
            let summary = outcome.summary
            let isComplete = !summary.interrupted && outcome.obstacle == nil
            let removed = try isComplete ? made.map { try removeStale(preparation, record: record, made: $0) } ?? 0 : 0
            let hasOutput = try isToStandardOutput ? preparation.streams?.giveOutput() ?? true : true
            if outcome.isReported { outcome.finishing { try writePage(preparation) } }
            if let manifest = manifestPath {
                outcome.finishing {
                    try ManifestFile(manifest, outbox: preparation.outbox.path).write(Manifest(record))
                }
            }
            outcome.finishing {
                try counted?.write(skipped: summary.unchanged, passedOver: summary.passedOver, isComplete: isComplete)
            }
            try conclude(
                outcome, removed: removed, preparation, progress: progress, cancellation: cancellation)
            if !hasOutput, !dryRun {
                printError("nothing was written: the rendition's 'when' does not hold; `imagemill plan` says why")
                throw ExitStatus.someFailed
            }
        } catch let exit as ExitCode {
            throw exit
        } catch {
            throw ExitStatus.explaining(error, pipeline: preparation.pipeline.file.name)
        }
    }

    private func renderSettings(_ preparation: Preparation, _ cancellation: Cancellation) -> RenderSettings {
        let limits = limitOptions.limits
        var render = RenderSettings(
            pipeline: preparation.pipeline, limits: limits, policy: limitOptions.source.policy ?? WarningPolicy(),
            outbox: Outbox(path: preparation.outbox.path, of: .run, writer: Outbox.runWriter),
            keepsTree: keepTree,
            overwrites: collision == .overwrite, memory: MemoryBudget(bytes: limits.maximumMemory),
            cancellation: cancellation)
        render.isDryRun = dryRun
        render.likelyFormats = preparation.work.toDo.likelyFormats
        render.reportsContents = manifest != nil
        render.cache = sharedCache.map { PipelineCache($0, preparation.pipeline) }
        return render
    }

    private func batch(
        _ preparation: Preparation, _ render: RenderSettings, record: OutboxRecord, workers: WorkerPool,
        observer: any BatchObserver
    ) throws -> BatchRun {
        let (location, outbox) = (preparation.outbox, render.outbox)
        // A source may be the rendition of another one that is gone; its name is not free for that.
        let sources = Set(preparation.found.sources.map(\.identity))
        let allocator = NameAllocator(
            store: record, outbox: BytePath([]), folder: outbox, policy: collision, isGone: { location.isGone($0) },
            isSource: { sources.contains(location.realPath.appending($0)) })
        var settings = BatchSettings(
            render, workers: workers, lanes: jobs ?? Machine.cores, allocator: allocator,
            publisher: Publisher(outbox: outbox, names: record, durability: .remoteContent), outbox: location)
        settings.isDurable = !dryRun && !isToStandardOutput
        let document = try BatchReport(
            file: documentPath(preparation), mayBeStream: report != nil && !isPage, stream: json || jsonLines ? 1 : nil,
            form: jsonLines ? .lines : .document)
        return BatchRun(
            preparation.work, settings, report: document, observer: observer,
            results: dryRun ? nil : ResultRecord(record, preparation.setup))
    }

    private func runMetrics(_ preparation: Preparation, _ progress: Progress, writing path: BytePath) -> RunMetrics {
        RunMetrics(
            observer(preparation, progress), writing: path, labels: [("pipeline", preparation.pipeline.file.name)])
    }

    private func observer(_ preparation: Preparation, _ progress: Progress) -> any BatchObserver {
        dryRun && !json && !jsonLines
            ? DryRunListing(progress: progress, outbox: preparation.outbox.path)
            : progress
    }

    private var sharedCache: SharedCache? {
        guard let cache, !dryRun else { return nil }
        return SharedCache(folder: RawArguments.paths([cache])[0], bound: cacheSize?.value ?? SharedCache.usualBound) {
            printError("note: \($0)")
        }
    }
}
