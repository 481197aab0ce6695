import Engine
import Pipeline
import Synchronization

/// The output of `imagemill run --dry-run`: the files that would be written, in the order of the sources.
final class DryRunListing: BatchObserver {
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
        // No pixel is looked at: what was wrong with them the last time is not found.
        let before = report.failedBefore.map { "; failed before: \(oneLine($0))" } ?? ""
        let text = report.renditions.map { renditionLine(report, $0, in: outbox) + before + "\n" }.joined()
        lines.withLock { $0.append((report.source.path, text)) }
    }
}
