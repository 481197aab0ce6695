// The status of the drop folder at one moment.
package import Pipeline
package import System

package struct DropFolderStatus: Sendable {
    package struct Inbox: Sendable {
        package let name: String
        package let path: BytePath
        package let outbox: BytePath
        package let pipeline: String
        package let watching: InboxStatus
        /// The folders for claimed, for done and for failed originals; nil until they are made.
        package let folders: (work: BytePath, done: BytePath, failed: BytePath)?
        package let pause: Pause?
        /// Milliseconds since 1970.
        package let pausedSince: Int
        /// Since when a person has paused it, whatever else keeps it from working; nil if nobody has.
        package let requestedPause: Int?
        package let isLeaving: Bool
        /// Jobs that have begun and not ended, those that wait among them.
        package let begun: Int
        /// Jobs that wait for another attempt.
        package let waiting: Int
        /// Some of them that wait because of a failure.
        package let postponed: [Postponed]
        package let done: Int
        package let failed: Int
        /// How long the oldest has been waiting or under way, in milliseconds.
        package let age: Int?
    }

    /// A source that is tried again.
    package struct Postponed: Sendable {
        package let path: BytePath
        package let failure: Failure
        package let next: Moment
    }

    package struct RecentFailure: Sendable {
        package let inbox: BytePath
        package let path: BytePath
        package let failure: Failure
        package let attempts: Int
        package let time: String
    }

    package let inboxes: [Inbox]
    /// The jobs under way, each with the path of its inbox.
    package let running: [(inbox: BytePath, job: RunningJob)]
    package let failures: [RecentFailure]
    /// Lost events of the last day, the latest last.
    package let hookLosses: [HookLoss]
    /// Events that hooks have not received yet, by inbox, with the age of the oldest in milliseconds.
    package let hooksWaiting: [(inbox: String, count: Int, age: Int)]
    package let isDraining: Bool
    package let workers: Int
    /// Workers that died, hung or lied.
    package let lostWorkers: Int
    /// Nil if there is none.
    package let cache: SharedCache.Status?
    package let budget: Int
    package let reserved: Int
}
