// The folders of an inbox: made, locked, and their jobs taken up.
import Pipeline
import Synchronization
import System

extension InboxController {
    /// Makes the folders and takes up the jobs in them.
    /// - Returns: false if that failed, and the inbox is paused.
    func makeFolders() -> Bool {
        if let missing = shared.state.look() {
            pause(missing)
            return false
        }
        do {
            guard try shared.place(self) else { return false }
        } catch {
            pause(reason(for: error))
            return false
        }
        let inbox = inbox
        makeOutboxOnce()
        guard (try? FileSystem.status(inbox.path))??.kind == .directory else { return true }
        do {
            shared.dispatcher.pause(name)
            // The lock of the same folders may be its own.
            state.withLock { $0.spool = nil }
            // First, so that nothing is made where another one works. The mount is busy anyway: the lock of the spool, or
            // the state folder, is on it too.
            let lock = try shared.locks.lock(inbox.path)
            let spool = try Spool(inbox.spool, inbox: inbox.path, name: name)
            for folder in lock?.strangers ?? [] {
                tell(
                    .trouble(
                        "another user's process has locked '\(folder.printable)'; the work goes on, but a second imagemill watch on the inbox may not be refused"
                    ))
            }
            try InboxRecovery(self, spool).run()
            // A reload may have moved the inbox meanwhile; its folders are made anew then.
            let isCurrent = state.withLock { state in
                guard state.inbox.path == inbox.path else { return false }
                state.spool = spool
                state.lock = lock
                return true
            }
            guard isCurrent else { return false }
            tell(.spool(done: spool.path(.done), failed: spool.path(.failed)))
            if let sentence = shared.lost.sentence(outbox: inbox.outbox) { tell(.trouble(sentence)) }
            if state.withLock({ $0.isOpen }) { shared.dispatcher.resume(name) }
            return true
        } catch {
            pause(reason(for: error))
            return false
        }
    }

    /// Makes the outbox if it is missing at the start; what vanishes later may be a mount.
    private func makeOutboxOnce() {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        guard isFirst else { return }
        do throws(SystemError) {
            try inbox.makeOutbox()
        } catch {
            pause(Pause(error, missing: .missingOutbox))
        }
    }

    private func reason(for error: any Error) -> Pause {
        switch error {
        case let error as MillProblems: Pause(.inUse, error.refusals.joined(separator: "; "))
        case let error as SystemError: Pause(error, missing: .missingInbox)
        case let error as StoreError: Pause(error.pauseReason, error.description)
        default: Pause(.ioError, "\(error)")
        }
    }
}
