// A run over a list of sources: as many lanes as cores, each taking the next source when it is free.
import Pipeline

/// Who wants to know how a run goes. Called from one place after the other, never at once.
package protocol BatchObserver: Sendable {
    func begin(sources: Int)
    func finished(_ report: SourceReport, _ summary: BatchSummary)
    func end()
}

/// One run.
package struct Batch: Sendable {
    package let settings: LaneSettings
    package let lanes: Int
    package let report: BatchReport
    package let observer: any BatchObserver
    /// Where what becomes of the sources is recorded; nil where nothing is.
    package let results: ResultRecord?

    package init(settings: LaneSettings, lanes: Int, report: BatchReport, observer: any BatchObserver, results: ResultRecord? = nil) {
        self.settings = settings
        self.lanes = lanes
        self.report = report
        self.observer = observer
        self.results = results
    }

    /// Processes what is to do, and reports what is not.
    /// - Parameter start: when the run began.
    /// - Returns: what was done, also where the run was cancelled.
    /// - Throws: `Diagnostics` where an asset cannot be decoded, `SystemError` where workers cannot be started.
    package func run(_ work: WorkList, since start: ContinuousClock.Instant = .now) async throws -> BatchSummary {
        let queue = SourceQueue(work, report: report, results: results, names: settings.names, observer: observer)
        observer.begin(sources: work.toDo.count)
        let trouble: (any Error)? = await withTaskGroup(of: (any Error)?.self) { group in
            for _ in 0..<min(lanes, work.toDo.count) {
                group.addTask { await self.trouble(ofLaneThrough: queue) }
            }
            return await group.reduce(nil) { first, next in first ?? next }
        }
        observer.end()
        queue.addUnchanged()
        settings.names.close()
        // A lane that did not start has left its share to the others; only where they all failed is there work left.
        if let trouble, !queue.isEmpty { throw trouble }
        var summary = queue.summary
        summary.milliseconds = milliseconds(in: .now - start)
        summary.interrupted = settings.render.cancellation.isRaised
        try report.finish(summary)
        return summary
    }

    /// Why a lane could not start; nil where it worked.
    private func trouble(ofLaneThrough queue: SourceQueue) async -> (any Error)? {
        do {
            try await onNewThread { try Lane(settings).work(through: queue) }
            return nil
        } catch WorkerLoss.cancelled {
            // Nothing was begun; the report says so.
            return nil
        } catch {
            return error
        }
    }
}
