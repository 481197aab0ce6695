// Two inboxes, several claimers and a busy writer at once: what is dropped ends in done/, each drop once.
import Foundation
import Glibc
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import Engine

@Suite struct ClaimFlowTests {
    /// A mill without any pictures: claims what is ready, and puts it away.
    private final class Mill: Sendable {
        let folder: TemporaryFolder
        let queue = WorkQueue()
        let names = JobNames()
        let watchers: [String: InboxWatcher]
        private let answers = Mutex<[ClaimAnswer]>([])
        var takenCount: Int { answers.withLock { $0.count { $0 == .taken } } }
        private let running: Monitor<Int>
        private let microsecondsEach: UInt32

        init(_ folder: TemporaryFolder, inboxes: [String], claimers: Int, microsecondsEach: UInt32 = 0) throws {
            self.microsecondsEach = microsecondsEach
            self.folder = folder
            var watchers: [String: InboxWatcher] = [:]
            for name in inboxes {
                try FileSystem.makeDirectories(BytePath(folder.path(name)))
                try WorkPlace(base: BytePath(folder.path("base")), name: name).make()
                let settings = WatchSettings(name: name, path: BytePath(folder.path(name)), times: SettleTimes(settle: .milliseconds(50)))
                watchers[name] = InboxWatcher(settings, onReady: { [queue] in queue.add($0) }, onNote: { _ in })
            }
            self.watchers = watchers
            running = Monitor(claimers)
            for watcher in watchers.values { watcher.start() }
            for _ in 0..<claimers {
                runOnNewThread { [self] in
                    while let work = queue.take() { if case .ready(let source) = work { self.work(source) } }
                    running.change { $0 -= 1 }
                }
            }
        }

        private func work(_ source: ReadySource) {
            let place = WorkPlace(base: BytePath(folder.path("base")), name: source.inbox)
            let inbox = BytePath(folder.path(source.inbox))
            usleep(microsecondsEach)
            guard let outcome = try? place.claim(source, from: inbox, as: names.next(), record: {}) else { return }
            if case .claimed(let claimed) = outcome { _ = try? place.putAway(claimed.job, claimed.relative, on: .done, syncs: false) }
            answers.withLock { $0.append(outcome.answer) }
            watchers[source.inbox]?.answer(source, outcome.answer)
        }

        func stop() async throws {
            queue.close()
            for watcher in watchers.values { watcher.stop() }
            try await onNewThread { [running, watchers] in
                running.wait { $0 == 0 ? () : nil }
                for watcher in watchers.values { watcher.waitUntilStopped() }
            }
        }

        func doneCount(_ inbox: String) throws -> Int {
            try Directory(WorkPlace(base: BytePath(folder.path("base")), name: inbox).path(.done)).names().count
        }

        /// Everything that stands in done/.
        func done(_ inbox: String) throws -> [String] {
            let path = WorkPlace(base: BytePath(folder.path("base")), name: inbox).path(.done).text
            return try FileManager.default.contentsOfDirectory(atPath: path).map { try String(contentsOfFile: path + "/" + $0, encoding: .utf8) }
        }
    }

    /// Drops a file by renaming it in, where nothing of the name stands; so that a writer loses nothing by itself.
    private func drop(_ folder: TemporaryFolder, _ inbox: String, _ name: String, _ text: String) async throws {
        try folder.write(text, to: "outside/\(text)")
        for _ in 0..<3000 {
            if try moveIn(folder, inbox, name, text) { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("\(name) was not taken")
    }

    /// Whether the name was free.
    private func moveIn(_ folder: TemporaryFolder, _ inbox: String, _ name: String, _ text: String) throws -> Bool {
        let (from, to) = (try Directory(BytePath(folder.path("outside"))), try Directory(BytePath(folder.path(inbox))))
        do {
            try from.move(BytePath(text), to: to, as: BytePath(name))
            return true
        } catch  where error.code == EEXIST {
            return false
        }
    }

    @Test("Four hundred drops under ten names, in two inboxes, are four hundred files in done/")
    func repeatedNames() async throws {
        let folder = try TemporaryFolder()
        let mill = try Mill(folder, inboxes: ["a", "b"], claimers: 3)
        for number in 0..<400 { try await drop(folder, number % 2 == 0 ? "a" : "b", "f\(number % 10).txt", "drop \(number)") }
        let expected = Set((0..<400).map { "drop \($0)" })
        var found: [String] = []
        for _ in 0..<2000 {
            found = try mill.done("a") + mill.done("b")
            if found.count >= 400 { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        try await mill.stop()
        #expect(found.count == 400 && Set(found) == expected)
        for name in ["a", "b"] {
            #expect(try Directory(BytePath(folder.path(name))).names() == [])
            #expect(try WorkPlace(base: BytePath(folder.path("base")), name: name).standingJobs() == [])
        }
        #expect(mill.takenCount == 400)
    }

    @Test("A flood in one inbox does not keep a file in another waiting")
    func flood() async throws {
        let folder = try TemporaryFolder()
        let root = try Directory(BytePath(folder.path))
        let flooded = try root.makingFolder(BytePath("a"))
        for number in 0..<3000 {
            let file = try flooded.making(BytePath("f\(number)"))
            _ = write(file.descriptor, "x", 1)
        }
        // Six seconds' work.
        let mill = try Mill(folder, inboxes: ["a", "b"], claimers: 1, microsecondsEach: 2000)
        while try mill.doneCount("a") < 50 { try await Task.sleep(for: .milliseconds(5)) }
        let before = try mill.doneCount("a")
        try await drop(folder, "b", "one.txt", "one")
        for _ in 0..<5000 where try mill.doneCount("b") == 0 { try await Task.sleep(for: .milliseconds(2)) }
        let after = try mill.doneCount("a")
        #expect(try mill.done("b") == ["one"])
        #expect(after - before < 1500, "\(after - before) files of the flood went first")
        try await mill.stop()
    }
}
