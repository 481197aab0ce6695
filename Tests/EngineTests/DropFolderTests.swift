// The drop folder without its process, over workers that can be broken.
import Foundation
import GRDB
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct DropFolderTests {
    /// Notes what was put off, and for how long.
    private final class Postponed: DropFolderObserver {
        private let failures = Mutex<[(failure: Failure, after: Int)]>([])
        var all: [(failure: Failure, after: Int)] { failures.withLock { $0 } }

        func happened(_ event: DropFolderEvent, inbox: String) {
            guard case .postponed(_, _, let failure, _, let after) = event else { return }
            failures.withLock { $0.append((failure, after)) }
        }

        func noted(_ sentence: String) {}
    }

    /// A drop folder whose workers do what the names of the sources say, and note in `log` which process was asked.
    private func start(_ drop: WatchedFolder, _ observer: any DropFolderObserver) async throws -> DropFolder {
        let stub = try drop.runner.folder.write(Checkout.text("Tests/Fixtures/lying-worker.py"), to: "stub.py")
        let command = WorkerCommand(executable: "/usr/bin/python3", arguments: [stub, CommandRunner.executable])
        return try await drop.startHere(observer, workers: command)
    }

    /// The processes that were asked about sources of an inbox.
    private func workers(of inbox: String, _ drop: WatchedFolder) throws -> Set<pid_t> {
        let lines = try drop.runner.folder.text("log").split(separator: "\n").map { $0.split(separator: " ") }
        return Set(lines.filter { $0[2].contains("/work/\(inbox)/") }.compactMap { pid_t($0[1]) })
    }

    @Test func `a source whose worker the system kills waits, which costs no attempt, and the others are done`()
        async throws
    {
        let drop = try WatchedFolder(inbox: "attempts: 1")
        let observer = Postponed()
        let mill = try await start(drop, observer)
        let picture = try await SamplePicture.jpeg.bytes
        try drop.drop("hungry.jpg", picture + Array("hungry".utf8))
        try await drop.until("it is put off") { !observer.all.isEmpty }
        for name in ["b.jpg", "c.jpg"] { try drop.drop(name, picture) }
        try await drop.until("out/b.jpg.json", "out/c.jpg.json")
        let (failure, delay) = try #require(observer.all.first)
        #expect(failure.code == .outOfMemory && delay == 30_000)
        #expect(mill.status.inboxes[0].pause == nil && drop.files("state/failed").isEmpty)
        #expect(mill.status.inboxes[0].waiting == 1)

        // Half a minute later it begins alone, by a new worker, so that the system kills no second one for it.
        let asked = { try drop.runner.folder.text("log").split(separator: "\n").map { $0.split(separator: " ")[1] } }
        let before = try asked()
        #expect(before.count == 4)
        var patient = Configuration()
        patient.busyMode = .timeout(30)
        let ledger = try DatabaseQueue(path: drop.runner.folder.path("state/ledger.sqlite"), configuration: patient)
        try await ledger.write { try $0.execute(sql: "UPDATE jobs SET not_before = 0") }
        #expect(try mill.pause("in", true) == .paused)
        #expect(try mill.pause("in", false) == .resumed)
        #expect(try mill.pause("in", false) == .notPausedByRequest)
        try await drop.until("it is put off again") { observer.all.count > 1 }
        let after = try asked().dropFirst(before.count)
        #expect(after.count == 1 && !before.contains(after[before.count]))
        try await onNewThread { mill.drain(within: .seconds(30)) }
    }

    @Test
    func `an inbox with workers of its own lends none and borrows none, and they end when it has no more work`()
        async throws
    {
        let rest = "outbox: out, pipeline: p.yaml, settle: 100ms }"
        let drop = try WatchedFolder(
            mill:
                "state: state\nworkers: 2\ninboxes:\n  - { path: in, isolate: true, \(rest)\n  - { path: other, \(rest)\n"
        )
        try drop.makeFolder("other")
        let mill = try await start(drop, SilentObserver())
        let picture = try await SamplePicture.jpeg.bytes
        for number in 0..<8 {
            try drop.drop("own\(number).jpg", picture + Array("own\(number)".utf8))
            try drop.drop("shared\(number).jpg", picture + Array("shared\(number)".utf8), into: "other")
            try await drop.until("out/own\(number).jpg.json", "out/shared\(number).jpg.json")
        }
        let (own, shared) = (try workers(of: "in", drop), try workers(of: "other", drop))
        #expect(!own.isEmpty && !shared.isEmpty && own.isDisjoint(with: shared), "\(own), \(shared)")
        try await drop.until("the workers of its own have ended") { own.allSatisfy { kill($0, 0) != 0 } }
        #expect(shared.contains { kill($0, 0) == 0 })
        try await onNewThread { mill.drain(within: .seconds(30)) }
    }

    @Test
    func `if no worker can be used, the inbox pauses and no picture is blamed; it goes on when one can be`()
        async throws
    {
        let drop = try WatchedFolder()
        let folder = drop.runner.folder
        // Notes its number, and ends at once as long as something is broken.
        let script =
            "echo $$ >> '\(folder.path("workers"))'; [ -e '\(folder.path("broken"))' ] && exit 127; exec \"$0\" __worker"
        let workers = WorkerPool(
            WorkerCommand(executable: "/bin/sh", arguments: ["-c", script, CommandRunner.executable]))
        let text = String(decoding: try drop.runner.bytes("mill.yaml"), as: UTF8.self).replacingOccurrences(
            of: "workers: 2", with: "workers: 1")
        let loaded = try LoadedMill(path: folder.path("mill.yaml"), text: text) { _ in nil }
        let mill = try DropFolder(loaded, workers: workers, observer: SilentObserver())
        try await onNewThread { try mill.start() }
        try await drop.drop("a.jpg")
        try await drop.until("out/a.jpg.json")

        try folder.write("", to: "broken")
        let started = try folder.text("workers").split(separator: "\n").compactMap { pid_t($0) }
        #expect(started.count == 1)
        for worker in started { #expect(kill(worker, SIGKILL) == 0) }
        try await drop.drop("b.jpg")
        try await drop.until("it is paused") { mill.status.inboxes[0].pause != nil }
        #expect(
            mill.status.inboxes[0].pause?.message
                == "no worker can be used: the worker process ended with code 127, once in a row")
        #expect(drop.files("state/failed").isEmpty)
        try FileManager.default.removeItem(atPath: folder.path("broken"))
        try await drop.until("out/b.jpg.json", "state/done/in/b.jpg")
        try await onNewThread { mill.drain(within: .seconds(30)) }
        #expect(mill.status.inboxes[0].failed == 0)
    }

    @Test func `names in an outbox that two inboxes share are released also while a folder of the first one hangs`()
        async throws
    {
        let rest = "outbox: out, pipeline: p.yaml, settle: 100ms }"
        let drop = try WatchedFolder(
            mill: "state: state\nworkers: 1\ninboxes:\n  - { path: in, \(rest)\n  - { path: other, \(rest)\n")
        try drop.makeFolder("other")
        let mill = try await start(drop, SilentObserver())
        try await drop.drop("a.jpg")
        try await drop.until("out/a.jpg.json", "state/done/in/a.jpg")
        try await drop.until("it is over") { mill.status.inboxes.allSatisfy { $0.begun == 0 } }
        let names = try mill.store.ownedNames(after: nil, limit: 100)
        #expect(!names.isEmpty)
        for name in drop.files("out") {
            try FileManager.default.removeItem(atPath: drop.runner.folder.path("out/" + name))
        }
        let housekeeper = try #require(mill.running.withLock { $0?.housekeeper })
        let controllers = mill.controllers
        #expect(controllers.map(\.name) == ["in", "other"])
        let (isHeld, end) = (Monitor(false), Monitor(false))
        defer { end.change { $0 = true } }
        runOnNewThread {
            controllers[0].records.withLock { _ in
                isHeld.change { $0 = true }
                end.wait { $0 ? () : nil }
            }
        }
        try await drop.until("a thread is at the folders of the first") { isHeld.change { $0 } }
        housekeeper.tidyUp(controllers, names: names)
        try await drop.until("the names are released") { try mill.store.ownedNames(after: nil, limit: 100).isEmpty }
        end.change { $0 = true }
        try await onNewThread { mill.drain(within: .seconds(30)) }
    }

    @Test func `what an earlier start has left beside renditions goes, also if the outbox kept it at the start`()
        async throws
    {
        let drop = try WatchedFolder(
            mill: "state: state\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml, settle: 100ms }\n")
        let mill = try await start(drop, SilentObserver())
        try await drop.drop("a.jpg")
        try await drop.until("out/a.jpg.json", "state/done/in/a.jpg")
        let (controllers, housekeeper) = (mill.controllers, try #require(mill.running.withLock { $0?.housekeeper }))
        let shared = try #require(controllers.first).shared
        let left = ".imagemill-\(shared.prefix)0-1.part"
        let kept = [".imagemill-\(shared.owner)-1.part", ".imagemill-other-1.part"]
        for name in kept + [left] { try drop.runner.folder.write("x", to: "out/" + name) }
        let names = try mill.store.ownedNames(after: nil, limit: 100)
        housekeeper.tidyUp(controllers, names: names)
        let present = { (name: String) in FileManager.default.fileExists(atPath: drop.runner.folder.path("out/" + name))
        }
        try await drop.until("it is gone") { !present(left) }
        #expect(kept.allSatisfy(present))
        try await onNewThread { mill.drain(within: .seconds(30)) }
    }
}
