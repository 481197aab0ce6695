// The contract of every ledger: what it keeps besides jobs and names, and all of it when an inbox gets
// another name.
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct LedgerTests {
    // MARK: - Inboxes with new names

    private let one = BytePath("/srv/one")
    private let two = BytePath("/srv/two")

    @Test(arguments: StoreKind.ofOneMachine)
    func `an inbox that was given another name takes its jobs, kept originals, totals and names along`(kind: StoreKind)
        throws
    {
        let fixture = try JobStoreFixture(kind)
        let out = BytePath("out")
        do {
            let store = try fixture.reopened([one: "old", two: "older"])
            try fixture.end(in: store, "done", inbox: "old", keeps: true)
            _ = try store.offer([fixture.new("open", inbox: "old"), fixture.new("open", inbox: "older")])
            #expect(try store.claim([BytePath("x")], for: BytePath("old/a/b"), in: out, seen: [:]))
            #expect(try store.claim([BytePath("y")], for: BytePath("older/a/b"), in: out, seen: [:]))
        }
        let store = try fixture.reopened([one: "new", two: "older"])
        #expect(try store.inboxesWithOpenJobs() == ["new", "older"])
        #expect(try store.kept(inbox: "new").keys.map(\.text) == ["done"] && store.kept(inbox: "old").isEmpty)
        #expect(try store.totals(inbox: "new") == JobCounts(done: 1) && store.totals(inbox: "old") == JobCounts())
        #expect(try store.names(of: BytePath("new/a/b"), in: out) == [BytePath("x")])
        #expect(try store.names(of: BytePath("older/a/b"), in: out) == [BytePath("y")])
        // A folder that moves keeps its name, and so all that is known of it.
        #expect(try fixture.reopened([BytePath("/elsewhere"): "new"]).totals(inbox: "new") == JobCounts(done: 1))
    }

    @Test(arguments: StoreKind.ofOneMachine)
    func `the paths that an inbox had are known as long as it has open jobs`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let path = BytePath("/elsewhere")
        _ = try fixture.reopened([one: "a"]).offer([fixture.new("open", inbox: "a")])
        #expect(try fixture.reopened([path: "a"]).formerPaths(inbox: "a") == [one])
        #expect(try fixture.reopened([path: "b"]).formerPaths(inbox: "b") == [one], "it goes along with a new name")
        let store = try fixture.reopened([path: "b"])
        let lease = try #require(try store.take(fixture.request(inbox: "b")).first)
        _ = try store.update([JobUpdate(lease, .unclaimed)])
        #expect(try fixture.reopened([path: "b"]).formerPaths(inbox: "b") == [])
    }

    @Test(arguments: StoreKind.ofOneMachine)
    func `two inboxes may change names with each other`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        do {
            let store = try fixture.reopened([one: "a", two: "b"])
            try fixture.end(in: store, "x", inbox: "a")
            _ = try store.offer([fixture.new("same", inbox: "a"), fixture.new("same", inbox: "b")])
            #expect(try store.claim([BytePath("x")], for: BytePath("a/x"), in: BytePath("out"), seen: [:]))
        }
        let store = try fixture.reopened([one: "b", two: "a"])
        #expect(try store.totals(inbox: "b") == JobCounts(done: 1) && store.totals(inbox: "a") == JobCounts())
        #expect(try store.inboxesWithOpenJobs() == ["a", "b"])
        #expect(try store.names(of: BytePath("b/x"), in: BytePath("out")) == [BytePath("x")])
    }

    @Test(arguments: StoreKind.ofOneMachine)
    func `a name that passes to another folder does not bring the former one's jobs; those are known by their path`(
        kind: StoreKind
    ) throws {
        let fixture = try JobStoreFixture(kind)
        do {
            let store = try fixture.reopened([one: "a", two: "b"])
            _ = try store.offer([fixture.new("of-one", inbox: "a"), fixture.new("of-two", inbox: "b")])
        }
        let store = try fixture.reopened([one: "b"])
        #expect(try store.inboxesWithOpenJobs() == ["/srv/two", "b"])
        #expect(try store.orphans(inbox: "b", owner: "me").map(\.path.text) == ["of-one"])
        // Back in the mill file, it has them again.
        let back = try fixture.reopened([one: "b", two: "c"])
        #expect(try back.orphans(inbox: "c", owner: "me").map(\.path.text) == ["of-two"])
    }

    @Test(arguments: StoreKind.ofOneMachine)
    func `an inbox that moves while it runs keeps its name, wherever it moves to`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        do {
            let store = try fixture.reopened([one: "a", two: "b"])
            _ = try store.offer([fixture.new("of-one", inbox: "a"), fixture.new("of-two", inbox: "b")])
        }
        let store = try fixture.reopened([one: "a"])
        try store.record(inboxes: [two: "a"], running: ["a"])
        #expect(try store.orphans(inbox: "a", owner: "me").map(\.path.text) == ["of-one"])
        #expect(try store.orphans(inbox: "/srv/two", owner: "me").map(\.path.text) == ["of-two"])
        for _ in 1...2 {
            let next = try fixture.reopened([two: "a"])
            #expect(try next.orphans(inbox: "a", owner: "me").map(\.path.text) == ["of-one"])
            #expect(try next.orphans(inbox: "/srv/two", owner: "me").map(\.path.text) == ["of-two"])
        }
    }

    // MARK: - For people

    @Test(arguments: StoreKind.ledgers)
    func `what was done is counted by hours, and shown for a week`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let store = try fixture.reopened([one: "in"])
        for name in ["a", "b"] { try fixture.end(in: store, name) }
        fixture.now += 3_600_000
        try fixture.end(in: store, "c")
        let history = try store.history()
        #expect(history.map(\.done) == [2, 1] && history.map(\.failed) == [0, 0])
        #expect(history[1].hour == history[0].hour + 1)
        fixture.now += 7 * 86_400_000
        #expect(try store.history().isEmpty)
    }

    @Test(arguments: StoreKind.ledgers)
    func `a ledger is new once, and whatever it has recorded is there after a restart`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind)
        let first = try fixture.keeping
        #expect(first.isNew)
        try fixture.end("a", keeps: true)
        let shelf = first.shelf("done", of: "in")
        try shelf.add([ShelvedItem(path: BytePath("a"), changed: 7, bytes: 10)], since: shelf.recordedNow())
        try first.recordTime()
        try first.checkpoint()
        fixture.now += 1_000
        let second = try fixture.reopened()
        #expect(!second.isNew && second.now >= first.now)
        #expect(try second.kept(inbox: "in").keys.map(\.text) == ["a"])
        #expect(try second.shelf("done", of: "in").bytes() == 10)
        #expect(try second.shelf("failed", of: "in").bytes() == 0 && second.shelf("done", of: "other").bytes() == 0)
    }
}
