// The life of a job in the ledger: each call reads rows, asks what follows, and writes them back in one transaction.
import FoundationEssentials
import GRDB
package import Pipeline
import System

extension SQLiteLedger {
    package func offer(_ jobs: [NewJob]) throws(StoreError) -> [OfferOutcome] {
        try change { database in
            let now = now
            return try jobs.map { try offer($0, now: now, database) }
        }
    }

    private func offer(_ new: NewJob, now: Int, _ database: Database) throws -> OfferOutcome {
        if let open = try database.record(
            "inbox = ? AND path = ? AND \(LedgerSchema.isOpen)", [new.inbox, new.path.blob])
        {
            guard let again = open.offeredAgain(new, now: now) else { return .busy }
            try again.update(in: database, token: open.hold?.token)
            return .known
        }
        if let known = try database.record("id = ?", [new.id.text]) {
            guard !known.job.progress.state.isOpen else { return .busy }
            // A job that has ended left its source in the spool: the same folder is a new job now.
            try database.remove(known.job.id, token: nil)
        }
        try JobRecord(new, number: 0, now: now).insert(in: database)
        return .added
    }

    /// The jobs that an owner can take until a time; it still works on those that it holds itself, however late it is.
    static let freeJobs =
        "inbox = ? AND \(LedgerSchema.isOpen) AND not_before <= ? AND (lease_until IS NULL OR lease_until <= ? AND owner <> ?) ORDER BY not_before, number LIMIT ?"

    package func take(_ request: TakeRequest) throws(StoreError) -> [Lease] {
        guard request.limit > 0 else { return [] }
        let policy = policy(request.inbox)
        let taken = try change { database in
            let now = now
            let due = try database.records(Self.freeJobs, [request.inbox, now, now, request.owner, request.limit])
            return try due.group(request).compactMap { (record) -> (before: Job, lease: Lease)? in
                guard let taken = record.taken(by: request, now: now, policy) else { return nil }
                try taken.record.update(in: database, token: record.hold?.token)
                return (record.job, taken.lease)
            }
        }
        tell(taken.map { JobChange($0.before, .taken, to: $0.lease.job.progress, $0.lease.effects) })
        return taken.map(\.lease)
    }

    package func extend(_ leases: [Lease], by milliseconds: Int) throws(StoreError) -> [Lease] {
        // A look is cheap, and a change is synced.
        let held = try look { database in
            let statement = try database.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM jobs WHERE id = ? AND token = ? AND lease_until >= ?)")
            let least = now + milliseconds / 2
            return try leases.filter { lease in
                try Bool.fetchOne(statement, arguments: [lease.job.id.text, lease.token, least]) == true
            }
        }
        guard held.count < leases.count else { return leases }
        return try change { database in
            let statement = try database.cachedStatement(
                sql: "UPDATE jobs SET lease_until = ? WHERE id = ? AND token = ?")
            let until = now + milliseconds
            return try leases.filter { lease in
                try statement.execute(arguments: [until, lease.job.id.text, lease.token])
                return database.changesCount == 1
            }
        }
    }

    package func update(_ updates: [JobUpdate]) throws(StoreError) -> [UpdateOutcome] {
        let (outcomes, changes) = try change { database in
            var writing = JobWriting(database: database, now: now)
            let outcomes = try updates.map { (update) -> UpdateOutcome in
                guard let record = try database.record("id = ?", [update.lease.job.id.text]),
                    record.hold?.token == update.lease.token
                else {
                    return .leaseLost
                }
                return try apply(update.event, report: update.report, to: record, isFreed: false, &writing)
            }
            return (outcomes, writing.changes)
        }
        tell(changes)
        return outcomes
    }

    package func note(contents digest: String, of lease: Lease) throws(StoreError) -> BytePath? {
        try change { database in
            let (id, job) = (lease.job.id.text, lease.job)
            let held = try database.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM jobs WHERE id = ? AND token = ?)")
            guard try Bool.fetchOne(held, arguments: [id, lease.token]) == true else { return nil }
            let same = try database.cachedStatement(sql: Self.sameContents)
            let other = try Data.fetchOne(same, arguments: [job.inbox, digest, job.recipe, id])
            // Earlier contents of this path have been replaced in the outbox.
            try database.cachedStatement(
                sql: "UPDATE jobs SET contents = NULL WHERE inbox = ? AND path = ? AND contents <> ?"
            ).execute(arguments: [job.inbox, job.path.blob, digest])
            if let other { return BytePath(blob: other) }
            try database.cachedStatement(sql: "UPDATE jobs SET contents = ? WHERE id = ?").execute(
                arguments: [digest, id])
            return nil
        }
    }

    private static let sameContents =
        "SELECT path FROM jobs WHERE inbox = ? AND contents = ? AND recipe = ? AND id <> ? AND state IN ('published', 'done')"

    package func endLeases(ofOthersThan owner: String) throws(StoreError) {
        try change {
            try $0.execute(
                sql: "UPDATE jobs SET lease_until = 0 WHERE owner <> ? AND \(LedgerSchema.isOpen)", arguments: [owner])
        }
    }

    package func recover(
        _ jobs: [(job: Job, place: SourcePlace)], by owner: String
    ) throws(StoreError) -> [UpdateOutcome] {
        let (outcomes, changes) = try change { database in
            var writing = JobWriting(database: database, now: now)
            let outcomes = try jobs.map { (job, place) -> UpdateOutcome in
                // A job that has changed since the look is being worked on by somebody else.
                guard let record = try database.record("id = ?", [job.id.text]), record.job.progress == job.progress,
                    !record.job.progress.state.isOpen || record.isOrphan(for: owner, now: writing.now)
                else { return .leaseLost }
                return try apply(.found(place), to: record, isFreed: true, &writing)
            }
            return (outcomes, writing.changes)
        }
        tell(changes)
        return outcomes
    }

    private func apply(
        _ event: JobEvent, report: [UInt8]? = nil, to record: JobRecord, isFreed: Bool, _ writing: inout JobWriting
    ) throws -> UpdateOutcome {
        let (database, now) = (writing.database, writing.now)
        let token = record.hold?.token
        var (changed, effects) = record.after(event, report: report, now: now, policy(record.job.inbox))
        if isFreed { changed?.hold = nil }
        if trace != nil { writing.changes.append(JobChange(record.job, event, to: changed?.job.progress, effects)) }
        guard let changed else {
            try database.remove(record.job.id, token: token)
            return .changed(nil, effects)
        }
        try changed.update(in: database, token: token)
        try database.replaceReport(of: record.job, by: changed.job.report)
        // After a restart of the machine, it waits no longer for what was not recorded of the time.
        if changed.job.progress.notBefore >= now { try clock.record(in: database) }
        if effects.contains(.countDone) || effects.contains(.countFailed) {
            try database.count(changed.job, isDone: effects.contains(.countDone), hour: clock.hour)
        }
        return changed.outcome(effects, now: now)
    }
}

