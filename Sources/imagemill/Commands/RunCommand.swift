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

            A second run over the same sources replaces its own results. What Imagemill did not write is never overwritten, unless told so.
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

    @Flag(help: "Puts renditions into the same sub-folders as their sources.")
    var keepTree = false

    @Flag(help: "Shows no line of progress on a terminal.")
    var noProgress = false

    @Flag(name: [.customShort("q"), .long], help: "Prints failures only.")
    var quiet = false

    @OptionGroup(title: "Limits")
    var limitOptions: LimitOptions

    func validate() throws {
        guard jobs.map({ (1...1024).contains($0) }) ?? true else { throw ValidationError("--jobs takes 1 to 1024") }
    }

    var workerCount: Int { jobs ?? Machine.cores }

    func run(_ workers: WorkerStarter) async throws {
        let cancellation = Cancellation()
        let roots = RawArguments.paths(sources)
        let outbox = RawArguments.paths([output])[0]
        try refuseSameFolder(roots, outbox)
        let progress = Progress(showsLine: !noProgress && !quiet && isatty(2) == 1)
        do {
            try SignalWatcher.watch(cancellation)
            let loaded = try LoadedPipeline(path: pipeline)
            let found = SourceWalk.find(roots, outbox: outbox, kind: loaded.file.source)
            if !quiet { found.notes.forEach { printError("note: \($0)") } }
            try refuseReportOverSource(found)
            let prepared: Batch = try outboxTrouble { try batch(loaded, found, outbox, workers, cancellation, progress) }
            let summary = try await prepared.run(found.sources)
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
        _ loaded: LoadedPipeline, _ found: FoundSources, _ outbox: BytePath, _ workers: WorkerStarter, _ cancellation: Cancellation,
        _ progress: Progress
    ) throws -> Batch {
        let limits = limitOptions.limits
        let desk = try NameDesk(outbox: outbox, policy: collision, sources: found.sources, isDryRun: dryRun)
        let settings = LaneSettings(
            pipeline: loaded, limits: limits, outbox: outbox, keepsTree: keepTree, isDryRun: dryRun, workers: workers, names: desk,
            memory: MemoryBudget(bytes: limits.maximumMemory), cancellation: cancellation)
        let document = try BatchReport(file: reportPath(outbox), stream: json ? 1 : nil)
        let observer: any BatchObserver = dryRun && !json ? DryRunListing(progress: progress) : progress
        return Batch(settings: settings, lanes: workerCount, report: document, observer: observer)
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
        let rate = Double(summary.done + summary.failed) * 1000 / Double(max(1, summary.milliseconds))
        let time = "\(oneDecimal(Double(summary.milliseconds) / 1000)) s"
        if dryRun { return "\(summary.skipped) of \(summary.sources) sources can be rendered; nothing was written" }
        let head = summary.interrupted ? "stopped: " : ""
        let failed = summary.failed > 0 ? ", \(summary.failed) failed" : ""
        let counts = "\(summary.done) of \(summary.sources) sources done\(failed), \(summary.renditions) renditions"
        let path = reportPath(RawArguments.paths([output])[0])?.printable ?? ""
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
