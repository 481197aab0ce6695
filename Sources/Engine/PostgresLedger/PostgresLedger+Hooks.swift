// Events that hooks have not received yet, in the ledger, and those that they never will.
import Pipeline
import Postgres

extension PostgresLedger {
    package func expectHook(inbox: String, key: String) throws(StoreError) {
        try pool.change(
            """
            INSERT INTO hooks (inbox, event, key, attempts, not_before, created) VALUES ($1, '', $2, 0, 0, \(PostgresSchema.now))
            ON CONFLICT (inbox, key) DO UPDATE SET created = excluded.created WHERE hooks.body IS NULL
            """, [.text(inbox), .text(key)])
    }

    package func addHook(
        inbox: String, event: String, key: String, body: [UInt8], limit: Int
    ) throws(StoreError) -> Int {
        try pool.transaction { connection, _ in
            try connection.run(
                """
                INSERT INTO hooks (inbox, event, key, body, attempts, not_before, created)
                VALUES ($1, $2, $3, $4, 0, 0, \(PostgresSchema.now))
                ON CONFLICT (inbox, key) DO UPDATE SET event = excluded.event, body = excluded.body
                """, [.text(inbox), .text(event), .text(key), .bytes(body)])
            try connection.run(Self.removeReport, [.text(key)])
            // Those that are only expected hold nothing, and this one is the newest, whenever it was expected.
            let count = try connection.run("SELECT count(*) FROM hooks WHERE body IS NOT NULL").first?.integer(0) ?? 0
            guard count > limit else { return 0 }
            return try connection.run(
                """
                DELETE FROM hooks WHERE number IN (
                    SELECT number FROM hooks WHERE body IS NOT NULL AND NOT (inbox = $1 AND key = $2)
                    ORDER BY number LIMIT $3)
                """, [.text(inbox), .text(key), .integer(count - limit)]
            ).changed
        }
    }

    private static let removeReport = "DELETE FROM reports WHERE job = (SELECT number FROM jobs WHERE id = $1)"

    package func dueHooks(ofEachInbox count: Int) throws(StoreError) -> [HookRecord] {
        // The inner part is answered by the index, without the documents.
        try pool.run(
            """
            SELECT number, inbox, event, key, body, attempts, created FROM hooks WHERE number IN (
                SELECT number FROM (
                    SELECT number, row_number() OVER (PARTITION BY inbox ORDER BY not_before, number) AS place
                    FROM hooks WHERE body IS NOT NULL AND not_before <= \(PostgresSchema.now)) AS due
                WHERE place <= $1)
            ORDER BY not_before, number
            """, [.integer(count)]
        ).compactMap { HookRecord($0) }
    }

    package func nextHook() throws(StoreError) -> Int? {
        try pool.run(
            """
            SELECT min(not_before) - \(PostgresSchema.now) FROM hooks
            WHERE body IS NOT NULL AND not_before > \(PostgresSchema.now)
            """
        ).first?.integer(0)
    }

    package func waitingHooks() throws(StoreError) -> [WaitingHooks] {
        try pool.run(
            """
            SELECT waiting.inbox, waiting.count, hooks.created
            FROM (SELECT inbox, count(*) AS count, min(number) AS oldest FROM hooks WHERE body IS NOT NULL GROUP BY inbox)
                AS waiting JOIN hooks ON hooks.number = waiting.oldest
            ORDER BY waiting.inbox
            """
        ).compactMap { row in
            guard let inbox = row.text(0), let count = row.integer(1), let created = row.integer(2) else { return nil }
            return WaitingHooks(inbox: inbox, count: count, created: created)
        }
    }

    package func removeHook(_ number: Int) throws(StoreError) {
        try pool.change("DELETE FROM hooks WHERE number = $1", [.integer(number)])
    }

    package func removeHooks(inbox: String, event: String) throws(StoreError) -> Int {
        try pool.change(
            "DELETE FROM hooks WHERE inbox = $1 AND event = $2 AND body IS NOT NULL", [.text(inbox), .text(event)]
        ).changed
    }

    package func removeHook(inbox: String, key: String) throws(StoreError) {
        try pool.transaction { connection, _ in
            let removed = try connection.run(
                "DELETE FROM hooks WHERE inbox = $1 AND key = $2", [.text(inbox), .text(key)])
            if removed.changed > 0 { try connection.run(Self.removeReport, [.text(key)]) }
        }
    }

    package func postponeHook(_ number: Int, by milliseconds: Int) throws(StoreError) {
        try pool.change(
            "UPDATE hooks SET attempts = attempts + 1, not_before = \(PostgresSchema.now) + $2::bigint WHERE number = $1",
            [.integer(number), .integer(milliseconds)])
    }

    package func forgottenHooks(before time: Int) throws(StoreError) -> [Job] {
        let keys = try pool.run(
            "SELECT key FROM hooks WHERE body IS NULL AND created < $1", [.integer(time)]
        ).compactMap { $0.text(0) }
        var jobs: [Job] = []
        for key in keys {
            guard let id = JobID(Array(key.utf8)), let job = try job(id) else {
                // Nothing is known of it any more.
                try pool.change("DELETE FROM hooks WHERE body IS NULL AND key = $1", [.text(key)])
                continue
            }
            // One that is still open ends later, and gets its hook then.
            if !job.progress.state.isOpen { jobs.append(job) }
        }
        return jobs
    }

    package func record(_ loss: HookLoss) throws(StoreError) {
        try pool.transaction { connection, _ in
            try connection.run(
                "INSERT INTO hook_losses (time, inbox, event, source, action, count, reason) VALUES ($1, $2, $3, $4, $5, $6, $7)",
                [
                    .integer(loss.time), .text(loss.inbox), (loss.call?.event).map(PostgresValue.text),
                    (loss.call?.source?.bytes).map(PostgresValue.bytes), (loss.call?.action).map(PostgresValue.text),
                    .integer(loss.count), .text(loss.reason),
                ])
            // By number, since a clock can jump.
            try connection.run(
                "DELETE FROM hook_losses WHERE number <= (SELECT max(number) FROM hook_losses) - $1::bigint",
                [.integer(HookLoss.most)])
        }
    }

    package func hookLosses(since time: Int) throws(StoreError) -> [HookLoss] {
        try pool.run(
            "SELECT time, inbox, event, source, action, count, reason FROM hook_losses WHERE time >= $1 ORDER BY number",
            [.integer(time)]
        ).compactMap { row in
            guard let time = row.integer(0), let inbox = row.text(1), let count = row.integer(5),
                let reason = row.text(6)
            else { return nil }
            let call = row.text(2).map {
                HookCall(event: $0, source: row.bytes(3).map { BytePath($0) }, action: row.text(4) ?? "")
            }
            return HookLoss(time: time, inbox: inbox, call: call, count: count, reason: reason)
        }
    }
}

extension HookRecord {
    /// - Parameter row: number, inbox, event, key, body, attempts, created.
    fileprivate init?(_ row: PostgresRow) {
        guard let number = row.integer(0), let inbox = row.text(1), let event = row.text(2), let key = row.text(3),
            let body = row.bytes(4), let attempts = row.integer(5), let created = row.integer(6)
        else { return nil }
        self.init(
            number: number, inbox: inbox, event: event, key: key, body: body, attempts: attempts, created: created)
    }
}
