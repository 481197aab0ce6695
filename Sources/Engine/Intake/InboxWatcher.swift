// The thread that watches an inbox: it sleeps until there are events, requests, or something is due.
import CLinux
import Glibc
package import Pipeline
import Synchronization
package import System

/// Watches one inbox on a thread of its own, so that a file system that hangs stops only one inbox.
package final class InboxWatcher: Sendable {
    /// The requests of other threads since the last turn.
    private struct Requests {
        var answers: [(path: BytePath, observed: FileVersion, answer: OfferAnswer)] = []
        var hastened: [BytePath] = []
        var wantsScan = false
        var isStopping = false
    }

    private let settings: WatchSettings
    private let isDone: @Sendable (BytePath, FileStatus) -> Bool
    private let onReady: @Sendable ([Offer]) -> Void
    private let onNote: @Sendable (WatchNote) -> Void
    private let wakeUp = OpenFile(owning: clinux_event())
    private let requests = Mutex(Requests())
    private let latestStatus = Mutex(InboxStatus())
    /// When the thread last went on; nil if it does not run. It goes round at least each second, unless a file system
    /// does not answer.
    private let lastSign = Mutex<Moment?>(nil)
    private let hasEnded = Monitor(false)

    /// - Parameters:
    ///   - isDone: whether a file that stays in the inbox was processed in its present state; called on the inbox's
    ///     thread, for every file of every scan.
    ///   - onReady: receives the sources that became ready, on the inbox's thread.
    ///   - onNote: receives notes for the log, on the inbox's thread.
    package init(
        _ settings: WatchSettings, isDone: @escaping @Sendable (BytePath, FileStatus) -> Bool = { _, _ in false },
        onReady: @escaping @Sendable ([Offer]) -> Void, onNote: @escaping @Sendable (WatchNote) -> Void
    ) {
        self.settings = settings
        self.isDone = isDone
        self.onReady = onReady
        self.onNote = onNote
    }

    /// The inbox counts as paused while its file system does not answer.
    package var status: InboxStatus {
        var status = latestStatus.withLock { $0 }
        if status.pause == nil, let silence {
            status.pause = silence.pause
            status.pausedSince = wallClock() - silence.milliseconds
        }
        return status
    }

    /// The pause while its file system does not answer, and for how long it has not; nil if it does.
    package var silence: (pause: Pause, milliseconds: Int)? {
        let silence = lastSign.withLock { $0 }?.milliseconds(until: .now) ?? 0
        return .milliseconds(silence) > settings.patience ? (Pause(silent: settings.path), silence) : nil
    }

    package func start() {
        runOnNewThread { [self] in
            run()
            lastSign.withLock { $0 = nil }
            hasEnded.change { $0 = true }
        }
    }

    /// Answers an offer. Does not wait.
    /// - Parameter observed: the source as it was offered; an answer to an older state of the source is ignored.
    package func answer(path: BytePath, observed: FileVersion, _ answer: OfferAnswer) {
        request { $0.answers.append((path, observed, answer)) }
    }

    /// Has a source tried now that is in the inbox again, however incomplete it seems. Does not wait.
    package func hasten(_ path: BytePath) { request { $0.hastened.append(path) } }

    /// Scans the whole inbox soon. Does not wait.
    package func rescan() { request { $0.wantsScan = true } }

    /// Ends the thread, which offers nothing more. Does not wait.
    package func stop() { request { $0.isStopping = true } }

    /// Waits until the thread has ended after `stop`. Blocks the calling thread.
    package func waitUntilStopped() { hasEnded.wait { $0 ? () : nil } }

    private func request(_ change: (inout Requests) -> Void) {
        requests.withLock { change(&$0) }
        wake()
    }

    private func wake() {
        var one: UInt64 = 1
        _ = write(wakeUp.descriptor, &one, 8)
    }

    private func run() {
        let loop = WatchLoop(
            settings, isDone: isDone, log: onNote, wake: { [self] in wake() },
            goesOn: { [self] in lastSign.withLock { $0 = .now } })
        while true {
            let requests = requests.withLock { requests in
                defer { requests = Requests(isStopping: requests.isStopping) }
                return requests
            }
            if requests.isStopping { return }
            for (path, observed, answer) in requests.answers { loop.answered(path, observed: observed, with: answer) }
            for path in requests.hastened { loop.hasten(path) }
            if requests.wantsScan { loop.rescan() }
            let (ready, next) = loop.turn()
            latestStatus.withLock { $0 = loop.status }
            if !ready.isEmpty { onReady(ready) }
            wait(until: next, loop.descriptor)
        }
    }

    /// Sleeps until the next turn is due, or there are events or requests.
    private func wait(until next: Moment, _ events: CInt?) {
        var waiting = [pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)]
        if let events { waiting.append(pollfd(fd: events, events: Int16(POLLIN), revents: 0)) }
        _ = poll(&waiting, nfds_t(waiting.count), CInt(Moment.now.milliseconds(until: next)))
        var count: UInt64 = 0
        if waiting[0].revents != 0 { _ = read(wakeUp.descriptor, &count, 8) }
    }
}
