// What an inbox says of itself, to the status and to the log.
import Glibc
package import Pipeline

/// How an inbox learns of what arrives.
package enum WatchingHow: Equatable, Sendable {
    case events(folders: Int)
    /// By looking, with the reason in the user's words.
    case polling(every: Duration, because: String)

    package var sentence: String {
        switch self {
        case .events: "by events"
        case .polling(let time, let reason): "by looking every \(time.written): \(reason)"
        }
    }
}

/// Why an inbox takes nothing for now. The list is closed: scripts rely on the words.
package enum PauseReason: String, CaseIterable, Sendable, Codable {
    case noSpace = "no-space"
    case ioError = "io-error"
    case readOnly = "read-only"
    case permission
    case missingInbox = "missing-inbox"
    case missingOutbox = "missing-outbox"

    /// The reason that trouble with a folder brings.
    /// - Parameter missing: where it is not there.
    init(_ error: SystemError, missing: PauseReason) {
        self =
            switch error.code {
            case ENOENT, ENOTDIR, ELOOP, ESTALE: missing
            case EACCES, EPERM: .permission
            case EROFS: .readOnly
            case ENOSPC, EDQUOT: .noSpace
            default: .ioError
            }
    }
}

/// Why nothing is taken from an inbox for now. It ends by itself when the reason does.
package struct InboxPause: Equatable, Sendable {
    package let reason: PauseReason
    package let message: String

    package init(_ reason: PauseReason, _ message: String) {
        self.reason = reason
        self.message = message
    }

    /// The pause that trouble with a folder brings.
    package init(_ error: SystemError, missing: PauseReason) {
        self.init(PauseReason(error, missing: missing), error.description)
    }

    /// The pause of a folder that was a mount: what is written beneath would be hidden by the next one.
    init(unmounted path: BytePath, _ reason: PauseReason) {
        self.init(reason, "nothing is mounted at '\(path.printable)' any more; mount it again, or restart if that is as it should be")
    }
}

/// What an inbox knows at one moment.
package struct InboxStatus: Sendable {
    /// nil until the inbox was there for the first time.
    package var how: WatchingHow?
    package var pause: InboxPause?
    /// Milliseconds since 1970.
    package var pausedSince = 0
    package var counts = TrackerCounts()
    /// Names that the last whole scan passed over.
    package var ignored = 0
    /// Links, pipes, sockets and devices that were met.
    package var irregular = 0
    /// Some of those that cannot be taken, with the reason.
    package var blocked: [(path: BytePath, reason: SystemError)] = []
    package var isScanning = false
    /// Whole scans that came to their end.
    package var scans = 0
    /// How often the kernel dropped events.
    package var overflows = 0
    /// When the inbox' thread last went round: at most a few seconds ago, unless it hangs in its file system.
    package var lastTurn = Moment(nanoseconds: 0)

    package init() {}
}

/// Something that a person may want to read in the log, once.
package enum WatchNote: Equatable, Sendable {
    case watching(WatchingHow)
    case paused(InboxPause)
    case resumed
    case overflow
    case irregular(BytePath, Sighting.Kind)
    case unreadable(BytePath, SystemError)
    /// A file that the system does not let be read or taken.
    case blocked(BytePath, SystemError)
    /// A file beside the folders of an inbox that takes sets.
    case loose(BytePath)

    package var isWarning: Bool {
        switch self {
        case .watching, .resumed: false
        case .paused, .overflow, .irregular, .unreadable, .blocked, .loose: true
        }
    }

    package var sentence: String {
        switch self {
        case .watching(let how): "watching \(how.sentence)"
        case .paused(let pause): "paused: \(pause.message)"
        case .resumed: "resumed"
        case .overflow: "the kernel dropped events; looking through the whole inbox"
        case .irregular(let path, .link): "left alone '\(path.printable)': it is a link, and links are not followed"
        case .irregular(let path, _): "left alone '\(path.printable)': it is a pipe, a socket or a device"
        case .blocked(let path, let error): "cannot take '\(path.printable)': \(error.reason); it is looked at again"
        case .loose(let path): "left alone '\(path.printable)': the pipeline takes sets; put it into a folder with the others of its set"
        case .unreadable(let path, let error):
            "cannot look into \(path.bytes.isEmpty ? "the inbox" : "'\(path.printable)'"): \(error.reason)"
        }
    }
}
