// The cache as a run or a drop folder uses it: opened when it is first needed, and left alone after trouble.
package import Pipeline
import Synchronization
import System

/// A cache that several pipelines share. For any thread. Trouble with it fails no source: work goes on without it, also
/// if its file system does not answer.
package final class SharedCache: Sendable {
    package let folder: BytePath
    /// How long it is left alone after trouble.
    private let pause: Duration?
    private let note: @Sendable (String) -> Void
    private let state: Mutex<State>
    /// Held by whoever opens it, which waits for the file system.
    private let opening = Mutex(())

    /// The default bound.
    package static let usualBound = 1 << 30

    private struct State {
        var bound: Int
        var store: CacheStore?
        var trouble: String?
        var pausedUntil: Moment?
        var contents = CacheStore.Statistics(renditions: 0, bytes: 0)
        var hits = 0
        var misses = 0
        /// Threads that have not come back from its file system in time. Nobody else goes there meanwhile.
        var hanging = 0

        var isPaused: Bool { pausedUntil.map { .now < $0 } ?? false }
    }

    /// - Parameters:
    ///   - bound: the most bytes that all renditions together may have.
    ///   - pause: how long the cache is left alone after trouble; nil for good.
    ///   - note: receives a sentence when the cache cannot be used, and another one when it can be used again.
    package init(folder: BytePath, bound: Int, pause: Duration? = nil, note: @escaping @Sendable (String) -> Void) {
        self.folder = folder
        self.pause = pause
        self.note = note
        state = Mutex(State(bound: bound))
    }

    /// How long the file system may take for an answer.
    private static let patience = Duration.seconds(2)
    /// The bytes that a slow file system copies in a millisecond.
    private static let slowestBytes = 4 << 10

    private enum Outcome<Value: Sendable>: Sendable {
        case open
        case ended(Value?)
        /// Nobody waits for it any more.
        case abandoned
    }

    /// Works with the cache. For a drop folder, which must not wait for ever, on a thread of its own: what takes too long
    /// goes on there, and its result is dropped.
    /// - Parameter bytes: how many are copied.
    /// - Returns: nil if it cannot be used.
    func use<Value: Sendable>(
        bytes: Int = 0, _ work: @escaping @Sendable (CacheStore) throws -> Value
    ) -> Value? {
        // A thread costs as much as a small rendition, and somebody sees that a run does not go on.
        guard pause != nil else { return useHere(work) }
        guard state.withLock({ $0.hanging == 0 && !$0.isPaused }) else { return nil }
        let outcome = Monitor(Outcome<Value>.open)
        let isStarted = startThread { [self] in
            let value = useHere(work)
            let isLate = outcome.change { outcome in
                if case .abandoned = outcome { return true }
                outcome = .ended(value)
                return false
            }
            if isLate { state.withLock { $0.hanging -= 1 } }
        }
        guard isStarted else { return nil }
        let end = Moment.now + Self.patience + .milliseconds(bytes / Self.slowestBytes)
        let (value, isAbandoned): (Value?, Bool) = outcome.look { outcome in
            if case .ended(let value) = outcome { return .ready((value, false)) }
            guard .now >= end else { return .wait(until: end) }
            state.withLock { $0.hanging += 1 }
            outcome = .abandoned
            return .ready((nil, true))
        }
        if isAbandoned { fail("the cache '\(folder.printable)' does not answer") }
        return value
    }

    /// Works with the cache on this thread, for as long as that takes.
    private func useHere<Value>(_ work: (CacheStore) throws -> Value) -> Value? {
        guard let store = opened() else { return nil }
        do {
            let value = try work(store)
            let contents = try store.statistics()
            state.withLock { $0.contents = contents }
            return value
        } catch {
            fail("the cache cannot be used any more (\(error))")
            return nil
        }
    }

    /// Counts renditions that were looked for.
    func count(hits: Int, misses: Int) {
        state.withLock { state in
            state.hits += hits
            state.misses += misses
        }
    }

    /// Changes the bound. Removes what is too much now, which waits for the file system.
    package func set(bound: Int) {
        let store = state.withLock { state in
            state.bound = bound
            return state.store
        }
        guard let store else { return }
        store.set(bound: bound)
        _ = useHere { try $0.prune(to: bound) }
    }

    // MARK: - Opening

    private func opened() -> CacheStore? {
        let (store, isPaused) = state.withLock { ($0.store, $0.isPaused) }
        if store != nil || isPaused { return store }
        return opening.withLock { _ in
            let (store, isPaused, bound) = state.withLock { ($0.store, $0.isPaused, $0.bound) }
            if store != nil || isPaused { return store }
            do {
                let store = try CacheStore(folder: folder, bound: bound)
                let wasInTrouble = state.withLock { state in
                    defer { (state.store, state.trouble, state.pausedUntil) = (store, nil, nil) }
                    return state.trouble != nil
                }
                if wasInTrouble { note("the cache '\(folder.printable)' can be used again") }
                return store
            } catch {
                fail("\(error)")
                return nil
            }
        }
    }

    private func fail(_ trouble: String) {
        // Closed on a thread of its own, since that waits for the file system.
        let (store, isNew) = state.withLock { state in
            defer {
                (state.store, state.trouble, state.pausedUntil) = (nil, trouble, pause.map { .now + $0 } ?? .never)
            }
            return (state.store, state.trouble == nil)
        }
        if let store { _ = startThread { withExtendedLifetime(store) {} } }
        if isNew { note("\(trouble); the work goes on without it") }
    }

    // MARK: - Status

    package struct Status: Sendable {
        package let folder: BytePath
        package let bound: Int
        /// As of its last use.
        package let contents: CacheStore.Statistics
        /// Renditions that were copied from it, and that were not in it, since the start.
        package let hits, misses: Int
        /// Why it is not used; nil if it is.
        package let trouble: String?
    }

    /// Waits for no file system.
    package var status: Status {
        state.withLock {
            Status(
                folder: folder, bound: $0.bound, contents: $0.contents, hits: $0.hits, misses: $0.misses,
                trouble: $0.trouble)
        }
    }
}
