// Events that a hook did not hear of and never will, kept for a day so that somebody can do by hand what it would have
// done.
import FoundationEssentials
import GRDB
package import Pipeline

/// One call of a hook, as people know it.
package struct HookCall: Equatable, Sendable {
    /// A word of `HookEvent`.
    package let event: String
    /// Nil for a pause.
    package let source: BytePath?
    /// The program or the address, without what may be secret.
    package let action: String

    package init(event: String, source: BytePath?, action: String) {
        (self.event, self.source, self.action) = (event, source, action)
    }
}

/// An event that was given up, or several that were dropped.
package struct HookLoss: Equatable, Sendable {
    /// Milliseconds since 1970.
    package let time: Int
    package let inbox: String
    /// Nil for events that were dropped, because too many were waiting.
    package let call: HookCall?
    package let count: Int
    package let reason: String

    package init(time: Int, inbox: String, call: HookCall?, count: Int = 1, reason: String) {
        (self.time, self.inbox, self.call, self.count, self.reason) = (time, inbox, call, count, reason)
    }

    /// What to do about it, in a sentence.
    package var remedy: String {
        call == nil
            ? "find out why the hooks of this inbox take so long, and do by hand what they would have done"
            : "repair the hook, and do by hand what it would have done: it is not called again for this event"
    }

    /// So long is it known, in milliseconds.
    package static let memory = 86_400_000
    /// So many are known at most.
    package static let most = 1_000
}

extension SQLiteJobStore {
    package func record(_ loss: HookLoss) throws(StoreError) {
        try change { database in
            try database.execute(
                sql: """
                    INSERT INTO hook_losses (time, inbox, event, source, action, count, reason) VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    loss.time, loss.inbox, loss.call?.event, loss.call?.source?.blob, loss.call?.action, loss.count,
                    loss.reason,
                ])
            try database.execute(
                // By number, since a clock can jump.
                sql: "DELETE FROM hook_losses WHERE number <= ?",
                arguments: [database.lastInsertedRowID - Int64(HookLoss.most)])
        }
    }

    /// The losses since a time, the latest last.
    /// - Parameter time: in milliseconds since 1970.
    package func hookLosses(since time: Int) throws(StoreError) -> [HookLoss] {
        try look { database in
            try Row.fetchAll(
                database, sql: "SELECT * FROM hook_losses WHERE time >= ? ORDER BY number", arguments: [time]
            ).map { HookLoss($0) }
        }
    }
}

extension HookLoss {
    fileprivate init(_ row: Row) {
        let call = (row["event"] as String?).map { event in
            HookCall(
                event: event, source: (row["source"] as Data?).map { BytePath(blob: $0) }, action: row["action"] ?? "")
        }
        self.init(time: row["time"], inbox: row["inbox"], call: call, count: row["count"], reason: row["reason"])
    }
}
