// The queue of one run: in memory, gone with the process.
package import Pipeline
import Synchronization
import System

/// Jobs and names in memory, for `run`. Nothing in it can fail. Taking a job costs the logarithm of the number of jobs.
package final class MemoryJobStore: JobStore, NameStore {
    private let contents: Mutex<Contents>
    private let clock: @Sendable () -> Int

    /// - Parameter policy: of each inbox, by its name. It must not call the store.
    package init(
        policy: @escaping @Sendable (_ inbox: String) -> RetryPolicy = { _ in .run },
        clock: @escaping @Sendable () -> Int = Clocks.system.uptime
    ) {
        contents = Mutex(Contents(policy: policy))
        self.clock = clock
    }

    package var now: Int { clock() }
    package var outlivesProcess: Bool { false }

    // MARK: - Jobs

    package func offer(_ jobs: [NewJob]) -> [OfferOutcome] {
        contents.withLock { contents in
            // One time for all: they come out in this order, whatever becomes of the clock.
            let now = clock()
            return jobs.map { contents.offer($0, now: now) }
        }
    }

    package func take(_ request: TakeRequest) -> [Lease] {
        contents.withLock { $0.take(request, now: clock()) }
    }

    package func extend(_ leases: [Lease], by milliseconds: Int) -> [Lease] {
        contents.withLock { contents in leases.filter { contents.extend($0, by: milliseconds, now: clock()) } }
    }

    package func update(_ updates: [JobUpdate]) -> [UpdateOutcome] {
        contents.withLock { contents in
            updates.map { update in
                guard let record = contents.records[update.lease.job.id], record.hold?.token == update.lease.token
                else { return .leaseLost }
                return contents.apply(update.event, report: update.report, to: record, now: clock())
            }
        }
    }

    package func note(contents digest: String, of lease: Lease) -> BytePath? {
        contents.withLock { contents in
            guard contents.records[lease.job.id]?.hold?.token == lease.token else { return nil }
            let job = lease.job
            let key = Contents.SourceContents(inbox: job.inbox, recipe: job.recipe, digest: digest)
            // Earlier contents of this path have been replaced in the outbox.
            for old in contents.known.keys where old.inbox == job.inbox && old.digest != digest {
                contents.known[old]?.removeAll { contents.records[$0]?.job.path == job.path }
            }
            let same = (contents.known[key] ?? []).filter { $0 != job.id }.compactMap { contents.records[$0]?.job }
            if let other = same.first(where: { [.published, .done].contains($0.progress.state) }) { return other.path }
            if contents.known[key]?.contains(job.id) != true { contents.known[key, default: []].append(job.id) }
            return nil
        }
    }

    package func nextDue(inbox: String, owner: String) -> Int? {
        contents.withLock { $0.nextDue(in: inbox, for: owner, now: clock()) }
    }

    package func endLeases(ofOthersThan owner: String) {
        contents.withLock { $0.endLeases(ofOthersThan: owner) }
    }

    package func orphans(inbox: String, owner: String) -> [Job] {
        contents.withLock { contents in
            let now = clock()
            let open = contents.inboxes[inbox]?.open.values.compactMap { contents.records[$0] } ?? []
            return open.filter { $0.isOrphan(for: owner, now: now) }.sorted { $0.number < $1.number }.map(\.job)
        }
    }

    package func recover(_ jobs: [(job: Job, place: SourcePlace)], by owner: String) -> [UpdateOutcome] {
        contents.withLock { contents in
            let now = clock()
            return jobs.map { job, place in
                guard var record = contents.records[job.id], record.job.progress == job.progress,
                    !job.progress.state.isOpen || record.isOrphan(for: owner, now: now)
                else { return .leaseLost }
                record.hold = nil
                return contents.apply(.found(place), to: record, now: now)
            }
        }
    }

    // MARK: - Looking

    package func job(_ id: JobID) -> Job? { contents.withLock { $0.records[id]?.job } }

    package func counts() -> [String: JobCounts] {
        contents.withLock { contents in
            let now = clock()
            return contents.inboxes.mapValues { inbox in
                let open = inbox.open.values.compactMap { contents.records[$0]?.job }
                return JobCounts(
                    open: open.count, begun: open.count { $0.progress.state != .offered },
                    waiting: open.count { $0.progress.state == .waiting },
                    age: open.map(\.offered).min().map { max(0, now - $0) }, done: inbox.done, failed: inbox.failed)
            }
        }
    }

    package func recentFailures(limit: Int) -> [Job] {
        contents.withLock { contents in
            contents.ended(.failed).suffix(limit).reversed().map(\.job)
        }
    }

    package func prune(keeping: Int) -> Int {
        contents.withLock { contents in
            let old = [JobState.done, .failed].flatMap { contents.ended($0).dropLast(keeping) }
            for record in old { contents.records[record.job.id] = nil }
            return old.count
        }
    }

    // MARK: - Names

    package func names(of source: BytePath, in outbox: BytePath) -> [BytePath] {
        contents.withLock { Array($0.outboxes[outbox]?.owned[source] ?? []) }
    }

    package func owners(of names: [BytePath], in outbox: BytePath) -> [BytePath: OwnedName] {
        contents.withLock { contents in
            let owned = contents.outboxes[outbox]?.names ?? [:]
            return names.reduce(into: [:]) { $0[$1] = owned[$1] }
        }
    }

    package func claim(
        _ names: [BytePath], for source: BytePath, in outbox: BytePath, seen: [BytePath: BytePath]
    ) -> Bool {
        contents.withLock { contents in
            let owned = contents.outboxes[outbox]?.names ?? [:]
            guard
                names.allSatisfy({ name in
                    owned[name].map { $0.source == source || $0.source == seen[name] } ?? true
                })
            else { return false }
            for name in names {
                let new = OwnedName(
                    outbox: outbox, name: name, source: source, contents: owned[name].map(\.contents) ?? [])
                contents.outboxes[outbox, default: OwnedNames()].set(name, new)
            }
            return true
        }
    }

    package func record(_ names: [OwnedName], areNoted: Bool) {
        contents.withLock { contents in
            for name in names where contents.outboxes[name.outbox]?.names[name.name]?.source == name.source {
                contents.outboxes[name.outbox]?.set(name.name, name)
            }
        }
    }

    package func release(_ names: [BytePath], of source: BytePath, in outbox: BytePath) {
        contents.withLock { $0.release(names.map { OwnedName(outbox: outbox, name: $0, source: source) }) }
    }

    package func ownedNames(after place: OwnedName?, limit: Int) -> [OwnedName] {
        contents.withLock { contents in
            let all = contents.outboxes.values.flatMap(\.names.values)
            let after = all.filter { name in place.map { $0.precedes(name) } ?? true }
            return Array(after.sorted { $0.precedes($1) }.prefix(limit))
        }
    }
}

