import ArgumentParser
import Engine
import Glibc
import Pipeline
import Synchronization
import System

/// `imagemill shard`: the plan of a batch for a cluster.
struct ShardCommand: RenderingCommand {
    static let configuration = CommandConfiguration(
        commandName: "shard",
        abstract: "Plans a large batch in shards, for the tasks of a cluster.",
        discussion: """
            Example: imagemill shard photos/ --pipeline web-photos -o plan
                     sbatch --array=0-999 imagemill.sbatch      (which runs: imagemill run --plan plan -o out)
                     imagemill gather plan -o out

            Walks the sources once, and writes down which of them belong to which shard. The plan never changes: tasks read it on all machines. \
            See docs/clusters.md.
            """)

    @OptionGroup
    var search: SearchOptions

    @Argument(
        help: "Pictures, folders, which are searched recursively, and tars, whose pictures are read where they are.")
    var sources: [String] = []

    @Option(help: "The pipeline: a file, or the name of a shipped pipeline.", completion: .file())
    var pipeline: String

    @Option(name: [.customShort("o"), .long], help: "The folder for the plan; made if it is missing.")
    var output: String

    @Option(help: "Sources in a shard. A shard should take minutes.")
    var perShard = 5000

    @Option(help: "Most tasks: the length of the job array. Each task does every so many-th shard.")
    var tasks = 1000

    @Flag(help: "Puts renditions into the same sub-folders as their sources. A folder's sources are then in one shard.")
    var keepTree = false

    @Option(
        help:
            "How a shard's renditions are packed: tar puts them into one file, OUT/000017.tar, with their report at the end."
    )
    var pack: Packing?

    enum Packing: String, CaseIterable, ExpressibleByArgument { case tar }

    @Flag(help: "Shows no line of progress on a terminal.")
    var noProgress = false

    @Flag(name: [.customShort("q"), .long], help: "Prints nothing but mistakes.")
    var quiet = false

    @OptionGroup(title: "Limits")
    var limitOptions: SourceLimitOptions

    func validate() throws {
        guard !sources.isEmpty || search.filesFrom != nil else {
            throw ValidationError("name folders or pictures, or a list of them with --files-from")
        }
        guard (1...1_000_000).contains(perShard) else { throw ValidationError("--per-shard takes 1 to 1000000") }
        guard (1...1_000_000).contains(tasks) else { throw ValidationError("--tasks takes 1 to 1000000") }
    }

    func prepare() throws -> LoadedPipeline {
        let file = PipelineArgument.file(pipeline)
        try PipelineArgument.refuseMistyped(file)
        do {
            return try LoadedPipeline(path: file, given: limitOptions.parameters.given)
        } catch {
            throw ExitStatus.explaining(error, reading: file)
        }
    }

    /// To see whether the assets can be decoded.
    func workerCount(for preparation: LoadedPipeline) -> Int { 1 }

    func run(_ pipeline: LoadedPipeline, _ workers: WorkerPool) async throws {
        let cancellation = Cancellation()
        do {
            try SignalWatcher.watch(cancellation)
            try refusePlanAmongSources()
            try refuseFolders(pipeline)
            let request = PlanRequest(
                pipeline: pipeline, sources: RawArguments.paths(sources),
                list: try search.list(), filter: search.filter, folder: RawArguments.paths([output])[0],
                perShard: perShard,
                mostTasks: tasks, keepsTree: keepTree, packs: pack == .tar, limits: limitOptions.limits,
                policy: limitOptions.policy ?? WarningPolicy())
            let settings = RenderSettings.looking(pipeline, limits: limitOptions.limits)
            let line = PlanProgress(showsLine: !noProgress && !quiet && isatty(2) == 1, isQuiet: quiet)
            let (plan, passedOver, unused) = try await onNewThread { [request = Sent(request)] in
                try WorkerLoan(workers, cancellation: settings.cancellation).prepare(settings)
                let planner = try ShardPlanner(
                    request.value, cancellation: cancellation, progress: line.show, note: line.note)
                return (try planner.plan(), planner.passedOver, planner.exclusions.unused)
            }
            line.end()
            if !quiet { SearchOptions.warn(ofUnused: unused, below: RawArguments.paths(sources)) }
            if !quiet { printError(sentence(plan, passedOver)) }
        } catch let refusal as PlanRefusal {
            printError("imagemill: \(refusal)")
            throw ExitStatus.usage
        } catch let exit as ExitCode {
            throw exit
        } catch {
            if let signal = cancellation.cause { throw ExitStatus.stopped(by: signal) }
            throw ExitStatus.explaining(error, pipeline: self.pipeline)
        }
    }

