// The errors of a store, as sentences that say what to do.
package import Pipeline
import System

package struct StoreError: Error, Equatable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// The disk is full.
        case full
        /// Another program holds the file.
        case locked
        /// The file is no ledger, or damaged.
        case damaged
        /// Another version of this program has written it.
        case otherLayout
        /// It does not answer now, and may later: its disk or the network gives errors.
        case unreachable
        /// It cannot be used as it is.
        case inaccessible
    }

    package let kind: Kind
    package let description: String

    init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }

    /// The failure of a source that was under way.
    package var asFailure: Failure {
        switch kind {
        case .full: Failure(.diskFull, stage: "publish", description)
        case .locked, .damaged, .otherLayout, .unreachable, .inaccessible:
            Failure(.ioError, stage: "publish", description)
        }
    }
}

extension StoreError {
    /// Why an inbox pauses that cannot use its store.
    package var pauseReason: PauseReason { kind == .full ? .noSpace : .ioError }
}
