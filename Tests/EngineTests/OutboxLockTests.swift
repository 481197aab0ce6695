// One run at a time writes into an output folder, and the other says who does.
import CLinux
import Foundation
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct OutboxLockTests {
    private let folder: TemporaryFolder
    private let location: OutboxLocation

    init() throws {
        folder = try TemporaryFolder()
        location = OutboxLocation(BytePath(folder.path("out")))
    }

    @Test
    func `a second lock says which process on which host holds the first, and since when; then the folder is free`()
        throws
    {
        let host = ProcessInfo.processInfo.hostName
        do {
            let lock = try OutboxLock(location)
            let error = #expect(throws: OutboxInUse.self) { try OutboxLock(location) }
            let sentence = try #require(error?.description)
            #expect(sentence.hasPrefix("another 'imagemill run' (process \(getpid()) on host "), "\(sentence)")
            #expect(sentence.contains(LockHolder.current.host) && !host.isEmpty)
            #expect(sentence.contains(#/, since \d\d:\d\d:\d\d\) is writing to '/#))
            #expect(sentence.hasSuffix("is writing to '\(folder.path("out"))'; wait for it, or choose another folder"))
            #expect(lock.note == nil)
        }
        _ = try OutboxLock(location)
        #expect(try folder.text("out/.imagemill/lock").isEmpty, "a published folder does not tell who made it")
    }

    @Test(arguments: ["123 mill-a 1700000000\n", "", "nonsense", "a b c d e f"])
    func `a file that a killed run left behind is harmless`(text: String) throws {
        try folder.write(text, to: "out/.imagemill/lock")
        let lock = try OutboxLock(location)
        #expect(LockHolder(text: try folder.text("out/.imagemill/lock"))?.process == Int(getpid()))
        withExtendedLifetime(lock) {}
    }

    @Test func `what others wrote into the file shows nothing odd on a terminal`() throws {
        let lock = try OutboxLock(location)
        for (text, part) in [
            ("1 \u{1B}[31m 5", #"(process 1 on host \u{1B}[31m, since 1970-01-01 "#),
            ("words", "another 'imagemill run' is writing"),
        ] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path("out/.imagemill/lock")))
            let error = #expect(throws: OutboxInUse.self) { try OutboxLock(location) }
            #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
        }
        withExtendedLifetime(lock) {}
    }

    @Test func `nobody but its owner may write to the file of the lock, whatever the mask`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        let result = try await runner.shell(
            "umask 0; \"$IMAGEMILL\" run p.yaml in -o out >/dev/null && stat -c %a out/.imagemill/lock")
        #expect(result.output == "644\n", "\(result.errors)")
    }

    @Test func `a link in place of the lock is not followed`() throws {
        try folder.write("mine", to: "victim")
        try FileManager.default.createDirectory(
            atPath: folder.path("out/.imagemill"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("out/.imagemill/lock"), withDestinationPath: "../../victim")
        #expect(throws: SystemError.self) { try OutboxLock(location) }
        #expect(try folder.text("victim") == "mine")
    }

    @Test func `with a state folder of its own the output folder gets neither a lock nor a record`() throws {
        let location = OutboxLocation(BytePath(folder.path("out")), state: BytePath(folder.path("state")))
        let lock = try OutboxLock(location)
        try OutboxRecord(location).close()
        #expect(try folder.entries() == ["state", "state/lock", "state/names.sqlite"])
        #expect(location.report == BytePath(folder.path("state/report.json")))
        withExtendedLifetime(lock) {}
    }
}
