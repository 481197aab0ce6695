// What an inbox offers to be claimed.
package import Pipeline

/// A source that has settled. Whoever claims it finds out whether it still stands there as it was seen.
package struct ReadySource: Sendable, Equatable {
    /// The inbox' name.
    package let inbox: String
    /// The folder in which it was seen: the inbox may be another one meanwhile.
    package let root: FileIdentity
    package let relative: BytePath
    /// A folder whose files make one job together.
    package let isSet: Bool
    package let sighting: Sighting
    /// Counts up in the order of first sight, within an inbox.
    package let order: UInt64
}

/// What became of a source that was offered. Every one that was taken from the queue must be answered for.
package enum ClaimAnswer: Sendable, Equatable {
    /// It is out of the inbox, or done and kept there.
    case taken
    /// It is not there any more.
    case gone
    /// It is not what it was when it was offered; it has to settle again.
    case changed
    /// The system does not let it be taken, for this reason; it is tried again later.
    case blocked(SystemError)
    /// Nothing is wrong with it, but it cannot be taken now: offer it again after this time.
    case later(Duration)
}
