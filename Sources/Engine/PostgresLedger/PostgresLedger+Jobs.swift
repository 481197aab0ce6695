// The life of a job in the ledger: each call locks rows, asks what follows, and writes them back in one transaction.
package import Pipeline
import Postgres
import Synchronization
import System

extension PostgresLedger {
    package func offer(_ jobs: [NewJob]) throws(StoreError) -> [OfferOutcome] {
        var outcomes: [OfferOutcome] = []
        for start in stride(from: 0, to: jobs.count, by: Self.offeredAtOnce) {
            let some = jobs[start..<min(jobs.count, start + Self.offeredAtOnce)]
            outcomes += try change { connection, now in try offer(some, now: now, connection) }
        }
        return outcomes
    }

    /// The key of a lock. Jobs get their numbers before others see them, so whoever asks for the latest waits for offers
    /// that are under way.
    static let offers = "hashtextextended('offers', 0)"

    /// A statement has room for so many.
    private static let offeredAtOnce = 500

    private func offer(
        _ jobs: ArraySlice<NewJob>, now: Int, _ connection: PostgresConnection
    ) throws -> [OfferOutcome] {
        // One walker of an inbox at a time, so that no two wait for each other; `idle` waits for all.
        try connection.run("SELECT pg_advisory_xact_lock_shared(\(Self.offers))")
        for inbox in Set(jobs.map(\.inbox)).sorted() {
            try connection.run("SELECT pg_advisory_xact_lock(hashtextextended('offers to ' || $1, 0))", [.text(inbox)])
        }
        var open: [BytePath: JobRecord] = [:]
        let found = try connection.locked(
            "(inbox, path) IN (SELECT * FROM unnest($1::text[], $2::bytea[])) AND \(PostgresSchema.isOpen) ORDER BY number",
            [.texts(jobs.map(\.inbox)), .manyBytes(jobs.map(\.path.bytes))])
        for record in found { open[record.job.owner] = record }
        let known = try connection.locked(jobs.map(\.id))
        var (outcomes, new, changed, ended) = ([OfferOutcome](), [JobRecord](), [JobID: JobRecord](), [JobRecord]())
        for job in jobs {
            let place = BytePath(job.inbox).appending(job.path)
            if let record = open[place] {
                let again = record.offeredAgain(job, now: now)
                outcomes.append(again == nil ? .busy : .known)
                guard let again else { continue }
                open[place] = again
                // One that is new itself is written as it is in the end.
                if let index = new.firstIndex(where: { $0.job.id == again.job.id }) {
                    new[index] = again
                } else {
                    changed[again.job.id] = again
                }
            } else if let record = known[job.id], record.job.progress.state.isOpen {
                outcomes.append(.busy)
            } else {
                // A job that has ended left its source in the spool: the same folder is a new job now.
                if let record = known[job.id] { ended.append(record) }
                let record = JobRecord(job, number: 0, now: now)
                new.append(record)
                open[place] = record
                outcomes.append(.added)
            }
        }
        try connection.update(changed.values.sorted { $0.number < $1.number })
        try connection.remove(ended)
        let added = try connection.insert(new)
        // Another walker was as quick.
        return zip(jobs, outcomes).map { $1 == .added && !added.contains($0.id.text) ? .busy : $1 }
    }

    /// The jobs that an owner can take until a time; it still works on those that it holds itself, however late it is.
    static let freeJobs =
        "inbox = $1 AND \(PostgresSchema.isOpen) AND not_before <= $2 AND (lease_until IS NULL OR lease_until <= $3 AND owner <> $4) ORDER BY not_before, number LIMIT $5"

    package func take(_ request: TakeRequest) throws(StoreError) -> [Lease] {
        guard request.limit > 0 else { return [] }
        let policy = policy(request.inbox)
        let lost = unheard.withLock { $0 }
        var tokens: [String] = []
        let taken: [(before: Job, lease: Lease)]
        do throws(StoreError) {
            taken = try take(request, policy, freeing: lost) { tokens += $0 }
        } catch {
            // It may be done in spite of that.
            unheard.withLock { $0 += tokens }
            throw error
        }
        if !lost.isEmpty { unheard.withLock { $0.removeAll { lost.contains($0) } } }
        tell(taken.map { JobChange($0.before, .taken, to: $0.lease.job.progress, $0.lease.effects) })
        return taken.map(\.lease)
    }

    /// - Parameters:
    ///   - lost: tokens of leases that this process was given without hearing of it.
    ///   - note: hears the tokens before they are written.
    private func take(
        _ request: TakeRequest, _ policy: RetryPolicy, freeing lost: [String], _ note: ([String]) -> Void
    ) throws(StoreError) -> [(before: Job, lease: Lease)] {
        try change { connection, now in
            if !lost.isEmpty {
                try connection.run(
                    "UPDATE jobs SET owner = NULL, token = NULL, lease_until = NULL WHERE token = ANY($1::text[])",
                    [.texts(lost)])
            }
            // Others may be about to take those that are locked.
            let due = try connection.locked(
                Self.freeJobs,
                [.text(request.inbox), .integer(now), .integer(now), .text(request.owner), .integer(request.limit)],
                order: "not_before, number", passingOver: true)
            let taken = due.group(request).compactMap { record in
                record.taken(by: request, now: now, policy).map { (before: record.job, after: $0) }
            }
            note(taken.map(\.after.lease.token))
            try connection.update(taken.map(\.after.record))
            return taken.map { (before: $0.before, lease: $0.after.lease) }
        }
    }

