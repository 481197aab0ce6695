// The steps of a job's life, each a guarded change of its row.
import FoundationEssentials
import GRDB
package import Pipeline

extension SQLiteLedger {
    package func add(_ jobs: [NewJob]) throws(LedgerError) {
        try change { database in
            let insert = try database.cachedStatement(
                sql: """
                    INSERT INTO jobs (id, inbox, path, stays, device, inode, bytes, modified, state, claimed, changed)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'claimed', ?, ?)
                    """)
            let now = clock()
            for job in jobs {
                let observed = job.observed
                try insert.execute(arguments: [
                    job.id.text, job.inbox.blob, job.path.blob, job.staysInInbox, Int64(bitPattern: observed.device),
                    Int64(bitPattern: observed.inode), observed.bytes, observed.modified, now, now,
                ])
            }
        }
    }

    package func forget(_ jobs: [JobID]) throws(LedgerError) {
        try change { database in
            let delete = try database.cachedStatement(sql: "DELETE FROM jobs WHERE id = ? AND state NOT IN ('finished', 'failed')")
            for job in jobs { try delete.execute(arguments: [job.text]) }
        }
    }

    package func begin(_ jobs: [JobID]) throws(LedgerError) -> [JobID: Int] {
        try change { database in
            var attempts: [JobID: Int] = [:]
            for job in jobs {
                try step(job, from: [.claimed, .waiting, .rendering], to: .rendering, "attempts = attempts + 1", [], database)
                attempts[job] = try Int.fetchOne(database, sql: "SELECT attempts FROM jobs WHERE id = ?", arguments: [job.text])
            }
            return attempts
        }
    }

    package func giveBack(_ jobs: [JobID]) throws(LedgerError) {
        try change { database in
            for job in jobs { try step(job, from: [.rendering], to: .claimed, "attempts = attempts - 1", [], database) }
        }
    }

    package func postpone(_ job: JobID, until time: Int, costsAttempt: Bool, because failure: Failure) throws(LedgerError) {
        try change { database in
            try step(
                job, from: [.claimed, .rendering, .waiting], to: .waiting,
                // One that was not begun has no attempt to get back.
                "not_before = ?, attempts = attempts - (CASE WHEN state = 'rendering' THEN ? ELSE 0 END)", [time, costsAttempt ? 0 : 1], database)
            try note(failure, job, database)
        }
    }

    package func publish(_ jobs: [JobID]) throws(LedgerError) {
        try change { database in
            for job in jobs {
                try step(job, from: [.rendering], to: .published, "code = NULL, stage = NULL, message = NULL, detail = NULL", [], database)
            }
        }
    }

    package func reject(_ job: JobID, because failure: Failure) throws(LedgerError) {
        try change { database in
            try step(job, from: [.claimed, .rendering, .waiting], to: .rejected, nil, [], database)
            try note(failure, job, database)
        }
    }

    package func finish(_ jobs: [FinishedJob]) throws(LedgerError) {
        try change { database in
            for job in jobs { try finish(job, database) }
        }
    }

    private func finish(_ finished: FinishedJob, _ database: Database) throws {
        guard let job = try Job.find(finished.id, database) else { throw outOfStep(finished.id, "there is no such job") }
        let state: JobState =
            switch job.state {
            case .published: .finished
            case .rejected: .failed
            // Done before a crash, and done again: nothing is counted twice.
            case .finished, .failed: job.state
            case .claimed, .rendering, .waiting: throw outOfStep(finished.id, "it is \(job.state.rawValue)")
            }
        guard state != job.state else { return }
        try step(finished.id, from: [job.state], to: state, nil, [], database)
        let isDone = state == .finished
        try database.execute(
            sql: """
                INSERT INTO totals (inbox, done, failed) VALUES (?, ?, ?)
                ON CONFLICT (inbox) DO UPDATE SET done = done + excluded.done, failed = failed + excluded.failed
                """, arguments: [job.inbox.blob, isDone ? 1 : 0, isDone ? 0 : 1])
        if job.staysInInbox { try remember(job, finished, database) }
    }

    private func note(_ failure: Failure, _ job: JobID, _ database: Database) throws {
        try database.execute(
            sql: "UPDATE jobs SET code = ?, stage = ?, message = ?, detail = ? WHERE id = ?",
            arguments: [failure.code.rawValue, failure.stage, failure.message, failure.detail, job.text])
    }

    /// Changes a job's state, and refuses where it is in none of those from which this step leads on.
    private func step(
        _ job: JobID, from states: [JobState], to state: JobState, _ more: String?, _ values: [any DatabaseValueConvertible], _ database: Database
    ) throws {
        let allowed = states.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        let sql = "UPDATE jobs SET state = ?, changed = ?\(more.map { ", " + $0 } ?? "") WHERE id = ? AND state IN (\(allowed))"
        let statement = try database.cachedStatement(sql: sql)
        try statement.execute(arguments: StatementArguments([state.rawValue, clock()] + values + [job.text]))
        guard database.changesCount == 1 else {
            let found = try Job.find(job, database).map { "it is \($0.state.rawValue)" } ?? "there is no such job"
            throw outOfStep(job, found)
        }
    }

    private func outOfStep(_ job: JobID, _ found: String) -> LedgerError {
        LedgerError(.outOfStep, "the job \(job.text) cannot take this step: \(found)")
    }
}

extension BytePath {
    /// The path as the database keeps it.
    var blob: Data { Data(bytes) }
}
