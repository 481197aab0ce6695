// Ctrl-C and its like, for code that waits in the system and for code that does not.
import CLinux
import Glibc
import Synchronization

/// A request to stop, raised once and for all. Waiting code polls `descriptor`, which becomes readable.
package final class Cancellation: Sendable {
    private let event: OpenFile
    private let signal = Mutex<CInt?>(nil)

    package init() {
        event = OpenFile(owning: clinux_event())
    }

    package var descriptor: CInt { event.descriptor }

    /// The signal that asked, or 0 if it was something else; nil while nobody has.
    package var cause: CInt? { signal.withLock { $0 } }

    package var isRaised: Bool { cause != nil }

    package func raise(signal number: CInt = 0) {
        let isFirst = signal.withLock { cause in
            defer { cause = cause ?? number }
            return cause == nil
        }
        guard isFirst else { return }
        var one: UInt64 = 1
        _ = write(event.descriptor, &one, 8)
    }
}
