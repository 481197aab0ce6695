// Admission by predicted memory: one huge picture runs alone, forty small ones together.

/// The memory that all workers may use together.
package final class MemoryBudget: Sendable {
    let total: Int
    private let state: Monitor<State>

    private struct State {
        var free: Int
        /// First come, first served, so that a huge picture is not overtaken for ever: the number of the next to come, and of the next to go.
        var nextTicket = 0
        var nextServed = 0
    }

    package init(bytes: Int) {
        total = bytes
        state = Monitor(State(free: bytes))
    }

    var reserved: Int { state.change { total - $0.free } }

    /// Waits until so many bytes are free, and takes them. More than the whole budget runs alone.
    func acquire(_ bytes: Int) {
        let bytes = min(bytes, total)
        let ticket = state.change { state in
            defer { state.nextTicket += 1 }
            return state.nextTicket
        }
        state.wait { state -> Void? in
            guard state.nextServed == ticket, bytes <= state.free else { return nil }
            state.free -= bytes
            state.nextServed += 1
            return ()
        }
    }

    func release(_ bytes: Int) {
        state.change { $0.free += min(bytes, total) }
    }

    /// Does something while so many bytes are taken.
    func holding<Value>(_ bytes: Int, _ work: () throws -> Value) rethrows -> Value {
        if bytes == 0 { return try work() }
        acquire(bytes)
        defer { release(bytes) }
        return try work()
    }
}
