// The store of documents that hooks have not got yet: one for each job, and never more than a fixed number.
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct HookStoreTests {
    @Test(arguments: StoreKind.ledgers)
    func `what is added is due in order, also after a restart; delivered is gone, put off comes back`(kind: StoreKind)
        throws
    {
        let fixture = try JobStoreFixture(kind, attempts: 1)
        let first = try fixture.keeping
        for key in ["a", "b", "c"] { try first.addHook(inbox: "in", event: "success", key: key, body: Array(key.utf8)) }
        let due = try first.dueHooks(ofEachInbox: 10)
        #expect(
            due.map(\.key) == ["a", "b", "c"] && due[1].body == Array("b".utf8) && due[0].attempts == 0
                && due[0].created == first.now)
        try first.removeHook(due[0].number)
        try first.postponeHook(due[1].number, by: 5_000)
        #expect(try first.nextHook() == 5_000)
        fixture.now += 4_999
        #expect(try fixture.reopened().dueHooks(ofEachInbox: 10).map(\.key) == ["c"])
        fixture.now += 1
        let later = try fixture.reopened().dueHooks(ofEachInbox: 10)
        #expect(later.map(\.key) == ["c", "b"] && later[1].attempts == 1)
    }

    @Test(arguments: StoreKind.ledgers)
    func `a job's end is delivered once; one that is only expected is not delivered yet`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind, attempts: 1)
        let store = try fixture.keeping
        try store.expectHook(inbox: "in", key: "a")
        #expect(try store.dueHooks(ofEachInbox: 10).isEmpty)
        try store.addHook(inbox: "in", event: "success", key: "a", body: [1])
        try store.expectHook(inbox: "in", key: "a")
        try store.addHook(inbox: "in", event: "failure", key: "a", body: [2])
        #expect(try store.dueHooks(ofEachInbox: 10).map(\.body) == [[2]])
        try store.expectHook(inbox: "in", key: "unknown job")
        #expect(try store.forgottenHooks(before: store.now + 1_000).isEmpty)
        try store.removeHook(inbox: "in", key: "a")
        #expect(try store.dueHooks(ofEachInbox: 10).isEmpty)
    }

    @Test(arguments: StoreKind.ledgers)
    func `a job that has ended keeps its report until its hook has it`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind, attempts: 1)
        let ids = JobNames()
        func endedJob(_ store: any Ledger, expecting: Bool) throws -> JobID {
            let id = ids.next()
            let observed = FileVersion(device: 1, inode: 2, bytes: 3, modified: 4)
            _ = try store.offer([NewJob(id: id, inbox: "in", path: BytePath("a"), observed: observed)])
            let request = TakeRequest(inbox: "in", limit: 1, lightBytes: 9, owner: "me", lease: 1000, recipe: "r")
            let lease = try #require(try store.take(request).first)
            _ = try store.update([JobUpdate(lease, .published(damage: nil), report: [7])])
            if expecting { try store.expectHook(inbox: "in", key: id.text) }
            _ = try store.update([JobUpdate(lease, .settled)])
            return id
        }
        let store = try fixture.keeping
        #expect(try store.job(endedJob(store, expecting: false))?.report == nil)
        let told = try endedJob(store, expecting: true)
        let unwanted = try endedJob(store, expecting: true)
        _ = try store.prune(keeping: 10)
        #expect(try store.forgottenHooks(before: store.now + 1_000).map(\.report) == [[7], [7]])
        try store.addHook(inbox: "in", event: "success", key: told.text, body: [1])
        try store.removeHook(inbox: "in", key: unwanted.text)
        #expect(try store.job(told)?.report == nil && store.job(unwanted)?.report == nil)
    }

    @Test(arguments: StoreKind.ledgers)
    func `losses are asked for by their time, and never more than so many are kept, whatever the clock says`(
        kind: StoreKind
    ) throws {
        let fixture = try JobStoreFixture(kind, attempts: 1)
        let store = try fixture.keeping
        let day = HookLoss.memory
        let call = HookCall(event: "failure", source: BytePath([0xFF]), action: "notify")
        let first = HookLoss(time: 10, inbox: "in", call: call, reason: "no")
        let second = HookLoss(time: day, inbox: "in", call: nil, count: 4, reason: "too many")
        for loss in [first, second] { try store.record(loss) }
        #expect(try store.hookLosses(since: 0) == [first, second])
        #expect(try store.hookLosses(since: 11) == [second])
        // A clock that jumps removes nothing.
        try store.record(HookLoss(time: 40 * day, inbox: "in", call: call, reason: "no"))
        #expect(try store.hookLosses(since: 0).map(\.time) == [10, day, 40 * day])
        for number in 0..<HookLoss.most {
            try store.record(HookLoss(time: day + number, inbox: "in", call: nil, reason: ""))
        }
        #expect(try store.hookLosses(since: 0).count == HookLoss.most)
    }

    @Test func `the source of a document is found in it, byte for byte; a pause has none`() {
        let path = BytePath([0xFF, 0x0A])
        let id = JobNames().next()
        let end = HookDocument(.failure, job: id, path: path, inbox: "in", failure: nil)
        #expect(HookDocument.source(in: end.bytes) == path)
        #expect(HookDocument.source(in: HookDocument(Pause(.noSpace, "full"), inbox: "in", id: "1").bytes) == nil)
        #expect(HookDocument.source(in: []) == nil)
    }

    @Test(arguments: StoreKind.ledgers)
    func `of too many the oldest are dropped`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind, attempts: 1)
        let store = try fixture.keeping
        let dropped = try (0..<8).map {
            try store.addHook(inbox: "in", event: "pause", key: "\($0)", body: [0], limit: 5)
        }
        #expect(dropped == [0, 0, 0, 0, 0, 1, 1, 1])
        #expect(try store.dueHooks(ofEachInbox: 10).map(\.key) == ["3", "4", "5", "6", "7"])
    }

    @Test(arguments: StoreKind.ledgers)
    func
        `an event that was expected for long is not the one that is dropped, and those that are expected count for nothing`(
            kind: StoreKind
        ) throws
    {
        let fixture = try JobStoreFixture(kind, attempts: 1)
        let store = try fixture.keeping
        for key in ["first", "second", "third"] { try store.expectHook(inbox: "in", key: key) }
        let add = { (key: String) in
            try store.addHook(inbox: "in", event: "success", key: key, body: [0], limit: 2)
        }
        #expect(try [add("a"), add("b")] == [0, 0])
        #expect(try add("first") == 1)
        #expect(try store.dueHooks(ofEachInbox: 10).map(\.key) == ["first", "b"])
        #expect(try add("second") == 1)
    }

    @Test(arguments: StoreKind.ofOneMachine)
    func `an inbox that was given another name takes its events along, due and expected, and its losses`(
        kind: StoreKind
    ) throws {
        let fixture = try JobStoreFixture(kind, attempts: 1)
        let path = BytePath("/srv/in")
        do {
            let store = try fixture.reopened([path: "old"])
            try fixture.end(in: store, "x", inbox: "old")
            try store.addHook(inbox: "old", event: "success", key: "due", body: [1])
            try store.expectHook(inbox: "old", key: "expected")
            try store.record(
                HookLoss(time: 5, inbox: "old", call: nil, count: 1, reason: "the hook is slow"))
        }
        let store = try fixture.reopened([path: "new"])
        #expect(try store.dueHooks(ofEachInbox: 9).map(\.inbox) == ["new"])
        // Not a second one, under the old name.
        try store.addHook(inbox: "new", event: "success", key: "expected", body: [2])
        #expect(try store.dueHooks(ofEachInbox: 9).map(\.inbox) == ["new", "new"])
        #expect(try store.forgottenHooks(before: .max) == [])
        #expect(try store.hookLosses(since: 0).map(\.inbox) == ["new"])
    }

    @Test(arguments: StoreKind.ledgers)
    func `an inbox with very many does not hide those of another`(kind: StoreKind) throws {
        let fixture = try JobStoreFixture(kind, attempts: 1)
        let store = try fixture.keeping
        for key in 0..<20 { try store.addHook(inbox: "busy", event: "success", key: "\(key)", body: [0]) }
        try store.addHook(inbox: "other", event: "success", key: "only", body: [0])
        #expect(try store.dueHooks(ofEachInbox: 3).map(\.key) == ["0", "1", "2", "only"])
    }
}
