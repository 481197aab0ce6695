// A pause: why an inbox takes no sources for now.
import Glibc
import Pipeline
package import System

/// The reason for a pause. The list is closed: scripts rely on the words.
package enum PauseReason: String, CaseIterable, Sendable, Codable {
    case noSpace = "no-space"
    case ioError = "io-error"
    case readOnly = "read-only"
    case permission
    case missingInbox = "missing-inbox"
    case missingOutbox = "missing-outbox"
    /// The state folder is not where it was, or is another one.
    case missingState = "missing-state"
    case inUse = "in-use"
    /// A person has asked for it, and ends it.
    case byRequest = "by-request"

    /// The reason for a pause after an error with a folder.
    /// - Parameter missing: the reason if the folder is not there.
    init(_ error: SystemError, missing: PauseReason) {
        self =
            switch error.code {
            case ENOENT, ENOTDIR, ELOOP, ESTALE: missing
            case EACCES, EPERM: .permission
            case EROFS: .readOnly
            case ENOSPC, EDQUOT: .noSpace
            case EWOULDBLOCK: .inUse
            default: .ioError
            }
    }

    /// The remedy; nil if it depends on the case.
    fileprivate var remedy: String? {
        switch self {
        case .noSpace: "make room there"
        case .readOnly: "mount it for writing"
        case .permission: "give \(ThisUser.title) the right to it"
        case .missingInbox, .missingOutbox: "make it with mkdir -p, or mount it"
        case .missingState: "put it back, or mount it"
        case .ioError, .inUse, .byRequest: nil
        }
    }
}

/// Why an inbox takes no sources for now. The pause ends by itself when its cause is gone, unless a person has asked
/// for it.
package struct Pause: Equatable, Sendable {
    package let reason: PauseReason
    package let message: String

    package init(_ reason: PauseReason, _ message: String) {
        self.reason = reason
        self.message = message
    }

    /// The pause that a person has asked for.
    package static let byRequest = Pause(
        .byRequest, "somebody has paused it; 'imagemill resume' or the dashboard's button ends that")

    /// The pause after an error with a folder. The message says what to do about it.
    package init(_ error: SystemError, missing: PauseReason) {
        let reason = PauseReason(error, missing: missing)
        let remedy = error.isExplained ? nil : reason.remedy
        self.init(reason, error.description + (remedy.map { "; \($0)" } ?? ""))
    }

    /// The pause while there is no inbox, at the start or later.
    init(missingInbox path: BytePath) {
        self.init(.missingInbox, "the inbox '\(path.printable)' is missing; make it with mkdir -p, or mount it")
    }

    /// The pause while a file system hangs.
    init(silent folder: BytePath) {
        self.init(.ioError, "the file system of '\(folder.printable)' does not answer")
    }

    /// The pause after a folder was unmounted: the next mount would hide what is written into the folder beneath.
    init(unmounted path: BytePath, _ reason: PauseReason) {
        self.init(
            reason, "nothing is mounted at '\(path.printable)' any more; mount it again, or restart if that is intended"
        )
    }
}

/// The outcome of a request to pause an inbox, or to end its pause.
package enum PauseOutcome {
    case noSuchInbox, paused, resumed
    /// There was no pause to end that a person had asked for.
    case notPausedByRequest
}
