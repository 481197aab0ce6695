// Admission by predicted memory: one huge picture runs alone, forty small ones together.
import System

/// The memory that all workers may use together.
package final class MemoryBudget: Sendable {
    private let state: Monitor<State>

    private struct State {
        var total: Int
        var taken = 0
        /// First come, first served, so that a huge picture is not overtaken for ever: the number of the next to come,
        /// and of the next to go.
        var nextTicket = 0
        var nextServed = 0
    }

    package init(bytes: Int) { state = Monitor(State(total: bytes)) }

    var total: Int { state.note { $0.total } }

    var reserved: Int { state.note { min($0.taken, $0.total) } }

    /// Changes the budget. What is taken stays so until it is given back.
    func set(total bytes: Int) { state.change { $0.total = bytes } }

    /// Waits until so many bytes are free, and takes them. More than the whole budget runs alone.
    func acquire(_ bytes: Int) {
        let ticket = state.change { state in
            defer { state.nextTicket += 1 }
            return state.nextTicket
        }
        state.wait { state -> Void? in
            guard state.nextServed == ticket, state.taken == 0 || bytes <= state.total - state.taken else { return nil }
            state.taken += bytes
            state.nextServed += 1
            return ()
        }
    }

    func release(_ bytes: Int) { state.change { $0.taken -= bytes } }

    /// Does something while so many bytes are taken.
    func holding<Value>(_ bytes: Int, _ work: () throws -> Value) rethrows -> Value {
        if bytes == 0 { return try work() }
        acquire(bytes)
        defer { release(bytes) }
        return try work()
    }
}