extension OwnedName {
    fileprivate func precedes(_ other: OwnedName) -> Bool {
        if outbox == other.outbox { return name.bytes.lexicographicallyPrecedes(other.name.bytes) }
        return outbox.bytes.lexicographicallyPrecedes(other.outbox.bytes)
    }
}

/// The names in one outbox.
private struct OwnedNames {
    private(set) var names: [BytePath: OwnedName] = [:]
    private(set) var owned: [BytePath: Set<BytePath>] = [:]

    mutating func set(_ name: BytePath, _ new: OwnedName?) {
        if let old = names[name] { owned[old.source]?.remove(name) }
        names[name] = new
        if let new { owned[new.source, default: []].insert(name) }
    }
}

/// A job in a heap. It is out of date if the job has changed since, and then it is dropped when it comes to the top.
private struct Turn: Comparable {
    let time: Int
    let number: Int
    let id: JobID

    static func < (left: Turn, right: Turn) -> Bool { (left.time, left.number) < (right.time, right.number) }
}

private struct Inbox {
    /// Free jobs by the time at which they are due.
    var due = Heap<Turn>()
    /// Leases by the time at which they run out.
    var leases = Heap<Turn>()
    var open: [BytePath: JobID] = [:]
    /// How many have ended how.
    var done = 0
    var failed = 0
}

private struct Contents {
    /// The key by which an inbox finds sources with the same bytes.
    struct SourceContents: Hashable {
        let inbox, recipe, digest: String
    }

    let policy: @Sendable (String) -> RetryPolicy
    var records: [JobID: JobRecord] = [:]
    var inboxes: [String: Inbox] = [:]
    var outboxes: [BytePath: OwnedNames] = [:]
    /// The jobs whose sources have these contents.
    var known: [SourceContents: [JobID]] = [:]
    var lastNumber = 0

    init(policy: @escaping @Sendable (String) -> RetryPolicy) { self.policy = policy }

    /// Ended jobs in the order in which they were offered.
    func ended(_ state: JobState) -> [JobRecord] {
        records.values.filter { $0.job.progress.state == state }.sorted { $0.number < $1.number }
    }

