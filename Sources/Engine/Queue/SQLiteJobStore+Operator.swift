// The part of the ledger for operators: the pauses that they have asked for, and how much was done.
import GRDB

/// The sources of an inbox that ended in one hour.
package struct HistoryHour: Equatable, Sendable {
    package let inbox: String
    /// The hour of the wall clock, counted since 1970.
    package let hour: Int
    package let done: Int
    package let failed: Int
}

extension SQLiteJobStore {
    /// Hours that are kept: a week, and a day for whoever compares.
    private static let keptHours = 8 * 24

    /// Records that an inbox is to pause until somebody ends it.
    /// - Parameter since: in milliseconds since 1970.
    func recordPause(of inbox: String, since: Int) throws(StoreError) {
        try change {
            try $0.execute(sql: "INSERT OR IGNORE INTO pauses (inbox, since) VALUES (?, ?)", arguments: [inbox, since])
        }
    }

    func endPause(of inbox: String) throws(StoreError) {
        try change { try $0.execute(sql: "DELETE FROM pauses WHERE inbox = ?", arguments: [inbox]) }
    }

    /// Since when a person has paused an inbox, in milliseconds since 1970; nil if nobody has.
    func recordedPause(of inbox: String) throws(StoreError) -> Int? {
        try look { try Int.fetchOne($0, sql: "SELECT since FROM pauses WHERE inbox = ?", arguments: [inbox]) }
    }

    /// The hours of the last week in which something ended, from the oldest.
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
