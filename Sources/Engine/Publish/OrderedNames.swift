// Versions follow the order of the sources, not that of the workers: each source claims its names when it is its turn.
package import Pipeline
import System

/// Gives each source of a run its turn to claim names, in the order of the sources. For any thread; waiting blocks the
/// thread.
///
/// Whoever waits here must hold neither memory of the budget nor a lock: the source that it waits for may need them.
/// For the same reason a thread that has claimed names publishes them, and calls `end`, before it claims for another
/// source.
package final class OrderedNames: Sendable {
    private let state = Monitor(State())

    private struct State {
        /// The source whose turn it is.
        var turn = 0
        /// Turns that were given up before they came.
        var passed: Set<Int> = []
        /// Names that are being written now, and the source that writes them.
        var inUse: [BytePath: Int] = [:]
        /// Sources whose names went to others.
        var losers: Set<BytePath> = []

        mutating func pass(_ order: Int) {
            if order == turn { nextTurn() } else if order > turn { passed.insert(order) }
        }

        mutating func nextTurn() {
            repeat { turn += 1 } while passed.remove(turn) != nil
        }
    }

    package init() {}

    /// Claims names for a source; waits until every source before it has had its turn. A source that is tried again has
    /// its turn at once.
    ///
    /// If a source of an earlier turn is still writing one of the names, which only `overwrite` allows, this waits
    /// until it has ended: the later source must win.
    /// - Parameters:
    ///   - order: the source's place among all sources, from 0.
    ///   - work: claims the names; not called again.
    ///   - names: the names that were claimed.
    ///   - losers: the sources that they belonged to before.
    /// - Throws: what `work` throws; the turn is over then.
    package func claim<Value>(
        order: Int, _ work: () throws -> Value, names: (Value) -> [BytePath],
        losers: (Value) -> [BytePath] = { _ in [] }
    ) throws -> Value {
        state.wait { $0.turn >= order ? () : nil }
        defer { state.change { if $0.turn == order { $0.nextTurn() } } }
        let value = try work()
        let (names, losers) = (names(value), losers(value))
        state.wait { state -> Void? in
            guard names.allSatisfy({ (state.inUse[$0] ?? order) == order }) else { return nil }
            for name in names { state.inUse[name] = order }
            state.losers.formUnion(losers)
            return ()
        }
        return value
    }

    /// A source will not claim any names, because it failed before.
    package func pass(order: Int) { state.change { $0.pass(order) } }

    /// A source has published its names, or never will. One that has not claimed any gives up its turn.
    package func end(order: Int) {
        state.change { state in
            for name in state.inUse.filter({ $0.value == order }).keys { state.inUse[name] = nil }
            state.pass(order)
        }
    }

    /// The sources that have lost a name to another one since this was last asked.
    package func takeLosers() -> Set<BytePath> {
        state.change { state in
            defer { state.losers = [] }
            return state.losers
        }
    }
}
