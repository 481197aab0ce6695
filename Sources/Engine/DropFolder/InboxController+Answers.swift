// The check whether the file systems of an inbox answer.
import Pipeline
import Synchronization
import System

extension InboxController {
    /// Asks something of its file systems, on a thread of its own, unless the last look is not over. The outbox alone is
    /// opened, which costs nothing, so that trouble with it shows before a source comes; if a lane waits for files, all
    /// folders are tried.
    /// - Parameter waiting: since when a lane has waited.
    func probe(waiting: Moment?) {
        let (inbox, spool) = state.withLock { ($0.inbox, $0.spool) }
        guard state.withLock({ $0.answers.begin(with: inbox.outbox, at: .now) }) else { return }
        let isThorough = waiting.map { .now > $0 + AnswerState.suspicion } ?? false
        let written = [inbox.outbox, shared.state.path] + (spool.map { spool in Shelf.allCases.map(spool.path) } ?? [])
        let isStarted = startThread { [self] in
            if isThorough {
                for folder in written {
                    state.withLock { $0.answers.goOn(to: folder, at: .now) }
                    // Only the answer counts here. Trouble with the folder shows when it is used.
                    _ = WriteProbe.trouble(in: folder)
                }
                state.withLock { $0.answers.goOn(to: inbox.path, at: .now) }
                _ = try? Directory(inbox.path).file.status()
            } else if let trouble = outboxPause, state.withLock({ $0.spool != nil && $0.isOpen }) {
                pause(trouble)
            }
            state.withLock { $0.answers.end(at: .now) }
        }
        if !isStarted { state.withLock { $0.answers.end(at: .now) } }
    }

    /// The pause while one of its file systems does not answer; nil if all do, as far as is known.
    func silence(waiting: Moment?) -> Pause? {
        state.withLock { state in
            if let silence = state.watcher?.silence {
                state.lastSilence = .now
                return silence.pause
            }
            return state.answers.silent(waiting: waiting, at: .now).map { Pause(silent: $0) }
        }
    }
}
