// What hooks have still to be told is kept, once for each job, and never more than so much.
import Pipeline
import TestSupport
import Testing

@testable import Engine

@Suite struct HookStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func store(_ now: Int) throws -> SQLiteJobStore {
        try SQLiteJobStore(
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
        try first.postponeHook(due[1].number, until: 6_000)
        #expect(try first.nextHook() == 6_000)
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