    mutating func release(_ names: [OwnedName]) {
        for name in names where outboxes[name.outbox]?.names[name.name]?.source == name.source {
            outboxes[name.outbox]?.set(name.name, nil)
        }
    }

    mutating func offer(_ new: NewJob, now: Int) -> OfferOutcome {
        if let id = inboxes[new.inbox]?.open[new.path], let open = records[id] {
            guard let again = open.offeredAgain(new, now: now) else { return .busy }
            put(again)
            return .known
        }
        if records[new.id]?.job.progress.state.isOpen == true { return .busy }
        lastNumber += 1
        put(JobRecord(new, number: lastNumber, now: now))
        return .added
    }

    mutating func take(_ request: TakeRequest, now: Int) -> [Lease] {
        let policy = policy(request.inbox)
        var group: [JobRecord] = []
        var leases: [Lease] = []
        while let next = nextFree(in: request.inbox, for: request.owner, now: now), next.isDue(now: now),
            (group + [next]).group(request).count > group.count,
            let taken = next.taken(by: request, now: now, policy)
        {
            put(taken.record)
            group.append(next)
            leases.append(taken.lease)
        }
        return leases
    }

    mutating func extend(_ lease: Lease, by milliseconds: Int, now: Int) -> Bool {
        guard var record = records[lease.job.id], let hold = record.hold, hold.token == lease.token else {
            return false
        }
        guard hold.until < now + milliseconds / 2 else { return true }
        record.hold?.until = now + milliseconds
        put(record)
        return true
    }

    mutating func apply(
        _ event: JobEvent, report: [UInt8]? = nil, to record: JobRecord, now: Int
    ) -> UpdateOutcome {
        let (changed, effects) = record.after(event, report: report, now: now, policy(record.job.inbox))
        guard let changed else {
            records[record.job.id] = nil
            inboxes[record.job.inbox]?.open[record.job.path] = nil
            return .changed(nil, effects)
        }
        put(changed)
        inboxes[record.job.inbox]?.done += effects.contains(.countDone) ? 1 : 0
        inboxes[record.job.inbox]?.failed += effects.contains(.countFailed) ? 1 : 0
        return changed.outcome(effects, now: now)
    }

    mutating func endLeases(ofOthersThan owner: String) {
        for var record in Array(records.values) where record.hold != nil && record.hold?.owner != owner {
            record.hold?.until = 0
            put(record)
        }
    }

    mutating func nextDue(in inbox: String, for owner: String, now: Int) -> Int? {
        nextFree(in: inbox, for: owner, now: now).map { max(0, $0.job.progress.notBefore - now) }
    }

    /// Records a job as it is now, and its next turn.
    private mutating func put(_ record: JobRecord) {
        let job = record.job
        records[job.id] = record
        if !job.progress.state.isOpen {
            if inboxes[job.inbox]?.open[job.path] == job.id { inboxes[job.inbox]?.open[job.path] = nil }
        } else if let hold = record.hold {
            inboxes[job.inbox, default: Inbox()].open[job.path] = job.id
            inboxes[job.inbox]?.leases.add(Turn(time: hold.until, number: record.number, id: job.id))
        } else {
            inboxes[job.inbox, default: Inbox()].open[job.path] = job.id
            inboxes[job.inbox]?.due.add(Turn(time: job.progress.notBefore, number: record.number, id: job.id))
        }
    }

    /// The free job that is due first; those of other owners whose lease has run out are free.
    private mutating func nextFree(in inbox: String, for owner: String, now: Int) -> JobRecord? {
        var own: [Turn] = []
        while let turn = inboxes[inbox]?.leases.first, turn.time <= now {
            _ = inboxes[inbox]?.leases.takeFirst()
            guard let record = records[turn.id], let hold = record.hold, hold.until == turn.time else { continue }
            guard hold.owner != owner else {
                own.append(turn)
                continue
            }
            inboxes[inbox]?.due.add(Turn(time: record.job.progress.notBefore, number: record.number, id: turn.id))
        }
        for turn in own { inboxes[inbox]?.leases.add(turn) }
        while let turn = inboxes[inbox]?.due.first {
            if let record = records[turn.id], record.number == turn.number, record.job.progress.notBefore == turn.time,
                record.job.progress.state.isOpen, record.isFree(now: now)
            {
                return record
            }
            _ = inboxes[inbox]?.due.takeFirst()
        }
        return nil
    }
}
