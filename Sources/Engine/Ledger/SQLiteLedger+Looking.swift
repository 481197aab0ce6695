// What the ledger tells: rows as values, sums, and the removal of old rows.
import FoundationEssentials
import GRDB
package import Pipeline

extension SQLiteLedger {
    package func openJobs(inbox: BytePath?) throws(LedgerError) -> [Job] {
        try look { database in
            let open = "state NOT IN ('finished', 'failed')"
            guard let inbox else { return try Job.all("\(open) ORDER BY number", [], database) }
            return try Job.all("\(open) AND inbox = ? ORDER BY number", [inbox.blob], database)
        }
    }

    package func job(_ id: JobID) throws(LedgerError) -> Job? {
        try look { database in try Job.find(id, database) }
    }

    package func totals(inbox: BytePath) throws(LedgerError) -> LedgerTotals {
        try look { database in
            var totals = LedgerTotals()
            if let row = try Row.fetchOne(database, sql: "SELECT done, failed FROM totals WHERE inbox = ?", arguments: [inbox.blob]) {
                (totals.done, totals.failed) = (row["done"], row["failed"])
            }
            let sql = """
                SELECT count(*) AS open, sum(state = 'waiting') AS waiting, min(claimed) AS oldest
                FROM jobs WHERE inbox = ? AND state NOT IN ('finished', 'failed')
                """
            if let row = try Row.fetchOne(database, sql: sql, arguments: [inbox.blob]) {
                (totals.open, totals.waiting, totals.oldest) = (row["open"], row["waiting"] ?? 0, row["oldest"])
            }
            return totals
        }
    }

    package func recentFailures(limit: Int) throws(LedgerError) -> [Job] {
        try look { database in try Job.all("state = 'failed' ORDER BY changed DESC, number DESC LIMIT ?", [limit], database) }
    }

    /// Rows that one call removes at most, so that it never holds up the flow for long.
    static let prunedAtOnce = 5_000

    package func prune(keeping: Int) throws(LedgerError) -> Int {
        try change { database in
            var removed = 0
            // Failures are few and worth more, so they have a share of their own.
            for state in [JobState.finished, .failed] {
                let sql = """
                    DELETE FROM jobs WHERE number IN (
                        SELECT number FROM jobs WHERE state = '\(state.rawValue)' ORDER BY changed DESC, number DESC
                        LIMIT \(Self.prunedAtOnce) OFFSET ?)
                    """
                try database.execute(sql: sql, arguments: [keeping])
                removed += database.changesCount
            }
            return removed
        }
    }
}

extension Job {
    static func find(_ id: JobID, _ database: Database) throws -> Job? {
        try all("id = ?", [id.text], database).first
    }

    static func all(_ condition: String, _ arguments: [any DatabaseValueConvertible], _ database: Database) throws -> [Job] {
        let statement = try database.cachedStatement(sql: "SELECT * FROM jobs WHERE \(condition)")
        return try Row.fetchAll(statement, arguments: StatementArguments(arguments)).compactMap { Job($0) }
    }

    /// - Returns: nil for a row that this program did not write.
    private init?(_ row: Row) {
        guard let id = JobID(Array((row["id"] as String).utf8)), let state = JobState(rawValue: row["state"]) else { return nil }
        self.init(
            id: id, inbox: BytePath([UInt8](row["inbox"] as Data)), path: BytePath([UInt8](row["path"] as Data)), observed: ObservedFile(row),
            staysInInbox: row["stays"], state: state, attempts: row["attempts"], notBefore: row["not_before"], failure: Failure(row),
            names: ([UInt8](row["names"] as Data)).split(separator: 0).map { BytePath(Array($0)) }, claimed: row["claimed"],
            changed: row["changed"])
    }
}

extension ObservedFile {
    init(_ row: Row) {
        self.init(
            device: UInt64(bitPattern: row["device"] as Int64), inode: UInt64(bitPattern: row["inode"] as Int64), bytes: row["bytes"],
            modified: row["modified"])
    }
}

extension Failure {
    fileprivate init?(_ row: Row) {
        guard let word = row["code"] as String?, let code = FailureCode(rawValue: word) else { return nil }
        self.init(code, stage: row["stage"] ?? "", row["message"] ?? "", detail: row["detail"])
    }
}
