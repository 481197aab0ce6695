// The contract of every store for two processes that have it at once, whatever the clocks of their machines show.
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct TwoConnectionsTests {
    private let failure = Failure(.ioError, stage: "publish", "no answer")

    private static let skews: [Duration] = [.seconds(-7200), .seconds(0), .seconds(7200)]

    @Test(arguments: StoreKind.allCases, skews)
    func `a job is one holder's until the lease has ended, by the store's time`(kind: StoreKind, skew: Duration) throws
    {
        let fixture = try JobStoreFixture(kind)
        let other = try fixture.another(wall: skew)
        let lease = try #require(try fixture.taken("a", owner: "one", lease: 1_000))
        #expect(try other.offer([fixture.new("a")]) == [.busy])
        fixture.now += 900
        #expect(try other.take(fixture.request(owner: "two")).isEmpty)
        #expect(try other.orphans(inbox: "in", owner: "two").isEmpty, "its holder may live")
        #expect(try other.recover([(lease.job, .inbox)], by: "two") == [.leaseLost])
        #expect(try other.nextDue(inbox: "in", owner: "two") == nil)
        #expect(try fixture.store.extend([lease], by: 1_000) == [lease])
        fixture.now += 900
        #expect(try other.take(fixture.request(owner: "two")).isEmpty, "it was extended")
        fixture.now += 200
        #expect(try other.orphans(inbox: "in", owner: "two").map(\.id) == [lease.job.id])
        let second = try #require(try other.take(fixture.request(owner: "two")).first)
        #expect(try fixture.store.extend([lease], by: 1_000).isEmpty)
        #expect(try fixture.store.update([JobUpdate(lease, .published(damage: nil))]) == [.leaseLost])
        #expect(try other.update([JobUpdate(second, .published(damage: nil))]).map(\.progress?.state) == [.published])
        #expect(try fixture.store.job(lease.job.id)?.progress.state == .published)
    }

    @Test(arguments: StoreKind.allCases, skews)
    func `what one holder puts off is due for the other at the same moment`(kind: StoreKind, skew: Duration) throws {
        let fixture = try JobStoreFixture(kind)
        let other = try fixture.another(wall: skew)
        let lease = try #require(try fixture.taken("a", owner: "one"))
        #expect(
            try fixture.store.update([JobUpdate(lease, .obstructed(failure, after: 5_000))]).map(\.dueIn) == [5_000])
        let due = try #require(try other.nextDue(inbox: "in", owner: "two"))
        #expect(abs(due - 5_000) <= 1)
        fixture.now += 4_990
        #expect(try other.take(fixture.request(owner: "two")).isEmpty)
        fixture.now += 20
        let again = try #require(try other.take(fixture.request(owner: "two")).first)
        #expect(again.job.id == lease.job.id && again.effects == [.attempt])
    }

    @Test(arguments: StoreKind.allCases)
    func `who knows that no other holder lives ends their leases, and not its own`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let other = try fixture.another(wall: .zero)
        let (dead, own) = (try fixture.taken("a", owner: "one"), try fixture.taken("b", owner: "two"))
        try other.endLeases(ofOthersThan: "two")
        #expect(try other.orphans(inbox: "in", owner: "two").map(\.path.text) == ["a"])
        let found = try other.recover([(#require(dead).job, .spool), (#require(own).job, .spool)], by: "two")
        #expect(found.map(\.progress?.state) == [.waiting, nil])
        #expect(try fixture.store.update([JobUpdate(#require(dead), .published(damage: nil))]) == [.leaseLost])
        #expect(
            try fixture.store.update([JobUpdate(#require(own), .published(damage: nil))]).map(\.progress?.state)
                == [.published])
    }

    @Test(arguments: StoreKind.allCases)
    func `both see the same jobs and names, and a name is given once`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let other = try fixture.another(wall: .seconds(60))
        try fixture.end("a")
        _ = try fixture.taken("b")
        _ = try other.offer([fixture.new("c")])
        for store in [fixture.store, other] {
            #expect(try store.counts()["in"].map { [$0.open, $0.begun, $0.done] } == [2, 1, 1])
        }
        let (name, out) = ([BytePath("a.webp")], BytePath("out"))
        #expect(try fixture.store.claim(name, for: BytePath("in/a"), in: out, seen: [:]))
        #expect(try !other.claim(name, for: BytePath("in/b"), in: out, seen: [:]))
        #expect(try other.owners(of: name, in: out).values.map(\.source.text) == ["in/a"])
    }

    @Test(arguments: StoreKind.ledgers)
    func `a name stays whose source was begun elsewhere while its file was looked for`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let store = try fixture.keeping
        let other = try fixture.another(wall: .zero)
        let (name, out) = (BytePath("a.webp"), BytePath("out"))
        #expect(try store.claim([name], for: BytePath("in/a"), in: out, seen: [:]))
        let latest = try store.idle([]).latest
        _ = try other.offer([fixture.new("a")])
        try store.release(store.ownedNames(after: nil, limit: 9), unlessJobsAfter: latest)
        #expect(try store.ownedNames(after: nil, limit: 9).map(\.name) == [name])
        let lease = try #require(try other.take(fixture.request()).first)
        _ = try other.update([JobUpdate(lease, .published(damage: nil))])
        _ = try other.update([JobUpdate(lease, .settled)])
        try store.release(store.ownedNames(after: nil, limit: 9), unlessJobsAfter: latest)
        #expect(try store.ownedNames(after: nil, limit: 9).map(\.name) == [name], "it may have written it anew")
        try store.release(store.ownedNames(after: nil, limit: 9), unlessJobsAfter: store.idle([]).latest)
        #expect(try store.ownedNames(after: nil, limit: 9).isEmpty)
    }

    @Test(arguments: StoreKind.ledgers, skews)
    func `hooks, kept originals and pauses of one are those of the other`(kind: StoreKind, skew: Duration) throws {
        let fixture = try JobStoreFixture(kind)
        let store = try fixture.keeping
        let other = try #require(try fixture.another(wall: skew) as? any Ledger)
        #expect(try store.addHook(inbox: "in", event: "success", key: "k", body: [1], limit: 9) == 0)
        fixture.now += 10
        let record = try #require(try other.dueHooks(ofEachInbox: 9).first)
        #expect(record.key == "k" && record.body == [1])
        try other.postponeHook(record.number, by: 5_000)
        #expect(try store.dueHooks(ofEachInbox: 9).isEmpty)
        #expect(try abs(#require(try store.nextHook()) - 5_000) <= 1)
        fixture.now += 5_010
        #expect(try store.dueHooks(ofEachInbox: 9).map(\.attempts) == [1])
        try store.removeHook(record.number)
        #expect(try other.waitingHooks().isEmpty)
        try store.record(HookLoss(time: 7, inbox: "in", call: nil, reason: "it failed"))
        #expect(try other.hookLosses(since: 0).map(\.reason) == ["it failed"])

        try fixture.end("a", keeps: true)
        #expect(try other.kept(inbox: "in").keys.map(\.text) == ["a"])
        try other.recordPause(of: "in", since: 5)
        #expect(try store.recordedPause(of: "in") == 5)
        try store.endPause(of: "in")
        #expect(try other.recordedPause(of: "in") == nil)
        try store.record(identity: "abc")
        #expect(try other.identity() == "abc")
    }
}
