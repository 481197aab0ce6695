// How many jobs there are, as the store counts them, for a status that has to be there whatever hangs.
import System

/// The last answer of a store. For any thread; a call waits for a moment at most.
final class CountedJobs: Sendable {
    private let store: any JobStore
    private let state: Monitor<State>

    private struct State {
        var counts: [String: JobCounts]
        /// When the store may be asked again: counting many jobs keeps it from others.
        var next = Moment.now
        /// Since when it has been asked; nil if it has answered.
        var asked: Moment?
    }

    private static let patience = Duration.milliseconds(300)
    /// A store spends at most a tenth of its time on counting, and is asked again soon if it has hung.
    private static let restingTimes = 10
    private static let longestRest = 2_000

    /// Counts, so that whoever asks first has an answer.
    init(_ store: any JobStore) throws(StoreError) {
        self.store = store
        state = Monitor(State(counts: try store.counts()))
    }

    /// The counts by inbox; the last ones if the store does not answer soon.
    func current() -> [String: JobCounts] {
        let asks = state.change { state in
            guard state.asked == nil, .now >= state.next else { return false }
            state.asked = .now
            return true
        }
        // Without a thread, the last answer has to do.
        if asks, !startThread({ [self] in ask() }) { state.change { $0.asked = nil } }
        return state.look { state in
            guard let end = state.asked.map({ $0 + Self.patience }), .now < end else { return .ready(state.counts) }
            return .wait(until: end)
        }
    }

    private func ask() {
        let start = Moment.now
        let counts = try? store.counts()
        let end = Moment.now
        state.change { state in
            if let counts { state.counts = counts }
            state.asked = nil
            state.next =
                end
                + .milliseconds(
                    min(Self.longestRest, Self.restingTimes * start.milliseconds(until: end)))
        }
    }
}
