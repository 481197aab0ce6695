// A worker that is ready before it is wanted, while pictures come that need a second one.
import System

/// Keeps one worker process that has met no source. For any thread.
///
/// There is none until somebody asks for it. One that is taken is replaced, on a thread of its own; one that nobody
/// takes for a while ends.
final class SpareWorker: Sendable {
    private let start: @Sendable () throws(SystemError) -> WorkerProcess
    private let patience: Duration
    private let state = Monitor(State())

    /// The monitor protects what is in here; what is taken out belongs to one thread.
    private struct State: @unchecked Sendable {
        var worker: WorkerProcess?
        /// There is a thread that keeps it.
        var isKept = false
        /// When it ends, unless it is wanted again.
        var end = Moment.now
    }

    private enum Step {
        case start, end
    }

    /// - Parameter patience: how long it waits to be wanted.
    init(patience: Duration = .seconds(30), _ start: @escaping @Sendable () throws(SystemError) -> WorkerProcess) {
        self.patience = patience
        self.start = start
    }

    /// Has one ready soon, and for as long as it is wanted now and then.
    func keep() {
        let isNew = state.change { state in
            state.end = .now + patience
            defer { state.isKept = true }
            return !state.isKept
        }
        // Without a thread there is no spare: whoever wants one starts it.
        if isNew, !startThread({ [self] in lookAfter() }) { state.change { $0.isKept = false } }
    }

    /// The spare worker, if it is ready.
    func take() -> WorkerProcess? {
        state.change { state in
            defer { state.worker = nil }
            return state.worker
        }
    }

    private func lookAfter() {
        while state.look(next) == .start {
            guard let worker = try? start() else { return state.change { $0.isKept = false } }
            state.change { $0.worker = worker }
        }
    }

    private func next(_ state: inout State) -> Monitor<State>.Look<Step> {
        if state.end <= .now {
            (state.worker, state.isKept) = (nil, false)
            return .ready(.end)
        }
        return state.worker == nil ? .ready(.start) : .wait(until: state.end)
    }
}
