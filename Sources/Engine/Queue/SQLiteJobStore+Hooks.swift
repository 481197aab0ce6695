// Events that hooks have not received yet, kept in the ledger, so that a restart loses none.
import FoundationEssentials
import GRDB
import Pipeline

/// An event that a hook has not received yet.
package struct HookRecord: Equatable, Sendable {
    package let number: Int
    package let inbox: String
    /// What happened; a word of `HookEvent`.
    package let event: String
    /// The job's id, or the id of a pause. Unique in an inbox.
    package let key: String
    /// The document.
    package let body: [UInt8]
    /// How often it was tried.
    package let attempts: Int
    /// In the ledger's time.
    package let created: Int
}

/// Events of one inbox that its hooks have not received yet.
package struct WaitingHooks: Equatable, Sendable {
    package let inbox: String
    package let count: Int
    /// When the oldest happened, in the ledger's time.
    let created: Int

    package init(inbox: String, count: Int, created: Int) {
        (self.inbox, self.count, self.created) = (inbox, count, created)
    }
}

extension SQLiteJobStore {
    /// What is kept at most; of more, the oldest is dropped.
    static let mostHooks = 10_000

    /// Records that a job with a hook is about to end. `addHook` adds the event; if the program is killed before,
    /// `forgottenHooks` finds the job.
    package func expectHook(inbox: String, key: String) throws(StoreError) {
        try change { database in
            try database.execute(
                sql: """
                    INSERT INTO hooks (inbox, event, key, attempts, not_before, created) VALUES (?, '', ?, 0, 0, ?)
                    ON CONFLICT (inbox, key) DO UPDATE SET created = excluded.created WHERE body IS NULL
                    """, arguments: [inbox, key, now])
            // The next start must be later, also after a restart of the machine.
            try clock.record(database)
        }
    }

    /// Records an event.
    /// - Returns: how many others were dropped because there are too many.
    @discardableResult
    package func addHook(inbox: String, event: String, key: String, body: [UInt8], limit: Int = mostHooks)
        throws(StoreError) -> Int
    {
        try change { database in
            try database.execute(
                sql: """
                    INSERT INTO hooks (inbox, event, key, body, attempts, not_before, created) VALUES (?, ?, ?, ?, 0, 0, ?)
                    ON CONFLICT (inbox, key) DO UPDATE SET event = excluded.event, body = excluded.body
                    """, arguments: [inbox, event, key, Data(body), now])
            try database.removeReport(of: key)
            let surplus = try (Int.fetchOne(database, sql: "SELECT count(*) FROM hooks") ?? 0) - limit
            guard surplus > 0 else { return 0 }
            try database.execute(
                sql: "DELETE FROM hooks WHERE number IN (SELECT number FROM hooks ORDER BY number LIMIT ?)",
                arguments: [surplus])
            return surplus
        }
    }

    /// The events that are due, oldest first. A slow hook of one inbox does not delay those of others.
    /// - Parameter count: so many of each inbox.
    package func dueHooks(ofEachInbox count: Int) throws(StoreError) -> [HookRecord] {
        try look { database in
            // The inner part is answered by the index, without the documents.
            let sql = """
                SELECT * FROM hooks WHERE number IN (
                    SELECT number FROM (
                        SELECT number, row_number() OVER (PARTITION BY inbox ORDER BY not_before, number) AS place
                        FROM hooks WHERE body IS NOT NULL AND not_before <= ?)
                    WHERE place <= ?)
                ORDER BY not_before, number
                """
            return try Row.fetchAll(database, sql: sql, arguments: [now, count]).map(HookRecord.init)
        }
    }

    /// When the next one is due that is not yet, in the ledger's time.
    package func nextHook() throws(StoreError) -> Int? {
        try look { database in
            try Int.fetchOne(
                database, sql: "SELECT min(not_before) FROM hooks WHERE body IS NOT NULL AND not_before > ?",
                arguments: [now])
        }
    }

    /// The events that were not delivered yet, by inbox. Neither the documents nor all records are read.
    package func waitingHooks() throws(StoreError) -> [WaitingHooks] {
        try look { database in
            let sql = """
                SELECT waiting.inbox, waiting.count, hooks.created
                FROM (SELECT inbox, count(*) AS count, min(number) AS oldest FROM hooks WHERE body IS NOT NULL GROUP BY inbox)
                    AS waiting JOIN hooks ON hooks.number = waiting.oldest
                ORDER BY waiting.inbox
                """
            return try Row.fetchAll(database, sql: sql).map {
                WaitingHooks(inbox: $0["inbox"], count: $0["count"], created: $0["created"])
            }
        }
    }

    /// Removes an event that was delivered or given up.
    package func removeHook(_ number: Int) throws(StoreError) {
        try change { try $0.execute(sql: "DELETE FROM hooks WHERE number = ?", arguments: [number]) }
    }

    /// Removes the record of a job that turns out to have no hook for its outcome.
    package func removeHook(inbox: String, key: String) throws(StoreError) {
        try change {
            try $0.execute(sql: "DELETE FROM hooks WHERE inbox = ? AND key = ?", arguments: [inbox, key])
            try $0.removeReport(of: key)
        }
    }

    /// It is tried again later.
    /// - Parameter time: in the ledger's time.
    package func postponeHook(_ number: Int, until time: Int) throws(StoreError) {
        try change {
            try $0.execute(
                sql: "UPDATE hooks SET attempts = attempts + 1, not_before = ? WHERE number = ?",
                arguments: [time, number])
            try clock.record($0)
        }
    }

    /// The jobs that ended without an event being recorded, because the program was killed.
    /// - Parameter time: of this start: what is expected since is still to be noted.
    package func forgottenHooks(before time: Int) throws(StoreError) -> [Job] {
        let keys = try look {
            try String.fetchAll($0, sql: "SELECT key FROM hooks WHERE body IS NULL AND created < ?", arguments: [time])
        }
        var jobs: [Job] = []
        for key in keys {
            guard let id = JobID(Array(key.utf8)), let job = try job(id) else {
                // Nothing is known of it any more.
                try change { try $0.execute(sql: "DELETE FROM hooks WHERE body IS NULL AND key = ?", arguments: [key]) }
                continue
            }
            // One that is still open ends later, and gets its hook then.
            if !job.progress.state.isOpen { jobs.append(job) }
        }
        return jobs
    }
}

extension HookRecord {
    fileprivate init(_ row: Row) {
        self.init(
            number: row["number"], inbox: row["inbox"], event: row["event"], key: row["key"],
            body: [UInt8](row["body"] as Data),
            attempts: row["attempts"], created: row["created"])
    }
}
