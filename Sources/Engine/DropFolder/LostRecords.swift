// Warnings at the start when the ledger or the identity of an earlier start is lost.
import Glibc
import Pipeline
import Synchronization
import System

/// Whether the identity and the ledger were made at this start, and what that means if there are renditions already.
/// For any thread.
final class LostRecords: Sendable {
    private let state: BytePath
    private let identity: String
    private let hasNewIdentity: Bool
    private let hasNewLedger: Bool
    /// Looked into already: several inboxes may share one.
    private let outboxes = Mutex<Set<BytePath>>([])

    /// So many files of an outbox are looked at.
    private static let most = 2_000

    init(state: BytePath, identity: String, hasNewIdentity: Bool, hasNewLedger: Bool) {
        (self.state, self.identity) = (state, identity)
        (self.hasNewIdentity, self.hasNewLedger) = (hasNewIdentity, hasNewLedger)
    }

    /// The identity is written when the ledger is there, so one that is older has lost its ledger.
    var sentence: String? {
        guard hasNewLedger, !hasNewIdentity else { return nil }
        return
            "the ledger of '\(state.printable)' was lost, and a new one is used: what is in work/ is taken up, but what was paused by request "
            + "is not, originals that stay in their inbox are rendered again, and ages in done/ and failed/ begin anew; to use the old one, "
            + "stop this, put the ledger back and start again"
    }

    /// Looks into an outbox, once. Waits for its file system.
    /// - Returns: nil if there is nothing to say.
    func sentence(outbox: BytePath) -> String? {
        guard hasNewIdentity, outboxes.withLock({ $0.insert(outbox).inserted }) else { return nil }
        guard let name = rendition(in: outbox) else { return nil }
        return
            "the state folder '\(state.printable)' is new, but the outbox '\(outbox.printable)' has renditions that another state folder knows, "
            + "such as '\(name.printable)'; if that was this one, stop this and put the old one back, or its file 'identity' at least: without "
            + "it, what is dropped again gets other names (-2) beside them"
    }

    /// A file that another drop folder has written, among the first ones.
    private func rendition(in outbox: BytePath) -> BytePath? {
        guard let root = try? Directory(outbox) else { return nil }
        var (left, found) = (Self.most, BytePath?.none)
        _ = try? root.walk((), trouble: { _, _ in }) { entry in
            let attribute = entry.folder.attribute(FileOrigin.attribute, of: entry.name)
            if let origin = attribute.flatMap(FileOrigin.init(encoded:)), origin.writer != identity,
                origin.writer != Outbox.runWriter
            {
                found = entry.path
            }
            left -= 1
            return found == nil && left > 0 ? .into(()) : .end
        }
        return found
    }
}
