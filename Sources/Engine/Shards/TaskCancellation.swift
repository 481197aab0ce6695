// A task is stopped once; its shards can be given up one by one.
import Synchronization
import System

/// Stops a task at a signal, and a single shard for other reasons.
package final class TaskCancellation: Sendable {
    private struct State {
        var signal: CInt?
        var shard = Cancellation()
    }

    private let state = Mutex(State())

    package init() {}

    /// The signal that asked the task to stop.
    package var signal: CInt? { state.withLock { $0.signal } }

    /// Stops the task and the shard that it is at.
    package func raise(signal: CInt) {
        state.withLock { state in
            state.signal = state.signal ?? signal
            state.shard.raise(signal: signal)
        }
    }

    /// For the next shard; raised already if the task was stopped.
    func next() -> Cancellation {
        state.withLock { state in
            state.shard = Cancellation()
            if let signal = state.signal { state.shard.raise(signal: signal) }
            return state.shard
        }
    }
}
