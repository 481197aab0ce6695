// The signals of a daemon, from the first moment of its start on.
import Engine
import Glibc
import Synchronization
import System

/// Receives SIGTERM, SIGINT and SIGHUP. Until somebody handles them, nothing has begun: the first two end the process
/// at once, as stopped in an orderly way, and a SIGHUP is kept.
final class DaemonSignals: Sendable {
    private let state = Mutex(State())

    private struct State {
        var handler: (@Sendable (CInt) -> Void)?
        var hangup = false
    }

    init() throws(SystemError) {
        // A hangup ends no daemon, so that `nohup` has nothing to protect it from, and a reload is still wanted.
        try SignalWatcher.watch(always: [SIGHUP]) { [self] signal in
            let handler = state.withLock { state in
                if state.handler == nil {
                    if signal != SIGHUP { _exit(0) }
                    state.hangup = true
                }
                return state.handler
            }
            handler?(signal)
        }
    }

    /// Has every signal handled from now on, and the one that was kept.
    func handle(_ handler: @escaping @Sendable (CInt) -> Void) {
        let hangup = state.withLock { state in
            state.handler = handler
            return state.hangup
        }
        if hangup { handler(SIGHUP) }
    }
}
