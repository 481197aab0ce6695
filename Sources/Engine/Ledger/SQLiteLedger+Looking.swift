// The ledger's queries, for rows as values and for sums, and the removal of old rows.
import FoundationEssentials
import GRDB
package import Pipeline
import System

extension SQLiteLedger {
    package func nextDue(inbox: String, owner: String) throws(StoreError) -> Int? {
        try look { database in
            let now = now
            return try database.records(Self.freeJobs, [inbox, Int.max, now, owner, 1]).first.map {
                max(0, $0.job.progress.notBefore - now)
            }
        }
    }

    package func orphans(inbox: String, owner: String) throws(StoreError) -> [Job] {
        try look { database in
            let now = now
            return try database.records("inbox = ? AND \(LedgerSchema.isOpen) ORDER BY number", [inbox])
                .filter { $0.isOrphan(for: owner, now: now) }.map(\.job)
        }
    }

    package func job(_ id: JobID) throws(StoreError) -> Job? {
        try look { try $0.record("id = ?", [id.text])?.job }
    }

    package func counts() throws(StoreError) -> [String: JobCounts] {
        try look { database in
            let open = try Row.fetchAll(
                database,
                sql: """
                    SELECT inbox, count(*) AS open, sum(state <> 'offered') AS begun, sum(state = 'waiting') AS waiting,
                        min(offered) AS oldest FROM jobs
                    WHERE \(LedgerSchema.isOpen) GROUP BY inbox
                    """)
            let ended = try Row.fetchAll(database, sql: "SELECT inbox, done, failed FROM totals")
            var counts = Dictionary(
                uniqueKeysWithValues: ended.map { row in
                    (row["inbox"] as String, JobCounts(done: row["done"], failed: row["failed"]))
                })
            let now = now
            for row in open {
                let inbox: String = row["inbox"]
                counts[inbox, default: JobCounts()].open = row["open"]
                counts[inbox]?.begun = row["begun"]
                counts[inbox]?.waiting = row["waiting"]
                counts[inbox]?.age = max(0, now - row["oldest"])
            }
            return counts
        }
    }

    package func recentFailures(limit: Int) throws(StoreError) -> [Job] {
        // By number: a clock that was wrong for a day must not decide for ever what is recent.
        try look { try $0.records("state = 'failed' ORDER BY number DESC LIMIT ?", [limit]).map(\.job) }
    }

    package func kept(inbox: String) throws(StoreError) -> [BytePath: KeptOriginal] {
        try look { database in
            let rows = try Row.fetchCursor(database, sql: "SELECT * FROM kept WHERE inbox = ?", arguments: [inbox])
            var kept: [BytePath: KeptOriginal] = [:]
            while let row = try rows.next() {
                kept[BytePath(blob: row["path"])] = KeptOriginal(
                    observed: FileVersion(
                        signedDevice: row["device"], signedInode: row["inode"], bytes: row["bytes"],
                        modified: row["modified"]),
                    recipe: row["recipe"],
                    // A code of another version is a failure all the same.
                    code: (row["code"] as String?).map { FailureCode(rawValue: $0) ?? .internal })
            }
            return kept
        }
    }

    package func forgetKept(inbox: String, paths: [BytePath]) throws(StoreError) {
        try change { database in
            let delete = try database.cachedStatement(sql: "DELETE FROM kept WHERE inbox = ? AND path = ?")
            for path in paths { try delete.execute(arguments: [inbox, path.blob]) }
        }
    }

    // MARK: - Time

    package func recordTime() throws(StoreError) {
        if try look({ try Bool.fetchOne($0, sql: Self.hasLaterTimes) ?? false }) {
            try change { try clock.record(in: $0) }
        }
    }

    private static let hasLaterTimes = """
        SELECT EXISTS (SELECT 1 FROM jobs, clock WHERE \(LedgerSchema.isOpen) AND not_before > time)
            OR EXISTS (SELECT 1 FROM hooks, clock WHERE not_before > time)
        """

    // MARK: - Growth

    /// Rows, and pages of the file, that one call removes at most, so that nobody waits for long.
    static let prunedAtOnce = 5_000

    package func prune(keeping: Int) throws(StoreError) -> Int {
        let removed = try change { database in
            // Failures are few and worth more, so they have a share of their own.
            try pruneHistory(database)
            try database.execute(sql: Self.staleReports)
            return try [JobState.done, .failed].map { try prune($0, keeping: keeping, database) }.reduce(0, +)
        }
        do {
            // Also after rows have gone: names and kept originals are removed by others.
            try database.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA incremental_vacuum(\(Self.prunedAtOnce))")
            }
        } catch {
            throw described(error)
        }
        return removed
    }

    /// The oldest ended jobs beyond a number. The words of the state, not a parameter: otherwise SQLite does not use
    /// the index.
    static func prunedJobs(_ state: String) -> String {
        """
        SELECT number FROM jobs WHERE state = '\(state)' AND number <= (
            SELECT number FROM jobs WHERE state = '\(state)' ORDER BY number DESC LIMIT 1 OFFSET ?)
        ORDER BY number LIMIT \(prunedAtOnce)
        """
    }

    /// Reports of jobs that an older program has settled, or whose hook was dropped.
    static let staleReports = """
        DELETE FROM reports
        WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE number = job AND \(LedgerSchema.isOpen))
            AND NOT EXISTS (
                SELECT 1 FROM jobs JOIN hooks ON hooks.inbox = jobs.inbox AND hooks.key = jobs.id
                WHERE jobs.number = job AND hooks.body IS NULL)
        """

    private func prune(_ state: JobState, keeping: Int, _ database: Database) throws -> Int {
        try database.execute(
            sql: "DELETE FROM jobs WHERE number IN (\(Self.prunedJobs(state.rawValue)))", arguments: [keeping])
        return database.changesCount
    }
}
