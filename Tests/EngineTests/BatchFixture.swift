// One run over `in` with the pipeline `p.yaml`, in a folder of a test's own.
import Pipeline
import Synchronization
import TestSupport

@testable import Engine
@testable import System

/// Gathers the reports of a run.
final class ReportCollector: BatchObserver {
    private let reports = Mutex<[SourceReport]>([])

    /// By the sources' paths.
    var all: [String: SourceReport] {
        reports.withLock { Dictionary($0.map { ($0.source.path.text, $0) }) { first, _ in first } }
    }

    func begin(sources: Int) {}
    func end() {}
    func finished(_ report: SourceReport, _ summary: BatchSummary) { reports.withLock { $0.append(report) } }
}

extension CommandRunner {
    /// - Parameters:
    ///   - out: the output folder.
    ///   - cache: made for the pipeline; nil for none.
    func run(
        to out: String = "out", workers: WorkerCommand, lanes: Int = 2,
        memory: MemoryBudget = MemoryBudget(bytes: 1 << 30),
        limits: Limits = Limits(), cache: (LoadedPipeline) throws -> PipelineCache? = { _ in nil }
    ) async throws -> [String: SourceReport] {
        let location = OutboxLocation(BytePath(folder.path(out)))
        let found = SourceWalk.find(
            [BytePath(folder.path("in"))], WalkRules(outbox: location.path, allowed: limits.allowed))
        let pipeline = try LoadedPipeline(path: folder.path("p.yaml"))
        let outbox = Outbox(path: location.path, of: .run, writer: Outbox.runWriter)
        var render = RenderSettings(
            pipeline: pipeline, limits: limits, outbox: outbox, keepsTree: false, memory: memory,
            cancellation: Cancellation())
        render.cache = try cache(pipeline)
        let record = try OutboxRecord(location)
        let allocator = NameAllocator(
            store: record, outbox: BytePath([]), folder: outbox, policy: .version,
            isGone: { location.isGone($0) })
        let settings = BatchSettings(
            render, workers: WorkerPool(workers), lanes: lanes, allocator: allocator,
            publisher: Publisher(outbox: outbox, names: record, durability: .none),
            outbox: location)
        let collector = ReportCollector()
        let report = try BatchReport(file: BytePath(folder.path("report.json")), stream: nil)
        let run = BatchRun(WorkList(toDo: found.sources), settings, report: report, observer: collector)
        _ = try await onNewThread { try run.run() }
        return collector.all
    }
}
