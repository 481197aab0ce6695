// The contract of every store of jobs and names. Nothing here knows how a store keeps them.
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct JobStoreTests {
    private let failure = Failure(.workerCrashed, stage: "render", "too slow", detail: "60 s")

    // MARK: - The life of a job

    @Test(arguments: StoreKind.allCases)
    func `a job is kept with everything that was said of it, its path byte for byte`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let path = BytePath([0xFF, 0x0A, UInt8(ascii: "/"), 0x27, UInt8(ascii: "a")])
        let observed = FileVersion(device: .max, inode: 1 << 63, bytes: 12, modified: -5)
        let new = NewJob(
            id: fixture.new("x").id, inbox: "photos", path: path, isSet: true, observed: observed, originals: .keep)
        #expect(try fixture.store.offer([new]) == [.added])
        let job = try #require(try fixture.store.job(new.id))
        let expected = Job(
            id: new.id, inbox: "photos", path: path, isSet: true, observed: observed, originals: .keep,
            progress: JobProgress(.offered, notBefore: 1_000_000), offered: 1_000_000, changed: job.changed)
        #expect(job == expected)
        #expect(job.owner == BytePath(Array("photos/".utf8) + path.bytes))
        #expect(try fixture.store.job(fixture.new("x").id) == nil)
    }

    @Test(arguments: StoreKind.allCases, [OriginalPolicy.move, .keep, .delete])
    func `a job knows what to do with its original, by the last offer before it was taken`(
        kind: StoreKind, policy: OriginalPolicy
    ) throws {
        let fixture = try JobStoreFixture(kind)
        let new = fixture.new("a")
        func offer(_ policy: OriginalPolicy) throws -> [OfferOutcome] {
            try fixture.store.offer([
                NewJob(id: new.id, inbox: "in", path: new.path, observed: new.observed, originals: policy)
            ])
        }
        _ = try offer(.keep)
        _ = try offer(policy)
        #expect(try fixture.store.job(new.id)?.originals == policy)
        #expect(try fixture.store.take(fixture.request()).map(\.job.originals) == [policy])
        _ = try offer(.keep)
        #expect(try fixture.store.job(new.id)?.originals == policy)
    }

    @Test(arguments: StoreKind.allCases)
    func `sources with the bytes of one that is done hear its path`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        func note(_ lease: Lease, _ digest: String = "d") throws -> String? {
            try fixture.store.note(contents: digest, of: lease)?.text
        }
        func end(_ lease: Lease, _ event: JobEvent = .published(damage: nil)) throws {
            _ = try fixture.store.update([JobUpdate(lease, event)])
            _ = try fixture.store.update([JobUpdate(lease, .settled)])
        }
        let first = try #require(try fixture.taken("a"))
        #expect(try note(first) == nil && note(first) == nil)
        let second = try #require(try fixture.taken("b"))
        // It may still fail.
        #expect(try note(second) == nil)
        try end(first)
        #expect(try note(second) == "a" && note(second, "other") == nil)
        #expect(try note(try #require(try fixture.taken("c", recipe: "r2"))) == nil)
        let again = try #require(try fixture.taken("a"))
        #expect(try note(again) == "a")
        // With other bytes under its name, it is no original of the first ones any more.
        #expect(try note(again, "later") == nil && note(second) == nil)
        let old = Lease(job: again.job, effects: again.effects, token: "another")
        #expect(try note(old, "later") == nil)
        try end(again)
        #expect(try note(second, "later") == "a")

        let failing = try #require(try fixture.taken("d"))
        #expect(try note(failing, "e") == nil)
        try end(failing, .attemptFailed(failure, isFinal: true))
        #expect(try note(try #require(try fixture.taken("e")), "e") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `the report of the attempt is there for whoever settles the job, and no longer`(kind: StoreKind) throws {
        let document = Array("the report".utf8)
        let endings: [JobEvent] = [.published(damage: nil), .attemptFailed(failure, isFinal: true)]
        for (number, ending) in endings.enumerated() {
            let fixture = try JobStoreFixture(kind)
            let lease = try #require(try fixture.taken("a\(number)"))
            #expect(lease.job.report == nil)
            _ = try fixture.store.update([JobUpdate(lease, ending, report: document)])
            try fixture.store.endLeases(ofOthersThan: "other")
            #expect(try fixture.store.orphans(inbox: "in", owner: "other").map(\.report) == [document])
            _ = try fixture.store.update([JobUpdate(lease, .obstructed(failure, after: 0))])
            let next = try #require(try fixture.store.take(fixture.request()).first)
            #expect(next.job.report == document)
            _ = try fixture.store.update([JobUpdate(next, .settled)])
            #expect(try fixture.store.job(lease.job.id)?.report == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an attempt that is made again leaves no report`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let lease = try #require(try fixture.taken("a"))
        let event = JobEvent.attemptFailed(failure, isFinal: false)
        _ = try fixture.store.update([JobUpdate(lease, event, report: [1])])
        #expect(try fixture.store.job(lease.job.id)?.progress.state == .waiting)
        #expect(try fixture.store.job(lease.job.id)?.report == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `success: offered, taken, published, settled`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let lease = try #require(try fixture.taken("a"))
        #expect(lease.effects == [.claim, .attempt])
        #expect(lease.job.progress.state == .running && lease.job.progress.attempts == 1 && lease.job.recipe == "r1")
        #expect(try fixture.store.job(lease.job.id) == lease.job)
        let published = try fixture.store.update([JobUpdate(lease, .published(damage: nil))])
        #expect(published == [.changed(JobProgress(.published, attempts: 1, notBefore: 1_000_000), [.settle])])
        #expect(try fixture.store.extend([lease], by: 1) == [lease], "its holder goes on with it")
        fixture.now += 5
        let settled = try fixture.store.update([JobUpdate(lease, .settled)])
        #expect(settled == [.changed(JobProgress(.done, attempts: 1, notBefore: 1_000_000), [.countDone])])
        #expect(try fixture.store.totals(inbox: "in") == JobCounts(done: 1))
        #expect(try fixture.store.totals(inbox: "other") == JobCounts())
        let changed = try #require(try fixture.store.job(lease.job.id)).changed
        #expect(abs(changed - wallClock()) < 60_000, "by the time of day, whatever the store's time is")
        #expect(try fixture.store.openCount(inbox: "in") == (0, 0, nil))
    }

    @Test(arguments: StoreKind.allCases)
    func `failure: attempts with longer and longer delays, then a dead letter`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        _ = try fixture.store.offer([fixture.new("a")])
        for (attempt, delay) in [(1, 1000), (2, 2000)] {
            let lease = try #require(try fixture.store.take(fixture.request()).first)
            #expect(
                lease.job.progress.attempts == attempt
                    && lease.effects == (attempt == 1 ? [.claim, .attempt] : [.attempt]))
            let due = fixture.now + delay
            let outcome = try fixture.store.update([
                JobUpdate(lease, .attemptFailed(failure, isFinal: false))
            ])
            let progress = JobProgress(.waiting, attempts: attempt, notBefore: due, failure: failure)
            #expect(outcome == [.changed(progress, [.retry(after: delay)], dueIn: delay)])
            #expect(try fixture.store.nextDue(inbox: "in", owner: "two") == delay)
            #expect(try fixture.store.openCount(inbox: "in") == (1, 1, fixture.now - 1_000_000))
            #expect(
                try fixture.store.update([JobUpdate(lease, .published(damage: nil))]) == [.leaseLost],
                "a job that waits belongs to nobody")
            fixture.now = due - 1
            #expect(try fixture.store.take(fixture.request()).isEmpty)
            fixture.now = due
        }
        let lease = try #require(try fixture.store.take(fixture.request()).first)
        let outcome = try fixture.store.update([
            JobUpdate(lease, .attemptFailed(failure, isFinal: false))
        ])
        #expect(
            outcome == [
                .changed(
                    JobProgress(.rejected, attempts: 3, notBefore: fixture.now, failure: failure),
                    [.deadLetter(failure)])
            ])
        _ = try fixture.store.update([JobUpdate(lease, .settled)])
        #expect(try fixture.store.totals(inbox: "in") == JobCounts(failed: 1))
        let failures = try fixture.store.recentFailures(limit: 5)
        #expect(failures.map(\.progress.failure) == [failure])
    }

    @Test(arguments: StoreKind.allCases, [JobEvent.unclaimed, .returned])
    func `a claim that came to nothing leaves nothing and counts as nothing`(kind: StoreKind, event: JobEvent) throws {
        let fixture = try JobStoreFixture(kind)
        let lease = try #require(try fixture.taken("a"))
        #expect(try fixture.store.update([JobUpdate(lease, event)]) == [.changed(nil, [])])
        #expect(try fixture.store.job(lease.job.id) == nil)
        #expect(try fixture.store.totals(inbox: "in") == JobCounts())
        #expect(try fixture.store.offer([fixture.new("a")]) == [.added])
    }

    @Test(arguments: StoreKind.allCases)
    func `an event that does not follow changes nothing and says so; the lease holds`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let lease = try #require(try fixture.taken("a"))
        #expect(try fixture.store.update([JobUpdate(lease, .settled)]) == [.changed(lease.job.progress, [.outOfStep])])
        #expect(try fixture.store.job(lease.job.id) == lease.job)
        #expect(try fixture.store.extend([lease], by: 1000) == [lease])
    }

    @Test(arguments: StoreKind.allCases)
    func `what was stopped in between goes first again, without a lease`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let lease = try #require(try fixture.taken("a"))
        let rejected = try #require(try fixture.taken("b"))
        _ = try fixture.store.update([JobUpdate(rejected, .attemptFailed(failure, isFinal: true))])
        _ = try fixture.store.offer([fixture.new("c")])
        let outcomes = try fixture.store.update([JobUpdate(lease, .interrupted), JobUpdate(rejected, .interrupted)])
        #expect(outcomes.map(\.progress?.state) == [.waiting, .rejected])
        let again = try (0..<3).flatMap { _ in try fixture.store.take(fixture.request(owner: "next")) }
        #expect(again.map(\.job.path.text) == ["a", "b", "c"])
        #expect(again.map(\.effects) == [[.attempt], [.deadLetter(failure)], [.claim, .attempt]])
        #expect(again.map(\.job.progress.attempts) == [1, 1, 1])
    }

    @Test(arguments: StoreKind.allCases)
    func `a dead letter whose move is obstructed is free again, and comes after what has waited longer`(kind: StoreKind)
        throws
    {
        let fixture = try JobStoreFixture(kind)
        let lease = try #require(try fixture.taken("a"))
        _ = try fixture.store.update([JobUpdate(lease, .published(damage: nil))])
        fixture.now += 10
        _ = try fixture.store.offer([fixture.new("b")])
        fixture.now += 10
        let outcome = try fixture.store.update([JobUpdate(lease, .obstructed(failure, after: 0))])
        #expect(outcome == [.changed(JobProgress(.published, attempts: 1, notBefore: fixture.now), [])])
        let next = try (0..<2).flatMap { _ in try fixture.store.take(fixture.request()) }
        #expect(next.map(\.job.path.text) == ["b", "a"])
        #expect(next.last?.effects == [.settle])
    }

    @Test(arguments: StoreKind.allCases)
    func `a source that met a full disk comes after those that were offered before its last attempt`(kind: StoreKind)
        throws
    {
        let fixture = try JobStoreFixture(kind)
        let large = try #require(try fixture.taken("large"))
        _ = try fixture.store.offer([fixture.new("small")])
        fixture.now += 100
        _ = try fixture.store.update([
            JobUpdate(large, .obstructed(Failure(.diskFull, stage: "publish", "full"), after: 0))
        ])
        #expect(try fixture.store.take(fixture.request()).map(\.job.path.text) == ["small"])
        let again = try fixture.store.take(fixture.request())
        #expect(again.map(\.job.path.text) == ["large"] && again.map(\.job.progress.attempts) == [1])
    }

    // MARK: - Offers

    @Test(arguments: StoreKind.allCases)
    func `there is one open job of a path; a new look at a source that is still in its inbox replaces the old one`(
        kind: StoreKind
    ) throws {
        let fixture = try JobStoreFixture(kind)
        let first = fixture.new("a")
        let outcomes = try fixture.store.offer([
            first, fixture.new("b"), fixture.new("a", bytes: 99, keeps: true), fixture.new("a", inbox: "other"),
        ])
        #expect(outcomes == [.added, .added, .known, .added])
        let job = try #require(try fixture.store.job(first.id))
        #expect(job.observed.stamp.bytes == 99 && job.keepsOriginal)
        #expect(try fixture.store.openCount(inbox: "in").count == 2)
        let lease = try #require(try fixture.store.take(fixture.request()).first)
        #expect(lease.job.id == first.id && lease.job.observed.stamp.bytes == 99)
        #expect(try fixture.store.offer([fixture.new("a", bytes: 100)]) == [.busy])
        #expect(try fixture.store.job(first.id)?.observed.stamp.bytes == 99)
        _ = try fixture.store.update([JobUpdate(lease, .published(damage: nil))])
        #expect(try fixture.store.offer([fixture.new("a")]) == [.busy])
        _ = try fixture.store.update([JobUpdate(lease, .settled)])
        #expect(try fixture.store.offer([fixture.new("a")]) == [.added], "what has ended is no hindrance")
    }

    @Test(arguments: StoreKind.allCases)
    func `what is counted stays with the same source that is offered again, and is not another one's`(kind: StoreKind)
        throws
    {
        let fixture = try JobStoreFixture(kind)
        let lease = try #require(try fixture.taken("a"))
        // The power went; the claim's rename was not on the disk yet.
        try fixture.store.endLeases(ofOthersThan: "successor")
        let orphan = try #require(try fixture.store.orphans(inbox: "in", owner: "successor").first)
        _ = try fixture.store.recover([(orphan, .inbox)], by: "successor")
        #expect(try fixture.store.offer([fixture.new("a")]) == [.known])
        #expect(
            try fixture.store.job(lease.job.id)?.progress == JobProgress(.offered, ends: 1, notBefore: fixture.now))
        let second = try #require(try fixture.store.take(fixture.request()).first)
        #expect(second.job.progress.attempts == 1 && second.job.progress.ends == 1)
        #expect(second.effects == [.claim, .attempt])
        try fixture.store.endLeases(ofOthersThan: "successor")
        _ = try fixture.store.recover([(second.job, .inbox)], by: "successor")
        #expect(try fixture.store.offer([fixture.new("a", modified: 2)]) == [.known])
        #expect(try fixture.store.job(lease.job.id)?.progress.ends == 0, "it was written anew")
    }

    @Test(arguments: StoreKind.allCases)
    func `a source in the spool is attempted without a claim, also under the name of a job that has ended`(
        kind: StoreKind
    ) throws {
        let fixture = try JobStoreFixture(kind)
        let new = fixture.new("a", isInSpool: true)
        #expect(try fixture.store.offer([new]) == [.added])
        let lease = try #require(try fixture.store.take(fixture.request()).first)
        #expect(lease.effects == [.attempt])
        _ = try fixture.store.update([JobUpdate(lease, .published(damage: nil))])
        _ = try fixture.store.update([JobUpdate(lease, .settled)])
        let ended = try #require(try fixture.store.job(new.id))
        #expect(try fixture.store.recover([(ended, .spool)], by: "me").map(\.effects) == [[.adopt]])
        #expect(try fixture.store.offer([new]) == [.added])
        #expect(try fixture.store.take(fixture.request()).map(\.job.id) == [new.id])
        #expect(try fixture.store.totals(inbox: "in") == JobCounts(done: 1))
    }

    // MARK: - Order and groups

    @Test(arguments: StoreKind.allCases)
    func `the longest due is first; a retry is not put off by a flood of newer sources`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let retried = try #require(try fixture.taken("retried"))
        _ = try fixture.store.update([JobUpdate(retried, .attemptFailed(failure, isFinal: false))])
        _ = try fixture.store.offer([fixture.new("b"), fixture.new("a")])
        fixture.now += 1000
        _ = try fixture.store.offer([fixture.new("late")])
        fixture.now += 1
        let all = try (0..<5).flatMap { _ in try fixture.store.take(fixture.request()) }
        #expect(all.map(\.job.path.text) == ["b", "a", "retried", "late"])
    }

    @Test(arguments: StoreKind.allCases)
    func `each inbox has its own order`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        _ = try fixture.store.offer([fixture.new("a", inbox: "x"), fixture.new("b", inbox: "y")])
        #expect(try fixture.store.take(fixture.request(9, inbox: "y")).map(\.job.path.text) == ["b"])
        #expect(try fixture.store.inboxesWithOpenJobs() == ["x", "y"])
        #expect(try fixture.store.nextDue(inbox: "y", owner: "two") == nil)
        #expect(try fixture.store.nextDue(inbox: "x", owner: "two") == 0)
        #expect(try fixture.store.take(fixture.request(inbox: "z")).isEmpty)
        #expect(try fixture.store.take(fixture.request(0, inbox: "x")).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `a group ends before the first job that is not light`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        _ = try fixture.store.offer([
            fixture.new("1"), fixture.new("2", bytes: 100), fixture.new("heavy", bytes: 101), fixture.new("3"),
            fixture.new("set", isSet: true),
            fixture.new("4"), fixture.new("5"), fixture.new("6"),
        ])
        let groups = try (0..<6).map { _ in try fixture.store.take(fixture.request(2)).map(\.job.path.text) }
        #expect(groups == [["1", "2"], ["heavy"], ["3"], ["set"], ["4", "5"], ["6"]])
    }

    @Test(arguments: StoreKind.allCases)
    func `what was begun before is alone`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        _ = try fixture.store.offer([fixture.new("a"), fixture.new("b")])
        let leases = try fixture.store.take(fixture.request(2))
        #expect(leases.count == 2)
        _ = try fixture.store.update(leases.map { JobUpdate($0, .interrupted) })
        _ = try fixture.store.offer([fixture.new("c"), fixture.new("d")])
        let groups = try (0..<4).map { _ in try fixture.store.take(fixture.request(9)).map(\.job.path.text) }
        #expect(groups == [["a"], ["b"], ["c", "d"], []])
    }

    // MARK: - Leases

    @Test(arguments: StoreKind.allCases)
    func `a leased job is taken by nobody else until its lease has run out; then the first holder can change nothing`(
        kind: StoreKind
    ) throws {
        let fixture = try JobStoreFixture(kind)
        let first = try #require(try fixture.taken("a", owner: "one", lease: 1000))
        fixture.now += 999
        #expect(try fixture.store.take(fixture.request(owner: "two")).isEmpty)
        #expect(try fixture.store.nextDue(inbox: "in", owner: "two") == nil)
        fixture.now += 1
        #expect(try fixture.store.nextDue(inbox: "in", owner: "two") != nil)
        let second = try #require(try fixture.store.take(fixture.request(owner: "two", recipe: "r2")).first)
        #expect(second.token != first.token && second.job.id == first.job.id)
        #expect(second.effects == [.claim, .attempt] && second.job.progress.isSuspect && second.job.recipe == "r2")
        #expect(try fixture.store.update([JobUpdate(first, .published(damage: nil))]) == [.leaseLost])
        #expect(try fixture.store.extend([first, second], by: 1000) == [second])
        #expect(try fixture.store.job(first.job.id) == second.job)
        #expect(
            try fixture.store.update([
                JobUpdate(first, .published(damage: nil)), JobUpdate(second, .published(damage: nil)),
            ]).map(\.progress?.state)
                == [nil, .published])
    }

    @Test(arguments: StoreKind.allCases)
    func `a living holder keeps its jobs whatever the clock says`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        _ = try fixture.store.offer([fixture.new("a")])
        let lease = try #require(try fixture.taken("a", owner: "one", lease: 1000))
        fixture.now += 86_400_000
        #expect(try fixture.store.take(fixture.request(owner: "one")).isEmpty)
        #expect(try fixture.store.nextDue(inbox: "in", owner: "one") == nil)
        #expect(try fixture.store.nextDue(inbox: "in", owner: "two") != nil)
        #expect(
            try fixture.store.update([JobUpdate(lease, .published(damage: nil))]).map(\.progress?.state) == [.published]
        )
    }

    @Test(arguments: StoreKind.allCases)
    func `a lease that ran out still holds if nobody has taken the job`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let lease = try #require(try fixture.taken("a", lease: 10))
        fixture.now += 1000
        #expect(try fixture.store.extend([lease], by: 500) == [lease])
        fixture.now += 499
        #expect(try fixture.store.take(fixture.request(owner: "two")).isEmpty)
        fixture.now += 1
        #expect(
            try fixture.store.update([JobUpdate(lease, .published(damage: nil))]).map(\.progress?.state) == [.published]
        )
    }

    @Test(arguments: StoreKind.allCases)
    func `a job whose holder dies each time is rejected after sixteen times, and has lost no attempt`(kind: StoreKind)
        throws
    {
        let fixture = try JobStoreFixture(kind)
        _ = try fixture.store.offer([fixture.new("a")])
        for start in 1...16 {
            let lease = try #require(
                try fixture.store.take(fixture.request(owner: "start \(start)", lease: 10)).first)
            #expect(lease.effects == [.claim, .attempt])
            #expect(lease.job.progress.attempts == 1 && lease.job.progress.ends == max(0, start - 1))
            if lease.job.progress.isSuspect {
                var progress = lease.job.progress
                progress.ends += 1
                #expect(try fixture.store.update([JobUpdate(lease, .begunAlone)]) == [.changed(progress, [.attempt])])
                #expect(try fixture.store.extend([lease], by: 10) == [lease], "its holder goes on with it")
            }
            fixture.now += 10
        }
        let words = "the program ended 16 times in a row while it was under way, at last with nothing beside it"
        let reason = Failure(.workerCrashed, stage: "render", words)
        #expect(
            try fixture.store.take(fixture.request(owner: "last", lease: 10)).map(\.effects)
                == [[.claim, .deadLetter(reason)]])
    }

    // MARK: - Recovery

    @Test(arguments: StoreKind.allCases)
    func `a start finds the jobs of dead owners and those of nobody, and leaves its own alone`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let dead = try #require(try fixture.taken("dead", owner: "before"))
        let mine = try #require(try fixture.taken("mine", owner: "me"))
        _ = try fixture.store.offer([fixture.new("offered"), fixture.new("elsewhere", inbox: "other")])
        try fixture.store.endLeases(ofOthersThan: "me")
        let orphans = try fixture.store.orphans(inbox: "in", owner: "me")
        #expect(orphans.map(\.path.text) == ["dead", "offered"])
        let outcomes = try fixture.store.recover([(orphans[0], .spool), (orphans[1], .nowhere)], by: "me")
        #expect(
            outcomes == [.changed(JobProgress(.waiting, ends: 1, notBefore: fixture.now), []), .changed(nil, [])])
        #expect(try fixture.store.update([JobUpdate(dead, .published(damage: nil))]) == [.leaseLost])
        #expect(try fixture.store.take(fixture.request()).map(\.job.path.text) == ["dead"], "it need not run out")
        #expect(try fixture.store.extend([mine], by: 1) == [mine])
    }

    @Test(arguments: StoreKind.allCases)
    func `what went on since the look is not recovered a second time`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        _ = try fixture.taken("a", owner: "before")
        try fixture.store.endLeases(ofOthersThan: "me")
        let orphan = try #require(try fixture.store.orphans(inbox: "in", owner: "me").first)
        _ = try fixture.store.recover([(orphan, .spool)], by: "me")
        let lease = try #require(try fixture.store.take(fixture.request()).first)
        #expect(try fixture.store.recover([(orphan, .spool)], by: "me") == [.leaseLost])
        #expect(try fixture.store.job(orphan.id) == lease.job)
    }

    @Test(arguments: StoreKind.allCases)
    func `a job that was published or rejected before the crash is ended by its successor`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let good = try #require(try fixture.taken("good", keeps: true, owner: "before", recipe: "old"))
        let bad = try #require(try fixture.taken("bad", owner: "before"))
        _ = try fixture.store.update([
            JobUpdate(good, .published(damage: nil)),
            JobUpdate(bad, .attemptFailed(failure, isFinal: true)),
        ])
        try fixture.store.endLeases(ofOthersThan: "me")
        let orphans = try fixture.store.orphans(inbox: "in", owner: "me")
        let outcomes = try fixture.store.recover(orphans.map { ($0, .nowhere) }, by: "me")
        #expect(outcomes.map(\.effects) == [[.countDone], [.countFailed, .completeNote]])
        #expect(try fixture.store.totals(inbox: "in") == JobCounts(done: 1, failed: 1))
        let ended = try orphans.map { try #require(try fixture.store.job($0.id)) }
        _ = try fixture.store.recover(ended.map { ($0, .nowhere) }, by: "me")
        #expect(try fixture.store.totals(inbox: "in") == JobCounts(done: 1, failed: 1), "nothing is counted twice")
    }

    @Test(arguments: StoreKind.ledgers)
    func `a job that ends after a crash is remembered with the recipe of its attempt, not with today's`(kind: StoreKind)
        throws
    {
        let fixture = try JobStoreFixture(kind)
        let lease = try #require(try fixture.taken("a", keeps: true, owner: "before", recipe: "old"))
        _ = try fixture.store.update([JobUpdate(lease, .published(damage: nil))])
        try fixture.store.endLeases(ofOthersThan: "me")
        let orphan = try #require(try fixture.store.orphans(inbox: "in", owner: "me").first)
        _ = try fixture.store.recover([(orphan, .spool)], by: "me")
        let settling = try #require(try fixture.store.take(fixture.request(recipe: "new")).first)
        #expect(settling.effects == [.settle])
        _ = try fixture.store.update([JobUpdate(settling, .settled)])
        let kept = try #require(try fixture.keeping.kept(inbox: "in")[BytePath("a")])
        #expect(kept.recipe == "old" && !kept.covers(lease.job.observed, recipe: "new"))
    }

    // MARK: - Kept originals, totals, pruning

    @Test(arguments: StoreKind.ledgers)
    func `an original that stays is known as done until it, or what is to be done with it, changes`(kind: StoreKind)
        throws
    {
        let fixture = try JobStoreFixture(kind)
        try fixture.end("good", keeps: true)
        try fixture.end("bad", failing: failure, keeps: true)
        try fixture.end("moved")
        let kept = try fixture.keeping.kept(inbox: "in")
        #expect(Set(kept.keys.map(\.text)) == ["good", "bad"])
        let good = try #require(kept[BytePath("good")])
        #expect(good.code == nil && kept[BytePath("bad")]?.code == .workerCrashed)
        #expect(good.observed == fixture.new("good").observed)
        #expect(good.covers(FileVersion(device: 1, inode: 8, bytes: 10, modified: 1), recipe: "r1"))
        #expect(!good.covers(good.observed, recipe: "r2"))
        #expect(!good.covers(FileVersion(device: .max, inode: 1 << 63, bytes: 11, modified: 1), recipe: "r1"))
        try fixture.keeping.forgetKept(inbox: "in", paths: [BytePath("good"), BytePath("nothing")])
        #expect(try fixture.keeping.kept(inbox: "in").keys.map(\.text) == ["bad"])
        try fixture.end("bad", keeps: true)
        #expect(try fixture.keeping.kept(inbox: "in")[BytePath("bad")]?.code == .some(nil))
    }

    @Test(arguments: StoreKind.allCases)
    func `old jobs go; open ones and the totals stay, and failures have a share of their own`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        for index in 0..<12 { try fixture.end("\(index)") }
        for index in 0..<3 { try fixture.end("bad\(index)", failing: failure) }
        _ = try fixture.store.offer([fixture.new("open")])
        #expect(try fixture.store.prune(keeping: 5) == 7)
        #expect(try fixture.store.prune(keeping: 5) == 0)
        #expect(try fixture.store.totals(inbox: "in") == JobCounts(done: 12, failed: 3))
        #expect(try fixture.store.openCount(inbox: "in").count == 1)
        #expect(try fixture.store.recentFailures(limit: 2).map(\.path.text) == ["bad2", "bad1"])
    }

    @Test(arguments: StoreKind.allCases)
    func `what is old is decided by the order of offers, not by a clock that was wrong for a day`(kind: StoreKind)
        throws
    {
        let fixture = try JobStoreFixture(kind)
        fixture.now = 4_000_000_000_000
        try fixture.end("in 2096", failing: failure)
        fixture.now = 1_700_000_000_000
        for index in 0..<3 { try fixture.end("now\(index)", failing: failure) }
        #expect(try fixture.store.recentFailures(limit: 1).map(\.path.text) == ["now2"])
        #expect(try fixture.store.prune(keeping: 3) == 1)
        #expect(try fixture.store.recentFailures(limit: 9).map(\.path.text) == ["now2", "now1", "now0"])
    }

    // MARK: - Names

    private let out = BytePath("out")
    private let a = BytePath("in/a.jpg")
    private let b = BytePath("in/a.png")
    private func paths(_ names: String...) -> [BytePath] { names.map { BytePath($0) } }

    @Test(arguments: StoreKind.allCases)
    func `a name belongs to the source that has it, until it is given away or released`(kind: StoreKind) throws {
        let store = try JobStoreFixture(kind).store
        #expect(try store.claim(paths("a.webp", "a@2x.webp"), for: a, in: out, seen: [:]))
        #expect(try store.claim(paths("a.webp"), for: a, in: out, seen: [:]), "the source itself need not be named")
        #expect(try Set(store.names(of: a, in: out)) == Set(paths("a.webp", "a@2x.webp")))
        #expect(try store.names(of: a, in: BytePath("other")).isEmpty && store.names(of: b, in: out).isEmpty)
        let owned = OwnedName(outbox: out, name: BytePath("a.webp"), source: a, contents: [])
        #expect(try store.owners(of: paths("a.webp", "free.webp"), in: out) == [BytePath("a.webp"): owned])
        #expect(try !store.claim(paths("free.webp", "a.webp"), for: b, in: out, seen: [:]))
        #expect(try store.owners(of: paths("free.webp"), in: out).isEmpty, "all or none")
        #expect(try !store.claim(paths("a.webp"), for: b, in: out, seen: [BytePath("a.webp"): BytePath("in/c")]))
        #expect(try store.claim(paths("a.webp"), for: b, in: out, seen: [BytePath("a.webp"): a]))
        #expect(try store.names(of: a, in: out) == paths("a@2x.webp") && store.names(of: b, in: out) == paths("a.webp"))
        try store.release(paths("a.webp"), of: a, in: out)
        #expect(try store.names(of: b, in: out) == paths("a.webp"), "it is not theirs")
        try store.release(paths("a.webp", "nothing"), of: b, in: out)
        #expect(try store.names(of: b, in: out).isEmpty)
        #expect(
            try store.claim(paths("a.webp"), for: a, in: out, seen: [BytePath("a.webp"): b]),
            "an owner that is gone is no hindrance")
    }

    @Test(arguments: StoreKind.allCases)
    func `the contents of a name are recorded for its owner alone, and stay when another one gets it`(kind: StoreKind)
        throws
    {
        let store = try JobStoreFixture(kind).store
        let name = BytePath("a.webp")
        #expect(try store.claim([name], for: a, in: out, seen: [:]))
        for (source, contents) in [(a, ["new", "old"]), (b, ["theirs"])] {
            try store.record([OwnedName(outbox: out, name: name, source: source, contents: contents)], areNoted: false)
        }
        #expect(try store.owners(of: [name], in: out)[name]?.contents == ["new", "old"])
        #expect(try store.claim([name], for: a, in: out, seen: [:]))
        #expect(try store.claim([name], for: b, in: out, seen: [name: a]))
        #expect(
            try store.ownedNames(after: nil, limit: 9) == [
                OwnedName(outbox: out, name: name, source: b, contents: ["new", "old"])
            ])
    }

    @Test(arguments: StoreKind.ledgers)
    func `a name is freed only if its source had no job when it was looked at, and has had none since`(kind: StoreKind)
        throws
    {
        let fixture = try JobStoreFixture(kind)
        let store = try fixture.keeping
        for name in ["idle", "open", "later", "ended"] {
            #expect(try store.claim(paths(name), for: BytePath("in/" + name), in: out, seen: [:]))
        }
        try fixture.end("ended")
        let open = try fixture.taken("open")
        let rendering = try #require(try fixture.taken("rendering"))
        #expect(try store.claim(paths("rendering"), for: BytePath("in/rendering"), in: out, seen: [:]))
        let (names, latest) = try store.idle(store.ownedNames(after: nil, limit: 9))
        #expect(names.map(\.name.text) == ["ended", "idle", "later"])
        // One that was open during the look, and has put its file there since.
        _ = try store.update([JobUpdate(rendering, .published(damage: nil))])
        _ = try store.update([JobUpdate(rendering, .settled)])
        // A job that came, published and ended while somebody looked for the files.
        try fixture.end("later")
        try store.release(names, unlessJobsAfter: latest)
        #expect(try store.ownedNames(after: nil, limit: 9).map(\.name.text) == ["later", "open", "rendering"])
        withExtendedLifetime(open) {}
    }

    @Test(arguments: StoreKind.allCases)
    func `of two who want a name at once, one gets it`(kind: StoreKind) async throws {
        let store = try JobStoreFixture(kind).store
        let winners = try await withThrowingTaskGroup(of: Int.self) { group in
            for claimant in 0..<4 {
                group.addTask {
                    try await onNewThread {
                        try (0..<50).count { index in
                            let name = BytePath("\(index)")
                            return try store.claim(
                                [name], for: BytePath("source\(claimant)"), in: BytePath("out"), seen: [:])
                        }
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(winners == 50)
    }

    @Test(arguments: StoreKind.allCases)
    func `all owned names are found in steps, each once`(kind: StoreKind) throws {
        let store = try JobStoreFixture(kind).store
        for index in 0..<7 {
            for outbox in [out, BytePath([0xFF])] {
                #expect(try store.claim(paths("n\(index)", "m\(index)"), for: a, in: outbox, seen: [:]))
            }
        }
        var found: [OwnedName] = []
        while true {
            let next = try store.ownedNames(after: found.last, limit: 5)
            #expect(next.count <= 5)
            if next.isEmpty { break }
            found += next
        }
        #expect(found.count == 28 && Set(found.map { $0.outbox.bytes + [0] + $0.name.bytes }).count == 28)
        #expect(found.allSatisfy { $0.source == a })
    }

    @Test(arguments: StoreKind.ofOneMachine)
    func `a pause that was asked for is there after a restart, and goes along with a new name`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let here = [BytePath("/in"): "in"]
        try fixture.reopened(here).recordPause(of: "in", since: 7)
        // The first one counts.
        try fixture.reopened(here).recordPause(of: "in", since: 9)
        #expect(try fixture.reopened(here).recordedPause(of: "in") == 7)
        let renamed = try fixture.reopened([BytePath("/in"): "new"])
        #expect(try renamed.recordedPause(of: "new") == 7 && renamed.recordedPause(of: "in") == nil)
        try renamed.endPause(of: "new")
        #expect(try fixture.reopened([BytePath("/in"): "new"]).recordedPause(of: "new") == nil)
    }

    // MARK: - Many threads, many jobs

    @Test(arguments: StoreKind.allCases)
    func `many threads may use one store, and no job is taken twice`(kind: StoreKind) async throws {
        let fixture = try JobStoreFixture(kind)
        _ = try fixture.store.offer((0..<200).map { fixture.new("\($0)") })
        let taken = try await withThrowingTaskGroup(of: [String].self) { group in
            for thread in 0..<4 {
                group.addTask {
                    try await onNewThread {
                        var taken: [String] = []
                        while case let leases = try fixture.store.take(fixture.request(7, owner: "\(thread)")),
                            !leases.isEmpty
                        {
                            _ = try fixture.store.update(leases.map { JobUpdate($0, .published(damage: nil)) })
                            _ = try fixture.store.update(leases.map { JobUpdate($0, .settled) })
                            taken += leases.map(\.job.path.text)
                        }
                        return taken
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(taken.count == 200 && Set(taken).count == 200)
        #expect(try fixture.store.totals(inbox: "in").done == 200)
    }
}
