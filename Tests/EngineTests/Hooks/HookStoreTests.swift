// The store of documents that hooks have not got yet: one for each job, and never more than a fixed number.
import GRDB
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct HookStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func store(_ now: Int) throws -> SQLiteLedger {
        try SQLiteLedger(
            state: BytePath(folder.path("state")), policy: { _ in RetryPolicy(attempts: 1) }, clocks: Clocks { now })
    }

    @Test func `what is added is due in order, also after a restart; delivered is gone, put off comes back`() throws {
        let first = try store(1_000)
        for key in ["a", "b", "c"] { try first.addHook(inbox: "in", event: "success", key: key, body: Array(key.utf8)) }
        let due = try first.dueHooks(ofEachInbox: 10)
        #expect(
            due.map(\.key) == ["a", "b", "c"] && due[1].body == Array("b".utf8) && due[0].attempts == 0
                && due[0].created == 1_000)
        try first.removeHook(due[0].number)
        try first.postponeHook(due[1].number, by: 5_000)
        #expect(try first.nextHook() == 5_000)
        #expect(try store(5_999).dueHooks(ofEachInbox: 10).map(\.key) == ["c"])
        let later = try store(6_000).dueHooks(ofEachInbox: 10)
        #expect(later.map(\.key) == ["c", "b"] && later[1].attempts == 1)
    }

    @Test func `a job's end is delivered once; one that is only expected is not delivered yet`() throws {
        let store = try store(1_000)
        try store.expectHook(inbox: "in", key: "a")
        #expect(try store.dueHooks(ofEachInbox: 10).isEmpty)
        try store.addHook(inbox: "in", event: "success", key: "a", body: [1])
        try store.expectHook(inbox: "in", key: "a")
        try store.addHook(inbox: "in", event: "failure", key: "a", body: [2])
        #expect(try store.dueHooks(ofEachInbox: 10).map(\.body) == [[2]])
        try store.expectHook(inbox: "in", key: "unknown job")
        #expect(try store.forgottenHooks(before: 2_000).isEmpty)
        try store.removeHook(inbox: "in", key: "a")
        #expect(try store.dueHooks(ofEachInbox: 10).isEmpty)
    }

    @Test func `a job that has ended keeps its report until its hook has it`() throws {
        let ids = JobNames()
        func endedJob(_ store: SQLiteLedger, expecting: Bool) throws -> JobID {
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
        let store = try store(1_000)
        #expect(try store.job(endedJob(store, expecting: false))?.report == nil)
        let told = try endedJob(store, expecting: true)
        let unwanted = try endedJob(store, expecting: true)
        _ = try store.prune(keeping: 10)
        #expect(try store.forgottenHooks(before: 2_000).map(\.report) == [[7], [7]])
        try store.addHook(inbox: "in", event: "success", key: told.text, body: [1])
        try store.removeHook(inbox: "in", key: unwanted.text)
        #expect(try store.job(told)?.report == nil && store.job(unwanted)?.report == nil)
    }

    @Test func `reports that nobody waits for any more are removed`() throws {
        let store = try store(1_000)
        try store.change {
            try $0.execute(sql: "INSERT INTO reports (job, document) VALUES (1000000, x'07')")
        }
        _ = try store.prune(keeping: 10)
        #expect(try store.look { try Int.fetchOne($0, sql: "SELECT count(*) FROM reports") } == 0)
    }

    @Test func `losses are asked for by their time, and never more than so many are kept, whatever the clock says`()
        throws
    {
        let store = try store(1_000)
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

    @Test func `of too many the oldest are dropped`() throws {
        let store = try store(1_000)
        let dropped = try (0..<8).map {
            try store.addHook(inbox: "in", event: "pause", key: "\($0)", body: [0], limit: 5)
        }
        #expect(dropped == [0, 0, 0, 0, 0, 1, 1, 1])
        #expect(try store.dueHooks(ofEachInbox: 10).map(\.key) == ["3", "4", "5", "6", "7"])
    }

    @Test func `an inbox with very many does not hide those of another`() throws {
        let store = try store(1_000)
        for key in 0..<20 { try store.addHook(inbox: "busy", event: "success", key: "\(key)", body: [0]) }
        try store.addHook(inbox: "other", event: "success", key: "only", body: [0])
        #expect(try store.dueHooks(ofEachInbox: 3).map(\.key) == ["0", "1", "2", "only"])
    }
}
