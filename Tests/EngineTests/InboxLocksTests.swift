// The locks on inboxes: one inside of another one's is refused, whoever comes first.
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

/// Each `InboxLocks` is another program's: the system tells locks apart by open files.
@Suite struct InboxLocksTests {
    private let folder: TemporaryFolder
    private let first = InboxLocks()
    private let second = InboxLocks()

    init() throws {
        folder = try TemporaryFolder()
        for name in ["a/b/c", "a/d", "e"] { try folder.write("", to: name + "/x") }
    }

    private func path(_ name: String) -> BytePath { BytePath(folder.path(name)) }

    private func refusal(_ name: String) -> String? {
        do throws(SystemError) {
            _ = try second.lock(path(name))
            return nil
        } catch {
            #expect(error.code == EWOULDBLOCK)
            return error.description
        }
    }

    @Test func `an inbox of another program is refused, and so is one above or inside of it`() throws {
        let lock = try #require(try first.lock(path("a/b")))
        let remedy = "; stop one of the two, or give each an inbox of its own"
        #expect(
            refusal("a/b")
                == "cannot take the sources in '\(folder.path("a/b"))': another imagemill watch takes them\(remedy)")
        #expect(
            refusal("a/b/c")
                == "cannot take the sources in '\(folder.path("a/b/c"))': another imagemill watch takes those in '\(folder.path("a/b"))', "
                + "with all that is inside of it\(remedy)")
        #expect(
            refusal("a")
                == "cannot take the sources in '\(folder.path("a"))': another imagemill watch has an inbox inside of it\(remedy)"
        )
        withExtendedLifetime(lock) {}
    }

    @Test(.enabled(if: TestMachine.isRoot, "only root can act as another user"), arguments: ["-x", "-s"])
    func `a stranger who locks an inbox or a folder above it keeps nobody from it, and is named`(kind: String) throws {
        for (name, strangers) in [("a/b", ["a/b"]), ("a", kind == "-x" ? ["a"] : [])] {
            let stranger = Process()
            stranger.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
            stranger.arguments = [
                "--reuid=65534", "--clear-groups", "flock", kind, folder.path(name), "sh", "-c", "echo; exec cat",
            ]
            let (input, output) = (Pipe(), Pipe())
            (stranger.standardInput, stranger.standardOutput) = (input, output)
            try stranger.run()
            #expect(try output.fileHandleForReading.read(upToCount: 1)?.count == 1)
            let lock = try #require(try first.lock(path("a/b")))
            #expect(lock.strangers == strangers.map(path))
            // The locks that it does hold keep others of this user away.
            #expect(refusal(name == "a" ? "a/b" : "a") != nil)
            withExtendedLifetime(lock) {}
            try input.fileHandleForWriting.close()
            stranger.waitUntilExit()
        }
    }

    /// Root's `watch` beside a service once took the service's pictures.
    @Test(
        .enabled(if: TestMachine.isRoot, "only root can act as another user"),
        arguments: [(65534, 0o755, true), (0, 0o777, true), (0, 0o1777, false), (0, 0o755, false)]
            as [(uid_t, mode_t, Bool)])
    func `an inbox that another user's imagemill has is refused if that user may take the files in it`(
        owner: uid_t, mode: mode_t, isRefused: Bool
    ) throws {
        let program = folder.path("imagemill")
        try FileManager.default.copyItem(atPath: "/usr/bin/flock", toPath: program)
        #expect(chown(path("a/b").text, owner, 0) == 0 && chmod(path("a/b").text, mode) == 0)
        let rival = Process()
        rival.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        rival.arguments = [
            "--reuid=65534", "--clear-groups", program, "-x", folder.path("a/b"), "sh", "-c", "echo; exec cat",
        ]
        let (input, output) = (Pipe(), Pipe())
        (rival.standardInput, rival.standardOutput) = (input, output)
        try rival.run()
        #expect(try output.fileHandleForReading.read(upToCount: 1)?.count == 1)
        let sentence =
            "cannot take the sources in '\(folder.path("a/b"))': another imagemill watch (process \(rival.processIdentifier) of 'nobody') takes them; "
            + "stop one of the two, or give each an inbox of its own"
        #expect(refusal("a/b") == (isRefused ? sentence : nil))
        try input.fileHandleForWriting.close()
        rival.waitUntilExit()
    }

    @Test func `of a lock whose holder is not in the table it depends on who may open the folder`() throws {
        let folder = try Directory(path("e"))
        let table = LockTable([])
        for (mode, owner) in [(0o700, LockOwner.user), (0o750, .stranger), (0o755, .stranger)] as [(mode_t, LockOwner)]
        {
            #expect(chmod(path("e").text, mode) == 0)
            #expect(LockOwner(of: folder, by: table, .current) == owner)
        }
    }

    @Test func `the table of locks has who holds one of a whole file, and not who waits`() {
        let text = """
            1: FLOCK  ADVISORY  WRITE 19876 fe:00:16498971 0 EOF
            1: -> FLOCK  ADVISORY  WRITE 300 fe:00:16498971 0 EOF
            2: POSIX  ADVISORY  WRITE 301 fe:00:16498971 0 EOF
            3: FLOCK  ADVISORY  READ 302 fe:0a:2 0 EOF
            4: FLOCK  ADVISORY  READ 303 fe:0a:2 0 EOF
            5: FLOCK
            """
        let table = LockTable(Array(text.utf8))
        #expect(table.holders(of: 16_498_971, on: "254:0") == [19876])
        #expect(table.holders(of: 2, on: "254:10") == [302, 303])
        #expect(table.holders(of: 2, on: "254:0") == [])
    }

    @Test func `inboxes beside each other are free, and all are when the lock is gone`() throws {
        var lock = try first.lock(path("a/b"))
        let others = try ["a/d", "e"].map { try second.lock(path($0)) }
        #expect(lock != nil && others.allSatisfy { $0 != nil })
        withExtendedLifetime(others) { lock = nil }
        for name in ["a/b/c", "a/b"] { #expect(refusal(name) == nil) }
    }

    @Test func `one program may have the same inbox twice, and one inside of it while a reload is under way`() throws {
        let lock = try #require(try first.lock(path("a")))
        #expect(try first.lock(path("a")) === lock)
        #expect(try first.lock(path("a/b")) != nil)
    }

    @Test func `threads that ask at the same time get theirs, and the same lock for the same inbox`() throws {
        let names = ["a/b", "a/d", "e"]
        for _ in 0..<50 {
            let locks = Mutex<[[InboxLocks.Lock]]>([[], [], []])
            DispatchQueue.concurrentPerform(iterations: 12) { number in
                let lock = try? first.lock(path(names[number % 3]))
                locks.withLock { locks in lock.map { locks[number % 3].append($0) } }
            }
            let found = locks.withLock { $0 }
            #expect(found.map(\.count) == [4, 4, 4])
            #expect(found.map { Set($0.map(ObjectIdentifier.init)).count } == [1, 1, 1])
        }
    }
}
