// How many jobs there are, as the store counts them, for a status that has to be there whatever hangs.
import Synchronization
import System

/// The last answer of a store. For any thread.
final class CountedJobs: Sendable {
    private let store: any JobStore
    private let state = Mutex(State())

    private struct State {
        var counts: [String: JobCounts] = [:]
        /// The store has not answered yet.
        var isAsking = false
    }

    private static let patience = Duration.milliseconds(300)

    init(_ store: any JobStore) { self.store = store }

    /// The counts by inbox; the last ones if the store does not answer soon.
    func current() -> [String: JobCounts] {
        let isDue = state.withLock { state in
            defer { state.isAsking = true }
            return !state.isAsking
        }
        if isDue { _ = Background { [self] in ask() }.value(until: .now + Self.patience) }
        return state.withLock { $0.counts }
    }

    private func ask() {
        let counts = try? store.counts()
        state.withLock { state in
            if let counts { state.counts = counts }
            state.isAsking = false
        }
    }
}
