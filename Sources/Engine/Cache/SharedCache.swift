// The cache as a run or a drop folder uses it: opened when it is first needed, and left alone after trouble.
package import Pipeline
import Synchronization

/// A cache that several pipelines share. For any thread. Trouble with it fails no source: work goes on without it.
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

    /// Works with the cache.
    /// - Returns: nil if it cannot be used.
    func use<Value>(_ work: (CacheStore) throws -> Value) -> Value? {
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
        _ = use { try $0.prune(to: bound) }
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
        // Closed outside of the lock, since that waits for the file system.
        let (store, isNew) = state.withLock { state in
            defer {
                (state.store, state.trouble, state.pausedUntil) = (nil, trouble, pause.map { .now + $0 } ?? .never)
            }
            return (state.store, state.trouble == nil)
        }
        withExtendedLifetime(store) {}
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
