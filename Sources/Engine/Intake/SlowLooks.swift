// Looks that take long, on a thread of their own: a set of a million files, a file of many gigabytes.
import Pipeline
import Synchronization
import System

/// Does the actions of `SourceTracker` for which the inbox's thread has no time, one after the other, so that the other
/// sources of the inbox do not wait. For any thread; no call waits.
final class SlowLooks: Sendable {
    /// An action, and what came of it.
    typealias Outcome = (action: SourceTracker.Action, found: Result<SourceLook.Found?, SystemError>)

    private struct State {
        var waiting: [SourceTracker.Action] = []
        /// Those that wait, and the one that is under way.
        var paths: Set<BytePath> = []
        var outcomes: [Outcome] = []
        /// How often looks at these were given up.
        var tries: [BytePath: Int] = [:]
        var isRunning = false
        var isStopping = false
    }

    private let state = Mutex(State())
    private let settings: WatchSettings
    /// Called when there is an outcome.
    private let wake: @Sendable () -> Void

    init(_ settings: WatchSettings, wake: @escaping @Sendable () -> Void) {
        (self.settings, self.wake) = (settings, wake)
    }

    /// Adds an action. One for the same path that has not ended takes its place: what came of it says when to look
    /// again.
    func add(_ action: SourceTracker.Action) {
        state.withLock { if $0.paths.insert(action.path).inserted { $0.waiting.append(action) } }
        start()
    }

    /// The outcomes since the last call.
    func takeOutcomes() -> [Outcome] {
        start()
        return state.withLock { state in
            defer { state.outcomes = [] }
            return state.outcomes
        }
    }

    /// Begins nothing more.
    func stop() { state.withLock { $0.isStopping = true } }

    /// If the system gives no thread at the moment, the next call tries again.
    private func start() {
        let isNeeded = state.withLock { state in
            guard !state.isRunning, !state.waiting.isEmpty else { return false }
            state.isRunning = true
            return true
        }
        if isNeeded, !startThread({ [self] in run() }) { state.withLock { $0.isRunning = false } }
    }

    private func run() {
        while let (action, tries) = next() {
            let patience = settings.times.incompleteAfter * (1 << min(tries, 10))
            let found = Result { () throws(SystemError) in try find(action, until: .now + patience) }
            // The others have their turn before it gets more time.
            if case .success(nil) = found {
                state.withLock { state in
                    state.tries[action.path] = tries + 1
                    state.waiting.append(action)
                }
                continue
            }
            state.withLock { state in
                state.paths.remove(action.path)
                state.tries[action.path] = nil
                state.outcomes.append((action, found))
            }
            wake()
        }
    }

    private func next() -> (SourceTracker.Action, tries: Int)? {
        state.withLock { state in
            guard !state.waiting.isEmpty, !state.isStopping else {
                state.isRunning = false
                return nil
            }
            let action = state.waiting.removeFirst()
            return (action, state.tries[action.path] ?? 0)
        }
    }

    /// - Returns: nil if a look was given up.
    private func find(_ action: SourceTracker.Action, until end: Moment) throws(SystemError) -> SourceLook.Found? {
        var look = SourceLook(
            root: try Directory(settings.path), ignored: settings.ignored, largest: settings.largest)
        look.companions = settings.companions
        look.deadline = end
        guard case .examine = action else { return try look.find(action) }
        // A decoder has to judge what takes longer.
        return try look.find(action) ?? .examination(Examination(hasWriter: nil, structure: .unknown))
    }
}
