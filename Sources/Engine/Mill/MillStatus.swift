// What the drop folder knows of itself at one moment.
package import Pipeline
import Synchronization

package struct MillStatus: Sendable {
    package struct Inbox: Sendable {
        package let path: BytePath
        package let outbox: BytePath
        package let pipeline: String
        package let watching: InboxStatus
        package let pause: InboxPause?
        /// Milliseconds since 1970.
        package let pausedSince: Int
        package let isLeaving: Bool
        /// Jobs that have begun and not ended, those that wait among them.
        package let open: Int
        package let waiting: Int
        package let done: Int
        package let failed: Int
        /// How long the oldest has been waiting or under way, in milliseconds.
        package let age: Int?
    }

    package struct RecentFailure: Sendable {
        package let inbox: BytePath
        package let path: BytePath
        package let failure: Failure
        package let attempts: Int
        package let time: String
    }

    package let inboxes: [Inbox]
    package let running: [RunningJob]
    package let failures: [RecentFailure]
    package let isDraining: Bool
    package let workers: Int
    /// Workers that died, hung or were stopped.
    package let lostWorkers: Int
    package let budget: Int
    package let reserved: Int
}

extension InboxPost {
    /// - Parameter offered: when the oldest was offered that waits for its claim.
    func status(offered: Moment?) -> MillStatus.Inbox {
        state.withLock { state in
            let watching = state.watcher?.status ?? InboxStatus()
            return MillStatus.Inbox(
                path: path, outbox: state.route.inbox.outbox, pipeline: state.route.inbox.pipeline.file.name, watching: watching,
                pause: watching.pause ?? state.pause, pausedSince: watching.pause == nil ? state.pausedSince : watching.pausedSince,
                isLeaving: state.isLeaving, open: state.open.count,
                waiting: state.waiting.count, done: state.done, failed: state.failed,
                age: [state.open.values.min().map { wallClock() - $0 }, offered.map { $0.milliseconds(until: .now) }].compactMap { $0 }.max())
        }
    }
}
