// Ctrl-C, SIGTERM and SIGHUP, away from the places where a signal may interrupt.
import CLinux
import Glibc

package enum SignalWatcher {
    /// Raises the cancellation at the first SIGINT, SIGTERM or SIGHUP; a second one ends the process at once.
    ///
    /// A signal that is ignored already stays so, as for a program in the background of a script.
    package static func watch(_ cancellation: Cancellation) throws(SystemError) {
        try watch { number in
            if cancellation.isRaised { _exit(128 + number) }
            cancellation.raise(signal: number)
        }
    }

    /// Calls the handler for every SIGINT, SIGTERM and SIGHUP, on a thread of its own, one after the other.
    /// - Parameter always: those that are caught even if they are ignored already.
    package static func watch(
        always: Set<CInt> = [], _ handler: @escaping @Sendable (CInt) -> Void
    ) throws(SystemError) {
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0, ends.allSatisfy({ clinux_close_on_exec($0) == 0 }) else {
            throw SystemError("make a pipe for signals")
        }
        // Both ends stay open as long as the process, since a signal can come at any time.
        let reading = ends[0]
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            _ = clinux_catch_signal(signal, ends[1], always.contains(signal) ? 1 : 0)
        }
        runOnNewThread {
            while true {
                var number: UInt8 = 0
                guard read(reading, &number, 1) == 1 else { continue }
                handler(CInt(number))
            }
        }
    }
}
