// An offer: a source that intake considers complete, and the queue's answer to it.
package import Pipeline
package import System

/// A source that is complete, as far as the inbox can tell. Whoever claims it checks that it is still the same.
package struct Offer: Sendable, Equatable {
    /// The inbox's name.
    package let inbox: String
    /// The folder in which the source was seen: another folder may have been put in its place since.
    package let root: FileIdentity
    /// The source's path from the inbox.
    package let path: BytePath
    /// It is a folder whose files make one job together.
    package let isSet: Bool
    package let status: FileStatus
    /// Counts up in the order in which the inbox first saw its sources.
    package let order: UInt64

    package init(inbox: String, root: FileIdentity, path: BytePath, isSet: Bool, status: FileStatus, order: UInt64) {
        self.inbox = inbox
        self.root = root
        self.path = path
        self.isSet = isSet
        self.status = status
        self.order = order
    }
}

/// The answer to an offer: what happened to the source. Every offer must be answered once.
package enum OfferAnswer: Sendable, Equatable {
    /// It was moved out of the inbox, or it is done and stays there.
    case taken
    /// It is not there any more.
    case gone
    /// It has changed since it was offered; it has to settle again.
    case changed
    /// The system refuses to let it be taken, for this reason; it is offered again later.
    case blocked(SystemError)
    /// Nothing is wrong with it, but it cannot be taken now: offer it again after this time.
    case later(Duration)
}