/// A transaction in which jobs change, and their changes.
private struct JobWriting {
    let database: Database
    let now: Int
    var changes: [JobChange] = []
}

extension Database {
    func removeReport(of job: String) throws {
        try cachedStatement(sql: "DELETE FROM reports WHERE job = (SELECT number FROM jobs WHERE id = ?)")
            .execute(arguments: [job])
    }

    fileprivate func remove(_ id: JobID, token: String?) throws {
        try removeReport(of: id.text)
        try cachedStatement(sql: "DELETE FROM jobs WHERE id = ? AND token IS ?").execute(arguments: [id.text, token])
    }

    /// - Parameter job: as it was read.
    fileprivate func replaceReport(of job: Job, by report: [UInt8]?) throws {
        guard report != job.report else { return }
        if let report {
            let sql = "INSERT OR REPLACE INTO reports (job, document) SELECT number, ? FROM jobs WHERE id = ?"
            try cachedStatement(sql: sql).execute(arguments: [Data(report), job.id.text])
        } else {
            // A hook that has not heard of it yet gets the report, if need be from the next start.
            let sql = """
                DELETE FROM reports WHERE job = (SELECT number FROM jobs WHERE id = ?)
                    AND NOT EXISTS (SELECT 1 FROM hooks WHERE inbox = ? AND key = ? AND body IS NULL)
                """
            try cachedStatement(sql: sql).execute(arguments: [job.id.text, job.inbox, job.id.text])
        }
    }

    /// Counts a job that has ended, and remembers its original if that stays.
    fileprivate func count(_ job: Job, isDone: Bool, hour: Int) throws {
        let total = try cachedStatement(
            sql: """
                INSERT INTO totals (inbox, done, failed) VALUES (?, ?, ?)
                ON CONFLICT (inbox) DO UPDATE SET done = done + excluded.done, failed = failed + excluded.failed
                """)
        try total.execute(arguments: [job.inbox, isDone ? 1 : 0, isDone ? 0 : 1])
        let history = try cachedStatement(
            sql: """
                INSERT INTO history (inbox, hour, done, failed) VALUES (?, ?, ?, ?)
                ON CONFLICT (inbox, hour) DO UPDATE SET done = done + excluded.done, failed = failed + excluded.failed
                """)
        try history.execute(arguments: [job.inbox, hour, isDone ? 1 : 0, isDone ? 0 : 1])
        guard let kept = job.keptOriginal else { return }
        let statement = try cachedStatement(
            sql:
                "INSERT OR REPLACE INTO kept (inbox, path, device, inode, bytes, modified, recipe, code) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        )
        try statement.execute(arguments: [
            job.inbox, job.path.blob, Int64(bitPattern: kept.observed.identity.device),
            Int64(bitPattern: kept.observed.identity.inode),
            kept.observed.stamp.bytes,
            kept.observed.stamp.modified, kept.recipe, kept.code?.rawValue,
        ])
    }
}