    package func extend(_ leases: [Lease], by milliseconds: Int) throws(StoreError) -> [Lease] {
        guard !leases.isEmpty else { return [] }
        let pairs: [PostgresValue?] = [.texts(leases.map(\.job.id.text)), .texts(leases.map(\.token))]
        // A look is cheap, and a change is synced.
        let held = try pool.run(
            """
            SELECT jobs.token FROM jobs JOIN unnest($1::text[], $2::text[]) AS mine (id, token)
            ON jobs.id = mine.id AND jobs.token = mine.token WHERE lease_until >= \(PostgresSchema.now) + $3::bigint / 2
            """, pairs + [.integer(milliseconds)])
        guard held.count < leases.count else { return leases }
        let extended = try pool.change(
            """
            UPDATE jobs SET lease_until = \(PostgresSchema.now) + $3::bigint
            FROM (SELECT jobs.number FROM jobs JOIN unnest($1::text[], $2::text[]) AS mine (id, token)
                ON jobs.id = mine.id AND jobs.token = mine.token ORDER BY jobs.number FOR UPDATE OF jobs) AS mine
            WHERE jobs.number = mine.number RETURNING token
            """, pairs + [.integer(milliseconds)])
        let tokens = Set(extended.compactMap { $0.text(0) })
        return leases.filter { tokens.contains($0.token) }
    }

    package func update(_ updates: [JobUpdate]) throws(StoreError) -> [UpdateOutcome] {
        let (outcomes, changes) = try change { connection, now in
            var writing = try JobWriting(updates.map(\.lease.job.id), connection, now: now, isTraced: trace != nil)
            let outcomes = updates.map { update -> UpdateOutcome in
                guard let record = writing.records[update.lease.job.id], record.hold?.token == update.lease.token else {
                    return .leaseLost
                }
                return writing.apply(
                    update.event, report: update.report, to: record, isFreed: false, policy(record.job.inbox))
            }
            try writing.write()
            return (outcomes, writing.changes)
        }
        tell(changes)
        return outcomes
    }

    package func note(contents digest: String, of lease: Lease) throws(StoreError) -> BytePath? {
        let job = lease.job
        return try pool.transaction { connection, _ in
            // Two with the same contents wait for each other, so that one of them hears of the other.
            try connection.run(
                "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [.text("\(job.inbox)\n\(digest)")])
            let held = try connection.run(
                "SELECT number FROM jobs WHERE id = $1 AND token = $2 FOR UPDATE",
                [.text(job.id.text), .text(lease.token)])
            guard held.count == 1 else { return nil }
            let other = try connection.run(
                """
                SELECT path FROM jobs WHERE inbox = $1 AND contents = $2 AND recipe = $3 AND id <> $4
                    AND state IN ('published', 'done') LIMIT 1
                """, [.text(job.inbox), .text(digest), .text(job.recipe), .text(job.id.text)]
            ).first?.bytes(0)
            // Earlier contents of this path have been replaced in the outbox.
            try connection.run(
                "UPDATE jobs SET contents = NULL WHERE inbox = $1 AND path = $2 AND contents <> $3",
                [.text(job.inbox), .bytes(job.path.bytes), .text(digest)])
            if let other { return BytePath(other) }
            try connection.run(
                "UPDATE jobs SET contents = $1 WHERE id = $2", [.text(digest), .text(job.id.text)])
            return nil
        }
    }

    package func endLeases(ofOthersThan owner: String) throws(StoreError) {
        try pool.change(
            "UPDATE jobs SET lease_until = 0 WHERE owner <> $1 AND \(PostgresSchema.isOpen)", [.text(owner)])
    }

    package func recover(
        _ jobs: [(job: Job, place: SourcePlace)], by owner: String
    ) throws(StoreError) -> [UpdateOutcome] {
        let (outcomes, changes) = try change { connection, now in
            var writing = try JobWriting(jobs.map(\.job.id), connection, now: now, isTraced: trace != nil)
            let outcomes = jobs.map { job, place -> UpdateOutcome in
                // A job that has changed since the look is being worked on by somebody else.
                guard let record = writing.records[job.id], record.job.progress == job.progress,
                    !record.job.progress.state.isOpen || record.isOrphan(for: owner, now: now)
                else { return .leaseLost }
                return writing.apply(.found(place), to: record, isFreed: true, policy(record.job.inbox))
            }
            try writing.write()
            return (outcomes, writing.changes)
        }
        tell(changes)
        return outcomes
    }
}

/// A transaction in which jobs change. Their rows are read at its beginning, and written at its end.
private struct JobWriting {
    private let connection: PostgresConnection
    private let now: Int
    private let isTraced: Bool
    private(set) var records: [JobID: JobRecord]
    private let before: [JobID: JobRecord]
    private var removed: [JobRecord] = []
    private var touched: Set<JobID> = []
    /// Jobs that have ended, and whether they are done.
    private var ended: [(job: Job, isDone: Bool)] = []
    private(set) var changes: [JobChange] = []

