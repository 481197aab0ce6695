// `imagemill retry` in a drop folder at work.
import Glibc
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct RetryTests {
    @Test func `a picture whose end is missing is tried at once`() async throws {
        let drop = try WatchedFolder(inbox: "attempts: 1")
        let mill = try await drop.startHere()
        let picture = try await SamplePicture.jpeg.bytes
        try drop.runner.folder.write(Array(picture.dropLast(picture.count / 3)), to: "state/failed/in/a.jpg")
        let (moved, problems) = try await onNewThread { mill.retry(nil) }
        #expect(moved.map(\.lastComponent) == [BytePath("a.jpg")] && problems == [])
        try await drop.until("state/failed/in/a.jpg.error.json")
        #expect(try drop.runner.folder.text("state/failed/in/a.jpg.error.json").contains("\"truncated\""))
        try await onNewThread { mill.drain(within: .seconds(30)) }
    }

    @Test func `an inbox that answers slowly, and only refuses, is waited for`() async throws {
        let drop = try WatchedFolder()
        for number in 0..<3_000 {
            try drop.runner.folder.write("failed", to: "state/failed/in/\(number).jpg")
            try drop.runner.folder.write("", to: "in/\(number).jpg")
        }
        let mill = try await drop.startHere()
        let retry = Retry(mill.controllers, patience: .seconds(2)) { count in
            if count.refused % 100 == 0 { usleep(100_000) }
        }
        let (moved, problems) = try await onNewThread { retry.run(nil) }
        #expect(moved == [] && problems.count == 3_000)
        #expect(problems.filter { $0.contains("does not answer") } == [])
        try await onNewThread { mill.drain(within: .seconds(30)) }
    }

    @Test func `the note of a picture means the picture, and a folder means nothing`() async throws {
        let drop = try WatchedFolder()
        for name in ["a.jpg", "b.jpg", "new/c.jpg"] {
            try drop.runner.folder.write("no picture", to: "state/failed/in/\(name)")
            try drop.runner.folder.write("{}", to: "state/failed/in/\(name).error.json")
        }
        let mill = try await drop.startHere()
        let names = ["a.jpg.error.json", "b.jpg", "b.jpg.error.json", "new"].map { BytePath($0) }
        let (moved, problems) = try await onNewThread { mill.retry(names) }
        #expect(moved.map(\.lastComponent).map(\.text).sorted() == ["a.jpg", "b.jpg"])
        #expect(problems == ["cannot retry 'new': it is a folder; name what is in it"])
        #expect(!drop.runner.exists("in/a.jpg.error.json"))
        try await onNewThread { mill.drain(within: .seconds(30)) }
    }

    @Test func `an inbox that is not there is named if a source may be in it, and not if all that was named was found`()
        async throws
    {
        let drop = try WatchedFolder()
        for name in ["a.jpg", "b.jpg"] { try drop.runner.folder.write("no picture", to: "state/failed/in/\(name)") }
        let text = String(decoding: try drop.runner.bytes("mill.yaml"), as: UTF8.self)
        try drop.runner.folder.write(text + "  - { path: away, outbox: out, pipeline: p.yaml }\n", to: "mill.yaml")
        let mill = try await drop.startHere()
        let (moved, problems) = try await onNewThread { mill.retry([BytePath("a.jpg")]) }
        #expect(moved.map(\.lastComponent) == [BytePath("a.jpg")] && problems == [])
        for names in [nil, [BytePath("elsewhere.jpg")]] {
            let (_, problems) = try await onNewThread { mill.retry(names) }
            #expect(problems.contains { $0.hasPrefix("what the inbox 'away' has in failed/ stays: ") })
        }
        try await onNewThread { mill.drain(within: .seconds(30)) }
    }
}
