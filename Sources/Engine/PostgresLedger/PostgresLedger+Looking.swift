// The ledger's queries, for rows as values and for sums, and the removal of old rows.
package import Pipeline
import Postgres
import System

extension PostgresLedger {
    func look<Value>(_ body: (PostgresConnection) throws -> Value) throws(StoreError) -> Value {
        try pool.transaction { connection, _ in try body(connection) }
    }

    package func nextDue(inbox: String, owner: String) throws(StoreError) -> Int? {
        try pool.run(
            """
            SELECT greatest(0, not_before - \(PostgresSchema.now)) FROM jobs WHERE inbox = $1 AND \(PostgresSchema.isOpen)
                AND (lease_until IS NULL OR lease_until <= \(PostgresSchema.now) AND owner <> $2)
            ORDER BY not_before, number LIMIT 1
            """, [.text(inbox), .text(owner)]
        ).first?.integer(0)
    }

    package func orphans(inbox: String, owner: String) throws(StoreError) -> [Job] {
        try change { connection, now in
            try connection.records("inbox = $1 AND \(PostgresSchema.isOpen) ORDER BY number", [.text(inbox)])
                .filter { $0.isOrphan(for: owner, now: now) }.map(\.job)
        }
    }

    package func job(_ id: JobID) throws(StoreError) -> Job? {
        try look { try $0.records("id = $1", [.text(id.text)]).first?.job }
    }

    package func counts() throws(StoreError) -> [String: JobCounts] {
        // One statement, so that a job that ends meanwhile is counted once.
        let rows = try pool.run(
            """
            SELECT inbox, coalesce(open, 0), coalesce(begun, 0), coalesce(waiting, 0), age, coalesce(done, 0),
                coalesce(failed, 0)
            FROM totals FULL JOIN (
                SELECT inbox, count(*) AS open, count(*) FILTER (WHERE state <> 'offered') AS begun,
                    count(*) FILTER (WHERE state = 'waiting') AS waiting,
                    greatest(0, \(PostgresSchema.now) - min(offered)) AS age
                FROM jobs WHERE \(PostgresSchema.isOpen) GROUP BY inbox) AS jobs USING (inbox)
            """)
        return rows.reduce(into: [:]) { counts, row in
            guard let inbox = row.text(0) else { return }
            counts[inbox] = JobCounts(
                open: row.integer(1) ?? 0, begun: row.integer(2) ?? 0, waiting: row.integer(3) ?? 0,
                age: row.integer(4), done: row.integer(5) ?? 0, failed: row.integer(6) ?? 0)
        }
    }

    package func recentFailures(limit: Int) throws(StoreError) -> [Job] {
        // By number: a clock that was wrong for a day must not decide for ever what is recent.
        try look {
            try $0.records("state = 'failed' ORDER BY number DESC LIMIT $1", [.integer(limit)]).map(\.job)
        }
    }

    package func kept(inbox: String) throws(StoreError) -> [BytePath: KeptOriginal] {
        let rows = try pool.run(
            "SELECT path, device, inode, bytes, modified, recipe, code FROM kept WHERE inbox = $1", [.text(inbox)])
        var kept: [BytePath: KeptOriginal] = [:]
        for row in rows {
            guard let path = row.bytes(0), let device = row.integer(1), let inode = row.integer(2),
                let bytes = row.integer(3), let modified = row.integer(4), let recipe = row.text(5)
            else { continue }
            kept[BytePath(path)] = KeptOriginal(
                observed: FileVersion(
                    signedDevice: Int64(device), signedInode: Int64(inode), bytes: bytes, modified: modified),
                recipe: recipe,
                // A code of another version is a failure all the same.
                code: row.text(6).map { FailureCode(rawValue: $0) ?? .internal })
        }
        return kept
    }

    package func forgetKept(inbox: String, paths: [BytePath]) throws(StoreError) {
        try pool.change(
            "DELETE FROM kept WHERE inbox = $1 AND path = ANY($2::bytea[])",
            [.text(inbox), .manyBytes(paths.map(\.bytes))])
    }

    // MARK: - Growth

    /// The most rows that one call removes, so that its transaction is short.
    static let prunedAtOnce = 5_000

    package func prune(keeping: Int) throws(StoreError) -> Int {
        try pruneHistory()
        return try pool.transaction { connection, _ in
            try connection.run(Self.staleReports)
            // Failures are few and worth more, so they have a share of their own.
            return try ["done", "failed"].reduce(0) { removed, state in
                try removed + connection.run(Self.prunedJobs(state), [.integer(keeping)]).changed
            }
        }
    }

    /// The words of the state, not a parameter: otherwise the index is not used.
    static func prunedJobs(_ state: String) -> String {
        """
        DELETE FROM jobs WHERE number IN (
            SELECT number FROM jobs WHERE state = '\(state)' AND number <= (
                SELECT number FROM jobs WHERE state = '\(state)' ORDER BY number DESC LIMIT 1 OFFSET $1)
            ORDER BY number LIMIT \(prunedAtOnce))
        """
    }

    /// Reports of jobs whose hook was dropped.
    private static let staleReports = """
        DELETE FROM reports
        WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE number = job AND \(PostgresSchema.isOpen))
            AND NOT EXISTS (
                SELECT 1 FROM jobs JOIN hooks ON hooks.inbox = jobs.inbox AND hooks.key = jobs.id
                WHERE jobs.number = job AND hooks.body IS NULL)
        """
}
