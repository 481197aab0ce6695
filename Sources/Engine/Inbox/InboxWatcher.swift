// The thread that watches an inbox: it waits for events, timers and words from others, and goes round whenever one of them comes.
import CLinux
import Glibc
package import Pipeline
import Synchronization

/// Watches one inbox on a thread of its own, so that a file system that hangs stops one inbox alone.
package final class InboxWatcher: Sendable {
    private struct Mail {
        var answers: [(ReadySource, ClaimAnswer)] = []
        var wantsScan = false
        var isStopping = false
    }

    private let settings: WatchSettings
    private let isDone: @Sendable (BytePath, Sighting) -> Bool
    private let onReady: @Sendable ([ReadySource]) -> Void
    private let onNote: @Sendable (WatchNote) -> Void
    private let wake = OpenFile(owning: clinux_event())
    private let mail = Mutex(Mail())
    private let latest = Mutex(InboxStatus())
    private let hasEnded = Monitor(false)

    /// - Parameters:
    ///   - isDone: whether a file that stays in the inbox was done as it is; called on the inbox' thread, for every file of every scan.
    ///   - onReady: is given what became ready, on the inbox' thread.
    ///   - onNote: is given what belongs into the log.
    package init(
        _ settings: WatchSettings, isDone: @escaping @Sendable (BytePath, Sighting) -> Bool = { _, _ in false },
        onReady: @escaping @Sendable ([ReadySource]) -> Void, onNote: @escaping @Sendable (WatchNote) -> Void
    ) {
        self.settings = settings
        self.isDone = isDone
        self.onReady = onReady
        self.onNote = onNote
    }

    package var status: InboxStatus { latest.withLock { $0 } }

    package func start() {
        runOnNewThread { [self] in
            run()
            hasEnded.change { $0 = true }
        }
    }

    /// Says what became of a source that was ready.
    package func answer(_ source: ReadySource, _ answer: ClaimAnswer) {
        tell { $0.answers.append((source, answer)) }
    }

    /// Looks through the whole inbox now.
    package func rescan() { tell { $0.wantsScan = true } }

    /// Offers nothing from now on. Does not wait.
    package func stop() { tell { $0.isStopping = true } }

    /// Waits until the thread has ended after `stop`. Blocks the thread.
    package func waitUntilStopped() { hasEnded.wait { $0 ? () : nil } }

    private func tell(_ change: (inout Mail) -> Void) {
        mail.withLock { change(&$0) }
        var one: UInt64 = 1
        _ = write(wake.descriptor, &one, 8)
    }

    private func run() {
        let loop = WatchLoop(settings, isDone: isDone, note: onNote)
        while true {
            let letters = mail.withLock { mail in
                defer { mail = Mail(isStopping: mail.isStopping) }
                return mail
            }
            if letters.isStopping { return }
            for (source, answer) in letters.answers { loop.answered(source, answer) }
            if letters.wantsScan { loop.rescan() }
            let (ready, next) = loop.turn()
            latest.withLock { $0 = loop.status }
            if !ready.isEmpty { onReady(ready) }
            wait(until: next, loop.descriptor)
        }
    }

    private func wait(until next: Moment, _ events: CInt?) {
        var waiting = [pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)]
        if let events { waiting.append(pollfd(fd: events, events: Int16(POLLIN), revents: 0)) }
        _ = poll(&waiting, nfds_t(waiting.count), CInt(Moment.now.milliseconds(until: next)))
        var count: UInt64 = 0
        if waiting[0].revents != 0 { _ = read(wake.descriptor, &count, 8) }
    }
}
