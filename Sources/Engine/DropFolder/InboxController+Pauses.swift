// Why an inbox takes no sources, and since when.
import Glibc
import Messages
import Pipeline
import Synchronization
import System

extension InboxController {
    /// Why nothing can be written to the outbox now; nil if it can.
    var outboxPause: Pause? {
        let inbox = inbox
        if let pause = inbox.outboxPause { return pause }
        let isMount = Directory.isMountPoint(inbox.outbox)
        return state.withLock { state in
            if state.outboxWasMount && !isMount { return Pause(unmounted: inbox.outbox, .missingOutbox) }
            state.outboxWasMount = isMount
            return nil
        }
    }

    /// It is paused, has no folders yet, or is about to leave.
    var needsMaintenance: Bool {
        state.withLock { $0.pause.pause != nil || $0.spool == nil || $0.isLeaving || !$0.deferred.isEmpty }
    }

    func pause(_ pause: Pause) {
        shared.dispatcher.pause(name)
        // A lane that meets the pause of a person begins no other.
        guard pause.reason != .byRequest else { return }
        if state.withLock({ $0.pause.begin(pause, since: wallClock()) }) { tell(.paused(pause)) }
    }

    func resume() {
        let (isWorthALine, requested, hasFolders) = state.withLock {
            ($0.pause.end(), $0.requestedPause, $0.spool != nil)
        }
        // Before its folders were looked into, its jobs may be in another state than the store says.
        if requested == nil && hasFolders { shared.dispatcher.resume(name) }
        if isWorthALine { tell(requested.map { .staysPausedByRequest(since: $0) } ?? .resumed) }
    }

    /// Takes no more sources until a person ends that. Running jobs go on.
    /// - Parameter since: in milliseconds since 1970.
    func pauseByRequest(since: Int) {
        let isNew = state.withLock { state in
            defer { state.requestedPause = state.requestedPause ?? since }
            return state.requestedPause == nil
        }
        shared.dispatcher.pause(name)
        if isNew { tell(.pausedByRequest) }
    }

    /// Ends the pause of a person; trouble that is left ends by itself.
    /// - Returns: false if no person had paused it.
    func resumeByRequest() -> Bool {
        let (wasPaused, isOpen) = state.withLock { state in
            defer { state.requestedPause = nil }
            return (state.requestedPause != nil, state.pause.pause == nil && state.spool != nil)
        }
        guard wasPaused else { return false }
        if isOpen { shared.dispatcher.resume(name) }
        tell(.resumedByRequest)
        return true
    }

    /// Makes up for updates that the store could not take. Each job is free for the next lane then.
    func recordDeferred() throws(StoreError) {
        let updates = state.withLock { state in
            defer { state.deferred = [] }
            return state.deferred
        }
        var left = updates[...]
        while let update = left.first {
            do throws(StoreError) {
                // If the source was put away already, that shows when the job is taken again.
                if update.event != .settled { _ = try shared.store.update([update]) }
                _ = try shared.store.update([JobUpdate(update.lease, .interrupted)])
            } catch {
                state.withLock { $0.deferred += left }
                throw error
            }
            left = left.dropFirst()
        }
    }
}
