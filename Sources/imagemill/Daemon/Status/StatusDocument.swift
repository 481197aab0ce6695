// The status of the daemon: the document of `imagemill status --json`. Its schema is in docs/schema/.
import Engine
import Pipeline

/// A path as documents show it: text, and the bytes if the text does not say it all.
struct ShownPath: Codable, Equatable, Sendable {
    var text: String
    var bytes: String?

    init(_ path: BytePath) { (text, bytes) = (path.text, path.percentEncodedIfNotText) }

    /// The path itself; nil if the document does not give it whole.
    var original: BytePath? { bytes.map { BytePath(percentEncoded: $0) } ?? BytePath(text) }

    /// For a terminal.
    var printable: String { oneLine(text) }
}

/// The daemon at one moment. Times are UTC, as in reports.
struct StatusDocument: Codable, Equatable, Sendable {
    enum State: String, Codable, CaseIterable, Sendable {
        case starting, running
        /// SIGTERM came: running jobs are finished, and no new ones are started.
        case draining
    }

    var schema = "imagemill.status/1"
    var version = imagemillVersion
    var process: Int
    /// The mill file.
    var mill: ShownPath?
    var state: State
    var started: String
    var uptimeSeconds: Int
    var inboxes: [Inbox] = []
    var queue = Queue()
    var inProgress: [Running] = []
    var recentFailures: [RecentFailure] = []
    var hooks = Hooks()
    var workers = Workers()
    var memory = Memory()
    /// Nil if the mill file has none.
    var cache: Cache?
    /// The file systems of all inboxes, the fullest first; nil if nobody has looked.
    var disks: [Disk]?
    var reload = Reload()

    struct Inbox: Codable, Equatable, Sendable {
        enum Watching: String, Codable, CaseIterable, Sendable { case events, poll }

        enum State: String, Codable, CaseIterable, Sendable {
            case running, paused
            /// Taken out of the configuration; what it has begun is finished.
            case leaving
        }

        var name: String
        var path: ShownPath
        var outbox: ShownPath
        var pipeline: String
        /// Where originals go; nil until the folders are made.
        var doneFolder: ShownPath?
        var failedFolder: ShownPath?
        var watching: Watching
        var state = State.running
        var paused: Pause?
        /// Since when a person has paused it, whatever else keeps it from working.
        var pausedByRequest: String?
        /// Eligible files that are in the inbox.
        var seen = 0
        var settling = 0
        /// Some of these, with the reason.
        var settlingSources: [SettlingEntry] = []
        var ready = 0
        /// The system does not let them be read or taken.
        var blocked = 0
        /// Some of these, with the reason.
        var obstacles: [Obstacle] = []
        var inProgress = 0
        /// Put off after a failure.
        var waiting = 0
        /// Some of these, with the reason.
        var waitingSources: [WaitingEntry] = []
        /// Left alone: files that are no pictures.
        var passedOver = 0
        /// Some of these, with the reason.
        var passedOverFiles: [Obstacle] = []
        /// Left alone: leftovers of other programs, links, pipes.
        var ignored = 0
        var done = 0
        /// Attempts that failed, since the ledger was made.
        var failed = 0
        /// Sources that are in the failed folder now. `imagemill status` counts them; nil if it may not read the
        /// folder.
        var failedNow: Int?
        /// How many of them have which code, as the daemon has last seen; nil if it has not looked.
        var failedCodes: [String: Int]?
        /// How long the oldest has been under way.
        var oldestSeconds: Int?
        /// Events that its hooks have not received yet.
        var hooksWaiting = 0
        /// How long the oldest of them has been waiting.
        var oldestHookSeconds: Int?
    }

    /// A source that is not complete yet.
    struct SettlingEntry: Codable, Equatable, Sendable {
        var path: ShownPath
        var reason: SettlingReason
        /// After so many seconds without a change it is decoded anyway.
        var secondsLeft: Int
    }

    /// A source that was put off after a failure.
    struct WaitingEntry: Codable, Equatable, Sendable {
        var path: ShownPath
        var code: FailureCode
        var message: String
        var remedy: String
        /// Until it is tried again.
        var secondsLeft: Int
    }

    /// A file that cannot be taken, or is no source.
    struct Obstacle: Codable, Equatable, Sendable {
        var path: ShownPath
        var message: String
    }

    struct Pause: Codable, Equatable, Sendable {
        var reason: PauseReason
        var message: String
        var since: String
    }

    struct Queue: Codable, Equatable, Sendable {
        var depth = 0
        var oldestSeconds: Int?
    }

    struct Running: Codable, Equatable, Sendable {
        var job: String
        var inbox: ShownPath
        var path: ShownPath
        var stage: String
        var attempt: Int
        var seconds: Int
    }

    struct RecentFailure: Codable, Equatable, Sendable {
        var inbox: ShownPath
        var path: ShownPath
        var code: FailureCode
        var message: String
        var remedy: String
        var attempts: Int
        var time: String
    }

    /// The events of the last 24 hours that hooks did not hear of, and never will.
    struct Hooks: Codable, Equatable, Sendable {
        struct Loss: Codable, Equatable, Sendable {
            var time: String
            var inbox: String
            /// Nil for events that were dropped.
            var event: String?
            /// Nil for a pause.
            var source: ShownPath?
            /// A sentence.
            var message: String
            var remedy: String
        }

        var lost = 0
        /// Some of these, the latest first.
        var latest: [Loss] = []
    }

    struct Workers: Codable, Equatable, Sendable {
        var total = 0
        var busy = 0
        /// Died, hung, or had grown too large.
        var replaced = 0
    }

    struct Memory: Codable, Equatable, Sendable {
        /// Memory that the supervisor itself occupies.
        var residentBytes = 0
        /// The memory that all workers together may be given.
        var budgetBytes = 0
        var reservedBytes = 0
    }

    /// A file system, once for all that is on it.
    struct Disk: Codable, Equatable, Sendable {
        /// One of the folders that are on it.
        var path: ShownPath
        var freeBytes: Int
        var totalBytes: Int
        var isLow: Bool
    }

    /// Those that somebody should make room on.
    var lowDisks: [Disk] { (disks ?? []).filter(\.isLow) }

    /// The cache of renditions.
    struct Cache: Codable, Equatable, Sendable {
        var path: ShownPath
        /// As of its last use.
        var renditions = 0
        var bytes = 0
        var boundBytes: Int
        /// Renditions that were copied from it, and that were not in it, since the start.
        var hits = 0
        var misses = 0
        /// Why it is not used.
        var trouble: String?
    }

    struct Reload: Codable, Equatable, Sendable {
        enum State: String, Codable, CaseIterable, Sendable { case never, done, refused }

        var state = State.never
        var time: String?
        /// The mistakes of a configuration that was refused.
        var diagnostics: [String] = []
    }
}
