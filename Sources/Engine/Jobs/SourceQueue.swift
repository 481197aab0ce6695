// The sources of a run: given out one after the other, and what became of them.
import Synchronization

/// Hands out the sources and counts what became of them. For any thread.
final class SourceQueue: Sendable {
    private let sources: [SourceFile]
    private let report: BatchReport
    private let observer: any BatchObserver
    private let state: Mutex<State>

    private struct State {
        var given = 0
        var summary = BatchSummary()
    }

    init(_ sources: [SourceFile], report: BatchReport, observer: any BatchObserver) {
        self.sources = sources
        self.report = report
        self.observer = observer
        var state = State()
        state.summary.sources = sources.count
        self.state = Mutex(state)
    }

    /// Every source was given out.
    var isEmpty: Bool { state.withLock { $0.given == sources.count } }
    var summary: BatchSummary { state.withLock { $0.summary } }

    /// The next source, and its place among all, from 0.
    func next() -> (SourceFile, Int)? {
        let order = state.withLock { state in
            defer { state.given = min(state.given + 1, sources.count) }
            return state.given
        }
        return order < sources.count ? (sources[order], order) : nil
    }

    func add(_ document: SourceReport) {
        report.add(document)
        state.withLock { state in
            state.summary.add(document)
            observer.finished(document, state.summary)
        }
    }
}
