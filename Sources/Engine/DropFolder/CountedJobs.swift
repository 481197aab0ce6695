// How many jobs there are, as the store counts them, for a status that has to be there whatever hangs.
import Synchronization
import System

/// The last answer of a store. For any thread.
final class CountedJobs: Sendable {
    private let store: any JobStore
    private let state = Mutex(State())

    private struct State {
        var counts: [String: JobCounts] = [:]
        /// When the store was asked last.
        var asked: Moment?
        /// It has not answered yet.
        var isAsking = false
    }

    /// In a flood, jobs are not counted for each who asks.
    private static let betweenCounts = Duration.milliseconds(500)
    private static let patience = Duration.milliseconds(300)

    init(_ store: any JobStore) { self.store = store }

    /// The counts by inbox, at most half a second old if the store answers soon.
    func current() -> [String: JobCounts] {
        let isDue = state.withLock { state in
            guard !state.isAsking, state.asked.map({ .now >= $0 + Self.betweenCounts }) ?? true else { return false }
            state.isAsking = true
            return true
        }
        if isDue { _ = Background { [self] in ask() }.value(until: .now + Self.patience) }
        return state.withLock { $0.counts }
    }

    private func ask() {
        let counts = try? store.counts()
        state.withLock { state in
            if let counts { state.counts = counts }
            (state.asked, state.isAsking) = (.now, false)
        }
    }
}