    private func refuseFolders(_ pipeline: LoadedPipeline) throws {
        guard let rendition = pipeline.file.renditions.first(where: { $0.save.encoding.isFolder }) else { return }
        throw PlanRefusal(
            "'\(rendition.name)' is a folder, and a shard has files only; add 'container: zip' to its 'save'")
    }

    private func refusePlanAmongSources() throws {
        guard let folder = FileSystem.absolute(RawArguments.paths([output])[0]) else { return }
        for source in RawArguments.paths(sources) where FileSystem.absolute(source) == folder {
            throw PlanRefusal(
                "'\(source.printable)' is the folder of the plan too; choose another folder for the plan (-o)")
        }
    }

    private func sentence(_ plan: ShardPlan, _ passedOver: [NoPicture: Int]) -> String {
        let array = plan.tasks == 1 ? "0" : "0-\(plan.tasks - 1)"
        let place =
            switch plan.layout {
            case .tree: "renditions go into the same sub-folders as their sources"
            case .hash: "renditions go into one folder, named by their digests"
            case .tar: "renditions go into a tar for each shard"
            case .folders: "renditions go into a folder for each shard"
            }
        let amounts =
            "\(counted(plan.sources, "source")) in \(counted(plan.shards, "shard")) and \(counted(plan.tasks, "task"))"
        return "\(amounts), --array=\(array); \(place)" + passedOverClause(passedOver)
    }
}

/// A value on its way from the thread that made it to another one. Unchecked: the first thread never touches it again.
private struct Sent<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// The display of a walk while it goes.
private final class PlanProgress: Sendable {
    private struct State {
        var last = SuspendingClock.now
        var isShown = false
        var notes = 0
    }

    /// Only a terminal that can go back shows it.
    private let showsLine: Bool
    private let isQuiet: Bool
    private let state = Mutex(State())
    /// A large archive may have a million links.
    private static let mostNotes = 20

    init(showsLine: Bool, isQuiet: Bool) {
        self.showsLine = showsLine && Terminal.canGoBack(2)
        self.isQuiet = isQuiet
    }

    func show(sources: Int, shards: Int) {
        // Looking at the clock costs more than the rest.
        guard showsLine, sources % 64 == 0 else { return }
        state.withLock { state in
            let now = SuspendingClock.now
            guard now - state.last > .milliseconds(100) else { return }
            state.last = now
            state.isShown = true
            let words = ["\(sources) sources, \(shards) shards", "\(sources) sources"]
            let line = "\r\u{1B}[2K" + Terminal.fitting(words, Terminal.width(2))
            _ = write(2, line, line.utf8.count)
        }
    }

    func note(_ text: String) {
        guard !isQuiet else { return }
        end()
        let count = state.withLock { state in
            state.notes += 1
            return state.notes
        }
        if count <= Self.mostNotes { printError("note: \(text)") }
        if count == Self.mostNotes { printError("note: further notes are not shown") }
    }

    func end() {
        state.withLock { state in
            guard state.isShown else { return }
            _ = write(2, "\r\u{1B}[2K", 5)
            state.isShown = false
        }
    }
}
