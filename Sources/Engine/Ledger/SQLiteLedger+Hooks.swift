// Events that hooks have not received yet, in the ledger, and those that they never will.
import FoundationEssentials
import GRDB
import Pipeline

extension SQLiteLedger {
    package func expectHook(inbox: String, key: String) throws(StoreError) {
        try change { database in
            try database.execute(
                sql: """
                    INSERT INTO hooks (inbox, event, key, attempts, not_before, created) VALUES (?, '', ?, 0, 0, ?)
                    ON CONFLICT (inbox, key) DO UPDATE SET created = excluded.created WHERE body IS NULL
                    """, arguments: [inbox, key, now])
            // The next start must be later, also after a restart of the machine.
            try clock.record(in: database)
        }
    }

    package func addHook(
        inbox: String, event: String, key: String, body: [UInt8], limit: Int
    ) throws(StoreError) -> Int {
        try change { database in
            try database.execute(
                sql: """
                    INSERT INTO hooks (inbox, event, key, body, attempts, not_before, created) VALUES (?, ?, ?, ?, 0, 0, ?)
                    ON CONFLICT (inbox, key) DO UPDATE SET event = excluded.event, body = excluded.body
                    """, arguments: [inbox, event, key, Data(body), now])
            try database.removeReport(of: key)
            // Those that are only expected hold nothing, and this one is the newest, whenever it was expected.
            let surplus =
                try (Int.fetchOne(database, sql: "SELECT count(*) FROM hooks WHERE body IS NOT NULL") ?? 0) - limit
            guard surplus > 0 else { return 0 }
            try database.execute(
                sql: """
                    DELETE FROM hooks WHERE number IN (
                        SELECT number FROM hooks WHERE body IS NOT NULL AND NOT (inbox = ? AND key = ?)
                        ORDER BY number LIMIT ?)
                    """, arguments: [inbox, key, surplus])
            return surplus
        }
    }

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

    package func nextHook() throws(StoreError) -> Int? {
        try look { database in
            let now = now
            return try Int.fetchOne(
                database, sql: "SELECT min(not_before) FROM hooks WHERE body IS NOT NULL AND not_before > ?",
                arguments: [now]
            ).map { $0 - now }
        }
    }

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

    package func removeHook(_ number: Int) throws(StoreError) {
        try change { try $0.execute(sql: "DELETE FROM hooks WHERE number = ?", arguments: [number]) }
    }

    package func removeHooks(inbox: String, event: String) throws(StoreError) -> Int {
        try change {
            try $0.execute(
                sql: "DELETE FROM hooks WHERE inbox = ? AND event = ? AND body IS NOT NULL", arguments: [inbox, event])
            return $0.changesCount
        }
    }

    package func removeHook(inbox: String, key: String) throws(StoreError) {
        // Asked for every job of an inbox without hooks, and a look is cheap.
        let isExpected = try look {
            let statement = try $0.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM hooks WHERE inbox = ? AND key = ?)")
            return try Bool.fetchOne(statement, arguments: [inbox, key]) == true
        }
        guard isExpected else { return }
        try change {
            try $0.execute(sql: "DELETE FROM hooks WHERE inbox = ? AND key = ?", arguments: [inbox, key])
            try $0.removeReport(of: key)
        }
    }

    package func postponeHook(_ number: Int, by milliseconds: Int) throws(StoreError) {
        try change {
            try $0.execute(
                sql: "UPDATE hooks SET attempts = attempts + 1, not_before = ? WHERE number = ?",
                arguments: [now + milliseconds, number])
            try clock.record(in: $0)
        }
    }

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

    package func hookLosses(since time: Int) throws(StoreError) -> [HookLoss] {
        try look { database in
            try Row.fetchAll(
                database, sql: "SELECT * FROM hook_losses WHERE time >= ? ORDER BY number", arguments: [time]
            ).map { HookLoss($0) }
        }
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

extension HookLoss {
    fileprivate init(_ row: Row) {
        let call = (row["event"] as String?).map { event in
            HookCall(
                event: event, source: (row["source"] as Data?).map { BytePath(blob: $0) }, action: row["action"] ?? "")
        }
        self.init(time: row["time"], inbox: row["inbox"], call: call, count: row["count"], reason: row["reason"])
    }
}
