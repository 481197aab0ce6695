// The drop folder's identity, its inboxes, the pauses that operators have asked for, and how much was done.
package import Pipeline
import Postgres

extension PostgresLedger {
    /// Hours that are kept: a week, and a day for whoever compares.
    private static let keptHours = 8 * 24
    private static let presentHour = "\(PostgresSchema.now) / 3600000"

    package func identity() throws(StoreError) -> String? {
        try pool.run("SELECT text FROM identity").first?.text(0)
    }

    /// The first one counts: another machine may be as quick.
    package func record(identity: String) throws(StoreError) {
        try pool.change("INSERT INTO identity (text) VALUES ($1) ON CONFLICT DO NOTHING", [.text(identity)])
    }

    /// An inbox is known by its name: its path may be another one on each machine.
    package func record(inboxes: [BytePath: String], running: Set<String>) throws(StoreError) {
        try pool.change(
            "INSERT INTO inboxes (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING",
            [.texts(inboxes.values.sorted())])
    }

    package func formerPaths(inbox: String) throws(StoreError) -> [BytePath] { [] }

    package func recordPause(of inbox: String, since: Int) throws(StoreError) {
        try pool.change(
            "INSERT INTO pauses (inbox, since) VALUES ($1, $2) ON CONFLICT DO NOTHING", [.text(inbox), .integer(since)])
    }

    package func endPause(of inbox: String) throws(StoreError) {
        try pool.change("DELETE FROM pauses WHERE inbox = $1", [.text(inbox)])
    }

    package func recordedPause(of inbox: String) throws(StoreError) -> Int? {
        try pool.run("SELECT since FROM pauses WHERE inbox = $1", [.text(inbox)]).first?.integer(0)
    }

    package func history() throws(StoreError) -> [HistoryHour] {
        try pool.run(
            """
            SELECT inbox, hour, done, failed FROM history
            WHERE hour > \(Self.presentHour) - 168 AND hour <= \(Self.presentHour) ORDER BY hour, inbox
            """
        ).compactMap { row in
            guard let inbox = row.text(0), let hour = row.integer(1), let done = row.integer(2),
                let failed = row.integer(3)
            else { return nil }
            return HistoryHour(inbox: inbox, hour: hour, done: done, failed: failed)
        }
    }

    /// Leaves each inbox its newest hours. They are counted: a time of day that is wrong for a while removes nothing.
    func pruneHistory() throws(StoreError) {
        try pool.change(
            """
            DELETE FROM history WHERE (inbox, hour) IN (
                SELECT inbox, hour FROM (
                    SELECT inbox, hour, row_number() OVER (
                        PARTITION BY inbox, hour > \(Self.presentHour) ORDER BY abs(hour - \(Self.presentHour))) AS place
                    FROM history) AS hours
                WHERE place > \(Self.keptHours))
            """)
    }
}
