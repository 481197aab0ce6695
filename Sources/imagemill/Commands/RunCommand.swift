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

            A second run skips sources that nothing has changed about; --why FILE says why a source is done or skipped. What Imagemill did \
            not write is never overwritten, unless told so.
            """)

    @Argument(help: "The pipeline file.")
    var pipeline: String

    @Argument(help: "Pictures, or folders of pictures, which are walked to their depth.")
    var sources: [String]

    @Option(name: [.customShort("o"), .long], help: "The folder for the renditions; made where it is missing.")
    var output: String

    @Option(help: "Worker processes. Default: one for each core.")
    var jobs: Int?

    @Option(help: "Where the report goes. Default: .imagemill/report.json in the output folder.")
    var report: String?

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
    }

    /// What is known before any worker is started.
    struct Preparation {
        let start: ContinuousClock.Instant
        let pipeline: LoadedPipeline
        let found: FoundSources
        let setup: RunSetup
        let work: WorkList
        let outbox: BytePath
    }

    func prepare() throws -> Preparation {
        let start = ContinuousClock.now
        let roots = RawArguments.paths(sources)
        let outbox = RawArguments.paths([output])[0]
        try refuseSameFolder(roots, outbox)
        do {
            let pipeline = try LoadedPipeline(path: pipeline)
            let found = SourceWalk.find(roots, outbox: outbox, cache: cache.map { RawArguments.paths([$0])[0] }, kind: pipeline.file.source)
            if !quiet { found.notes.forEach { printError("note: \($0)") } }
            try refuseReportOverSource(found)
            let setup = RunSetup(pipeline, keepsTree: keepTree, policy: collision)
            let work = force || why != nil ? WorkList(toDo: found.sources) : WorkList(found.sources, setup, outbox: outbox, isDryRun: dryRun)
            return Preparation(start: start, pipeline: pipeline, found: found, setup: setup, work: work, outbox: outbox)
        } catch let exit as ExitCode {
            throw exit
        } catch {
            throw ExitStatus.explaining(error, pipeline: pipeline)
        }
    }

    func workerCount(for preparation: Preparation) -> Int {
        why == nil ? min(jobs ?? Machine.cores, preparation.work.toDo.count) : 0
    }

    func run(_ preparation: Preparation, _ workers: WorkerStarter) async throws {
        if let why { return try Explanation(preparation, isForced: force).print(RawArguments.paths([why])[0]) }
        let cancellation = Cancellation()
        let progress = Progress(showsLine: !noProgress && !quiet && isatty(2) == 1)
        do {
            try SignalWatcher.watch(cancellation)
            let prepared: Batch = try outboxTrouble { try batch(preparation, workers, cancellation, progress) }
            let summary = try await prepared.run(preparation.work, since: preparation.start)
            try conclude(summary, progress, cancellation)
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
        _ preparation: Preparation, _ workers: WorkerStarter, _ cancellation: Cancellation, _ progress: Progress
    ) throws -> Batch {
        let limits = limitOptions.limits
        let outbox = preparation.outbox
        let desk = try NameDesk(outbox: outbox, policy: collision, sources: preparation.found.sources, isDryRun: dryRun)
        var settings = RenderSettings(
            pipeline: preparation.pipeline, limits: limits, outbox: outbox, keepsTree: keepTree, memory: MemoryBudget(bytes: limits.maximumMemory),
            cancellation: cancellation)
        settings.isDryRun = dryRun
        settings.cache = dryRun ? nil : openedCache(preparation)
        let document = try BatchReport(file: reportPath(outbox), stream: json ? 1 : nil)
        let observer: any BatchObserver = dryRun && !json ? DryRunListing(progress: progress) : progress
        return Batch(
            settings: LaneSettings(settings, workers: workers, names: desk), lanes: jobs ?? Machine.cores, report: document, observer: observer,
            results: dryRun ? nil : desk.results(of: preparation.setup))
    }

    /// The cache; nil where there is none, or none that can be used: that fails no source.
    private func openedCache(_ preparation: Preparation) -> RunCache? {
        guard let cache, !preparation.work.toDo.isEmpty else { return nil }
        do {
            let store = try CacheStore(folder: RawArguments.paths([cache])[0], bound: cacheSize?.value ?? 1 << 30)
            return RunCache(store, preparation.pipeline) { printError("note: \($0)") }
        } catch {
            printError("note: \(error); the run goes on without it")
            return nil
        }
    }

    /// Trouble with the output folder may pass, unlike a mistake in a file.
    private func outboxTrouble<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let error as SystemError where [ENOSPC, EDQUOT, EACCES, EPERM, EROFS, EIO].contains(error.code) {
            printError("imagemill: \(error)")
            throw ExitStatus.tryAgain
        }
    }

    private func reportPath(_ outbox: BytePath) -> BytePath? {
        if let report { return RawArguments.paths([report])[0] }
        return dryRun ? nil : outbox.appending(BytePath(".imagemill/report.json"))
    }

    private func conclude(_ summary: BatchSummary, _ progress: Progress, _ cancellation: Cancellation) throws {
        if !quiet { printError(sentence(summary)) }
        if let signal = cancellation.cause { throw ExitStatus.stopped(by: signal) }
        guard summary.failed > 0 else { return }
        if progress.environmentFailures == summary.failed { throw ExitStatus.tryAgain }
        throw summary.failed == summary.sources ? ExitStatus.allFailed : ExitStatus.someFailed
    }

    private func sentence(_ summary: BatchSummary) -> String {
        if summary.sources == 0 { return "nothing to do: no files were found" }
        let time = "\(oneDecimal(Double(summary.milliseconds) / 1000)) s"
        let unchanged = summary.unchanged > 0 ? ", \(summary.unchanged) unchanged" : ""
        if dryRun { return "\(summary.planned) of \(summary.sources) sources can be rendered\(unchanged); nothing was written" }
        let path = reportPath(RawArguments.paths([output])[0])?.printable ?? ""
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
