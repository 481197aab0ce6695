// The ledger's queries, for rows as values and for sums, and the removal of old rows.
package import Pipeline
import Postgres
import System

extension PostgresLedger {
    func look<Value>(_ body: (PostgresConnection) throws -> Value) throws(StoreError) -> Value {
        try pool.transaction(body)
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
        try look { connection in
            var counts: [String: JobCounts] = [:]
            for row in try connection.run("SELECT inbox, done, failed FROM totals") {
                guard let inbox = row.text(0) else { continue }
                counts[inbox] = JobCounts(done: row.integer(1) ?? 0, failed: row.integer(2) ?? 0)
            }
            let open = try connection.run(
                """
                SELECT inbox, count(*), count(*) FILTER (WHERE state <> 'offered'),
                    count(*) FILTER (WHERE state = 'waiting'), greatest(0, \(PostgresSchema.now) - min(offered))
                FROM jobs WHERE \(PostgresSchema.isOpen) GROUP BY inbox
                """)
            for row in open {
                guard let inbox = row.text(0) else { continue }
                counts[inbox, default: JobCounts()].open = row.integer(1) ?? 0
                counts[inbox]?.begun = row.integer(2) ?? 0
                counts[inbox]?.waiting = row.integer(3) ?? 0
                counts[inbox]?.age = row.integer(4)
            }
            return counts
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
        try pool.run(
            "DELETE FROM kept WHERE inbox = $1 AND path = ANY($2::bytea[])",
            [.text(inbox), .manyBytes(paths.map(\.bytes))])
    }

    // MARK: - Growth

    /// Rows that one call removes at most, so that nobody waits for long.
    static let prunedAtOnce = 5_000

    package func prune(keeping: Int) throws(StoreError) -> Int {
        try pruneHistory()
        return try pool.transaction { connection in
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
