// Hooks at work while the ledger is in trouble.
import Foundation
import GRDB
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct HookRunnerTests {
    @Test(.timeLimit(.minutes(2)))
    func `a hook whose end cannot be recorded does not run again; it is recorded later`() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteLedger(
            state: BytePath(folder.path("state")), policy: { _ in RetryPolicy(attempts: 1) }, patience: 0.1)
        let script = "echo >> '\(folder.path("told"))'; while ! test -e '\(folder.path("go"))'; do sleep 0.1; done"
        let hook = Hook(action: .command(["sh", "-c", script]), timeout: .seconds(60))
        let runner = HookRunner(store, starter: ProcessStarter(), hook: { _, _ in hook }, tell: { _, _ in })
        try runner.start()
        runner.paused(Pause(.noSpace, "full"), inbox: "in", id: "1")
        try await until("it runs") { FileManager.default.fileExists(atPath: folder.path("told")) }
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: folder.path("state/ledger.sqlite"), configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        try folder.write("", to: "go")
        try await Task.sleep(for: .seconds(3))
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("told"))).count == 1)
        try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        try await until("its end is recorded") { try store.dueHooks(ofEachInbox: 9).isEmpty }
        runner.stop()
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("told"))).count == 1)
    }

    @Test(.timeLimit(.minutes(1)))
    func `an event is counted with its age from when it happened until it is delivered, also after a restart`()
        async throws
    {
        let folder = try TemporaryFolder()
        func store() throws -> SQLiteLedger {
            try SQLiteLedger(state: BytePath(folder.path("state")), policy: { _ in RetryPolicy(attempts: 1) })
        }
        let hook = Hook(
            action: .command(["sh", "-c", "test -e '\(folder.path("go"))'"]), timeout: .seconds(60))
        func start(_ store: SQLiteLedger) throws -> HookRunner {
            let runner = HookRunner(store, starter: ProcessStarter(), hook: { _, _ in hook }, tell: { _, _ in })
            try runner.start()
            return runner
        }
        var runner = try start(try store())
        #expect(runner.waiting.isEmpty)
        runner.paused(Pause(.noSpace, "full"), inbox: "b", id: "1")
        runner.paused(Pause(.noSpace, "full"), inbox: "b", id: "2")
        runner.paused(Pause(.noSpace, "full"), inbox: "a", id: "3")
        try await until("all are counted") { runner.waiting.map(\.count) == [1, 2] }
        #expect(runner.waiting.map(\.inbox) == ["a", "b"])
        try await until("they grow older") { runner.waiting.allSatisfy { $0.age > 500 } }
        runner.stop()
        try folder.write("", to: "go")
        runner = try start(try store())
        try await until("they are delivered") { runner.waiting.isEmpty }
        runner.stop()
    }

    @Test(.timeLimit(.minutes(1)))
    func `an event whose hook has left the mill file counts as lost, with the reason`() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteLedger(
            state: BytePath(folder.path("state")), policy: { _ in RetryPolicy(attempts: 1) })
        try store.addHook(
            inbox: "in", event: "pause", key: "1",
            body: HookDocument(Pause(.noSpace, "full"), inbox: "in", id: "1").bytes)
        let runner = HookRunner(store, starter: ProcessStarter(), hook: { _, _ in nil }, tell: { _, _ in })
        try runner.start()
        try await until("it is gone") { try store.dueHooks(ofEachInbox: 9).isEmpty }
        runner.stop()
        let losses = try store.hookLosses(since: 0)
        #expect(losses.map(\.inbox) == ["in"] && losses[0].call?.event == "pause")
        #expect(losses[0].reason == "the mill file has no hook for it any more")
    }

    @Test(.timeLimit(.minutes(1)))
    func `many events without a hook are one loss, and those of another inbox stay`() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteLedger(
            state: BytePath(folder.path("state")), policy: { _ in RetryPolicy(attempts: 1) })
        let body = HookDocument(Pause(.noSpace, "full"), inbox: "in", id: "1").bytes
        for number in 1...300 { try store.addHook(inbox: "in", event: "pause", key: "\(number)", body: body) }
        try store.addHook(inbox: "in", event: "later", key: "301", body: body)
        try store.addHook(inbox: "other", event: "pause", key: "1", body: body)
        try store.postponeHook(
            try #require(store.dueHooks(ofEachInbox: 400).first { $0.inbox == "other" }?.number), by: 90_000)
        let runner = HookRunner(store, starter: ProcessStarter(), hook: { _, _ in nil }, tell: { _, _ in })
        try runner.start()
        try await until("they are gone") { runner.losses.count >= 2 }
        runner.stop()
        #expect(try store.waitingHooks().map(\.inbox) == ["other"])
        let losses = try store.hookLosses(since: 0).sorted { $0.count < $1.count }
        #expect(losses.map(\.count) == [1, 300])
        #expect(losses[0].reason == "this version of the program knows no such event")
        #expect(losses.map(\.call?.event) == ["later", "pause"])
    }

    @Test(.timeLimit(.minutes(1)))
    func `an event whose document is damaged counts as lost, and no hook runs`() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteLedger(
            state: BytePath(folder.path("state")), policy: { _ in RetryPolicy(attempts: 1) })
        let hook = Hook(
            action: .command(["sh", "-c", "cat >> '\(folder.path("told"))'"]), timeout: .seconds(60))
        let document = HookDocument(Pause(.noSpace, "full"), inbox: "in", id: "2").bytes
        for (key, body) in [("1", document), ("2", document.map { $0 == UInt8(ascii: "f") ? 0x89 : $0 })] {
            try store.addHook(inbox: "in", event: "pause", key: key, body: body)
        }
        try store.addHook(inbox: "in", event: "success", key: "2", body: document)
        let runner = HookRunner(store, starter: ProcessStarter(), hook: { _, _ in hook }, tell: { _, _ in })
        try runner.start()
        try await until("none is left") { try store.dueHooks(ofEachInbox: 9).isEmpty && runner.losses.count == 2 }
        runner.stop()
        #expect(runner.losses.allSatisfy { $0.reason == "its document in the ledger is damaged" })
        #expect(!FileManager.default.fileExists(atPath: folder.path("told")))
    }

    private func until(_ what: String, _ isSo: () throws -> Bool) async throws {
        for _ in 0..<3000 where try !isSo() { try await Task.sleep(for: .milliseconds(20)) }
        #expect(try isSo(), "\(what)")
    }
}
