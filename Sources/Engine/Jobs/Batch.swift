// A run over a list of sources: as many lanes as cores, each taking the next source when it is free.
import Pipeline

/// Who wants to know how a run goes. Called from one place after the other, never at once.
package protocol BatchObserver: Sendable {
    func begin(sources: Int) async
    func finished(_ report: SourceReport, _ summary: BatchSummary) async
    func end() async
}

/// One run.
package struct Batch: Sendable {
    package let settings: LaneSettings
    package let lanes: Int
    package let report: BatchReport
    package let observer: any BatchObserver

    package init(settings: LaneSettings, lanes: Int, report: BatchReport, observer: any BatchObserver) {
        self.settings = settings
        self.lanes = lanes
        self.report = report
        self.observer = observer
    }

    /// Processes all sources.
    /// - Returns: what was done, also where the run was cancelled.
    /// - Throws: `Diagnostics` where an asset cannot be decoded, `SystemError` where workers cannot be started.
    package func run(_ sources: [SourceFile]) async throws -> BatchSummary {
        let start = ContinuousClock.now
        let progress = BatchProgress(sources: sources, report: report, observer: observer)
        let lanes = (0..<max(1, min(self.lanes, sources.count))).map { Lane(settings, index: $0) }
        if !sources.isEmpty {
            do {
                // What is wrong with the assets shows before any source is touched.
                try await lanes[0].prepare()
            } catch WorkerLoss.cancelled {
                // Nothing was begun; the report says so.
            }
        }
        await observer.begin(sources: sources.count)
        await withTaskGroup { group in
            for lane in lanes {
                group.addTask {
                    while !settings.cancellation.isRaised, let (source, order) = await progress.next() {
                        guard let report = await lane.process(source, order: order) else { break }
                        await progress.add(report)
                    }
                    await lane.close()
                }
            }
        }
        await observer.end()
        var summary = await progress.summary
        summary.milliseconds = milliseconds(in: .now - start)
        summary.interrupted = settings.cancellation.isRaised
        try await report.finish(summary)
        await settings.names.close()
        return summary
    }
}

/// Hands out the sources and counts what became of them.
private actor BatchProgress {
    private let sources: [SourceFile]
    private let report: BatchReport
    private let observer: any BatchObserver
    private var given = 0
    private(set) var summary = BatchSummary()

    init(sources: [SourceFile], report: BatchReport, observer: any BatchObserver) {
        self.sources = sources
        self.report = report
        self.observer = observer
        summary.sources = sources.count
    }

    func next() -> (SourceFile, Int)? {
        guard given < sources.count else { return nil }
        defer { given += 1 }
        return (sources[given], given)
    }

    func add(_ document: SourceReport) async {
        summary.add(document)
        let now = summary
        await report.add(document)
        await observer.finished(document, now)
    }
}
