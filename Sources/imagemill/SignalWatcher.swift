// Ctrl-C and SIGTERM become a cancellation.
import Engine
import Glibc

enum SignalWatcher {
    /// Raises the cancellation at the first SIGINT, SIGTERM or SIGHUP; a second one ends the process at once.
    ///
    /// Call it before other threads start, since they inherit which signals are held back.
    static func watch(_ cancellation: Cancellation) {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let watched = signals
        runOnNewThread {
            var signals = watched
            while true {
                var number: CInt = 0
                guard sigwait(&signals, &number) == 0 else { continue }
                if cancellation.isRaised { _exit(128 + number) }
                cancellation.raise(signal: number)
            }
        }
    }
}
