// The sources of a run: given out one after the other, and what became of them.
import Pipeline
import Synchronization

/// Hands out the sources and counts what became of them. For any thread.
final class SourceQueue: Sendable {
    private let report: BatchReport
    private let results: ResultRecord?
    private let names: NameDesk
    private let observer: any BatchObserver
    private let state: Mutex<State>

    private struct State {
        var sources: [SourceFile]
        var unchanged: [UnchangedSource]
        var given = 0
        var summary = BatchSummary()

        /// Sources that were to stay as they are have lost a name to an earlier one (`--collision overwrite`). They come after it in order,
        /// so they must win: they are done after all.
        mutating func takeBack(_ losers: Set<BytePath>) {
            guard !losers.isEmpty else { return }
            let lost = unchanged.filter { losers.contains($0.source.identity) }
            unchanged.removeAll { losers.contains($0.source.identity) }
            sources += lost.map(\.source)
            summary.skipped -= lost.count
        }
    }

    /// - Parameters:
    ///   - results: where what becomes of the sources is recorded; nil where nothing is.
    ///   - names: tells which sources have lost a name.
    init(_ work: WorkList, report: BatchReport, results: ResultRecord?, names: NameDesk, observer: any BatchObserver) {
        self.report = report
        self.results = results
        self.names = names
        self.observer = observer
        var state = State(sources: work.toDo, unchanged: work.unchanged)
        state.summary.sources = work.toDo.count + work.unchanged.count
        state.summary.skipped = work.unchanged.count
        self.state = Mutex(state)
    }

    /// Every source was given out.
    var isEmpty: Bool { state.withLock { $0.given == $0.sources.count } }
    var summary: BatchSummary { state.withLock { $0.summary } }

    /// The next source, and its place among all that are given out, from 0.
    func next() -> (SourceFile, Int)? {
        state.withLock { state in
            if state.given == state.sources.count { state.takeBack(names.takeLosers()) }
            guard state.given < state.sources.count else { return nil }
            defer { state.given += 1 }
            return (state.sources[state.given], state.given)
        }
    }

    func add(_ finished: FinishedSource) {
        let document = json(finished.report)
        report.add(document)
        results?.add(finished, document: document)
        state.withLock { state in
            state.summary.add(finished.report)
            observer.finished(finished.report, state.summary)
        }
    }

    /// Reports the sources that stay as they are. To be called when everything is done.
    func addUnchanged() {
        report.add(state.withLock { $0.unchanged.map(\.document) })
        results?.finish()
    }
}