    init(_ ids: [JobID], _ connection: PostgresConnection, now: Int, isTraced: Bool) throws {
        (self.connection, self.now, self.isTraced) = (connection, now, isTraced)
        before = try connection.locked(ids)
        records = before
    }

    mutating func apply(
        _ event: JobEvent, report: [UInt8]? = nil, to record: JobRecord, isFreed: Bool, _ policy: RetryPolicy
    ) -> UpdateOutcome {
        var (changed, effects) = record.after(event, report: report, now: now, policy)
        if isFreed { changed?.hold = nil }
        if isTraced { changes.append(JobChange(record.job, event, to: changed?.job.progress, effects)) }
        records[record.job.id] = changed
        touched.insert(record.job.id)
        guard let changed else {
            removed.append(record)
            return .changed(nil, effects)
        }
        if effects.contains(.countDone) || effects.contains(.countFailed) {
            ended.append((changed.job, effects.contains(.countDone)))
        }
        return changed.outcome(effects, now: now)
    }

    func write() throws {
        let changed = records.values.filter { touched.contains($0.job.id) }
        try connection.update(changed.sorted { $0.number < $1.number })
        try connection.replaceReports(of: changed.filter { $0.job.report != before[$0.job.id]?.job.report })
        try connection.remove(removed)
        try connection.count(ended, hour: now / 3_600_000)
    }
}

extension PostgresConnection {
    fileprivate func remove(_ records: [JobRecord]) throws {
        guard !records.isEmpty else { return }
        let numbers = PostgresValue.integers(records.map(\.number))
        try run("DELETE FROM reports WHERE job = ANY($1::bigint[])", [numbers])
        try run("DELETE FROM jobs WHERE number = ANY($1::bigint[])", [numbers])
    }

    fileprivate func replaceReports(of records: [JobRecord]) throws {
        let (new, old) = (records.filter { $0.job.report != nil }, records.filter { $0.job.report == nil })
        if !new.isEmpty {
            try run(
                """
                INSERT INTO reports (job, document) SELECT * FROM unnest($1::bigint[], $2::bytea[])
                ON CONFLICT (job) DO UPDATE SET document = excluded.document
                """, [.integers(new.map(\.number)), .manyBytes(new.map { $0.job.report ?? [] })])
        }
        guard !old.isEmpty else { return }
        // A hook that has not heard of it yet gets the report, if need be from the next start.
        try run(
            """
            DELETE FROM reports USING jobs WHERE reports.job = ANY($1::bigint[]) AND jobs.number = reports.job
                AND NOT EXISTS (
                    SELECT 1 FROM hooks WHERE hooks.inbox = jobs.inbox AND hooks.key = jobs.id AND hooks.body IS NULL)
            """, [.integers(old.map(\.number))])
    }

    /// Counts jobs that have ended, and remembers their originals if these stay.
    fileprivate func count(_ ended: [(job: Job, isDone: Bool)], hour: Int) throws {
        guard !ended.isEmpty else { return }
        // In one order, so that no two count in each other's way.
        let inboxes = Dictionary(grouping: ended, by: \.job.inbox).sorted { $0.key < $1.key }
        let counts: [PostgresValue?] = [
            .texts(inboxes.map(\.key)), .integers(inboxes.map { $0.value.count(where: \.isDone) }),
            .integers(inboxes.map { $0.value.count { !$0.isDone } }),
        ]
        try run(
            """
            INSERT INTO totals (inbox, done, failed) SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])
            ON CONFLICT (inbox) DO UPDATE SET done = totals.done + excluded.done, failed = totals.failed + excluded.failed
            """, counts)
        try run(
            """
            INSERT INTO history (inbox, hour, done, failed)
            SELECT inbox, $4, done, failed FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS new (inbox, done, failed)
            ON CONFLICT (inbox, hour)
                DO UPDATE SET done = history.done + excluded.done, failed = history.failed + excluded.failed
            """, counts + [.integer(hour)])
        for (job, _) in ended {
            if let kept = job.keptOriginal { try keep(kept, job) }
        }
    }

    private func keep(_ kept: KeptOriginal, _ job: Job) throws {
        try run(
            """
            INSERT INTO kept (inbox, path, device, inode, bytes, modified, recipe, code)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (inbox, path) DO UPDATE SET device = excluded.device, inode = excluded.inode,
                bytes = excluded.bytes, modified = excluded.modified, recipe = excluded.recipe, code = excluded.code
            """,
            [
                .text(job.inbox), .bytes(job.path.bytes),
                .integer(Int(bitPattern: UInt(kept.observed.identity.device))),
                .integer(Int(bitPattern: UInt(kept.observed.identity.inode))), .integer(kept.observed.stamp.bytes),
                .integer(kept.observed.stamp.modified), .text(kept.recipe),
                (kept.code?.rawValue).map(PostgresValue.text),
            ])
    }
}
