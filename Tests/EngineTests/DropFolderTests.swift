// The drop folder without its process, over workers that can be broken.
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct DropFolderTests {
    private struct Silence: DropFolderObserver {
        func happened(_ event: DropFolderEvent, inbox: String) {}
        func noted(_ sentence: String) {}
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
        let mill = try DropFolder(loaded, workers: workers, observer: Silence())
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
}
