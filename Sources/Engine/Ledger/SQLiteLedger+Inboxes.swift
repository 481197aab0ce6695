// The drop folder's identity, its inboxes, the pauses that operators have asked for, and how much was done.
import FoundationEssentials
import GRDB
package import Pipeline

extension SQLiteLedger {
    /// Hours that are kept: a week, and a day for whoever compares.
    private static let keptHours = 8 * 24

    package func identity() throws(StoreError) -> String? {
        try look { try String.fetchOne($0, sql: "SELECT text FROM identity") }
    }

    package func record(identity: String) throws(StoreError) {
        try change { database in
            try database.execute(sql: "DELETE FROM identity")
            try database.execute(sql: "INSERT INTO identity (text) VALUES (?)", arguments: [identity])
        }
    }

    package func record(inboxes: [BytePath: String], running: Set<String>) throws(StoreError) {
        try change { try LedgerInboxes.record(inboxes, running: running, $0) }
    }

    package func formerPaths(inbox: String) throws(StoreError) -> [BytePath] {
        try look {
            try Data.fetchAll($0, sql: "SELECT path FROM former_paths WHERE inbox = ?", arguments: [inbox]).map {
                BytePath(blob: $0)
            }
        }
    }

    package func recordPause(of inbox: String, since: Int) throws(StoreError) {
        try change {
            try $0.execute(sql: "INSERT OR IGNORE INTO pauses (inbox, since) VALUES (?, ?)", arguments: [inbox, since])
        }
    }

    package func endPause(of inbox: String) throws(StoreError) {
        try change { try $0.execute(sql: "DELETE FROM pauses WHERE inbox = ?", arguments: [inbox]) }
    }

    package func recordedPause(of inbox: String) throws(StoreError) -> Int? {
        try look { try Int.fetchOne($0, sql: "SELECT since FROM pauses WHERE inbox = ?", arguments: [inbox]) }
    }

    package func history() throws(StoreError) -> [HistoryHour] {
        try look { database in
            let rows = try Row.fetchAll(
                database, sql: "SELECT * FROM history WHERE hour > ? AND hour <= ? ORDER BY hour, inbox",
                arguments: [clock.hour - 7 * 24, clock.hour])
            return rows.map {
                HistoryHour(inbox: $0["inbox"], hour: $0["hour"], done: $0["done"], failed: $0["failed"])
            }
        }
    }

    /// Leaves each inbox its newest hours. They are counted: a time of day that is wrong for a while removes nothing.
    /// Those of a time of day that was ahead are counted apart, so that they take the place of no others.
    func pruneHistory(_ database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM history WHERE (inbox, hour) IN (
                    SELECT inbox, hour FROM (
                        SELECT inbox, hour, row_number() OVER (
                            PARTITION BY inbox, hour > :now ORDER BY abs(hour - :now)) AS place
                        FROM history)
                    WHERE place > :kept)
                """,
            arguments: ["now": clock.hour, "kept": Self.keptHours])
    }
}
