// Programs of the user's: those that hang, fail, flood or do not read hold up nobody, and what they said is passed on.
import Foundation
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct HookProcessTests {
    private let starter = ProcessStarter()

    private func run(
        _ arguments: [String], input: String = "", seconds: Double = 20, cancellation: Cancellation = Cancellation()
    ) async throws
        -> HookProcess.Outcome
    {
        let process = HookProcess(
            arguments: arguments, variables: ["IMAGEMILL_EVENT": "success"], input: Array(input.utf8),
            timeout: .milliseconds(Int64(seconds * 1000)))
        return try await onNewThread { [starter] in process.run(by: starter, cancellation) }
    }

    @Test func `it gets its arguments as they are, the document, and few variables`() async throws {
        let folder = try TemporaryFolder()
        let out = folder.path("out")
        setenv("IMAGEMILL_TEST_SECRET", "x", 1)
        let script = #"{ cat; printf '%s|' "$@"; echo "$IMAGEMILL_EVENT${IMAGEMILL_TEST_SECRET-none}"; pwd; } > "$0""#
        #expect(try await run(["sh", "-c", script, out, "a b", "$(id)", "", "*"], input: "document\n") == .done)
        #expect(try String(contentsOfFile: out, encoding: .utf8) == "document\na b|$(id)||*|successnone\n/\n")
    }

    @Test func `one that fails is quoted, one that does not exist is named`() async throws {
        #expect(
            try await run(["sh", "-c", "echo first; echo 'no \u{1B}route' >&2; exit 7"])
                == .failed("'sh' ended with 7: no \\u{1B}route"))
        #expect(try await run(["sh", "-c", "kill -9 $$"]) == .failed("'sh' was ended by signal 9"))
        #expect(
            try await run(["/nonexistent/program"])
                == .failed("cannot start '/nonexistent/program': No such file or directory"))
    }

    @Test func `its guard has neither descriptors nor memory of this process since the starter was made`() async throws
    {
        try starter.prepare()
        let file = try OpenFile.inMemory("imagemill-opened-later", [UInt8](repeating: 1, count: 4096))
        let memory = mmap(nil, 4096, PROT_READ, CInt(MAP_SHARED), file.descriptor, 0)
        defer { munmap(memory, 4096) }
        #expect(memory != MAP_FAILED)
        let folder = try TemporaryFolder()
        let (out, this) = (folder.path("out"), folder.path("this"))
        let script =
            "grep -c opened-later /proc/$1/maps > \"$2\"; grep -c opened-later /proc/$PPID/maps > \"$0\"; "
            + "ls /proc/$PPID/fd >> \"$0\"; true"
        #expect(try await run(["sh", "-c", script, out, "\(getpid())", this]) == .done)
        #expect(try String(contentsOfFile: this, encoding: .utf8) == "1\n")
        #expect(try String(contentsOfFile: out, encoding: .utf8) == "0\n")
    }

    @Test func `a starter that was killed is replaced; one that does not answer keeps nobody for ever`() async throws {
        try starter.prepare()
        #expect(try await run(["true"]) == .done)
        #expect(kill(try #require(starter.identifier), SIGKILL) == 0)
        #expect(try await run(["true"]) == .done)
        let stopped = try #require(starter.identifier)
        #expect(kill(stopped, SIGSTOP) == 0)
        let folder = try TemporaryFolder()
        let script = ["sh", "-c", "echo x >> '\(folder.path("told"))'"]
        #expect(try await run(script) == .failed("cannot start 'sh': Connection timed out"))
        #expect(kill(stopped, 0) != 0, "the starter may still carry it out")
        #expect(try await run(script) == .done)
        #expect(try String(contentsOfFile: folder.path("told"), encoding: .utf8) == "x\n")
    }

    @Test func `a text without a first line is not handed to a shell`() async throws {
        let folder = try TemporaryFolder()
        try folder.write("echo x", to: "text")
        chmod(folder.path("text"), 0o755)
        let program = folder.path("text")
        #expect(try await run([program]) == .failed("cannot start '\(program)': Exec format error"))
    }

    @Test func `one that hangs is stopped with all that it has started, also if it does not listen`() async throws {
        let folder = try TemporaryFolder()
        let start = SuspendingClock.now
        let script = "trap '' TERM; sleep 300 & echo $! > '\(folder.path("child"))'; wait; wait; sleep 300"
        #expect(try await run(["sh", "-c", script], seconds: 2) == .failed("'sh' took longer than 2s and was stopped"))
        #expect(SuspendingClock.now - start < .seconds(20))
        let text = try String(contentsOfFile: folder.path("child"), encoding: .utf8)
        let child = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        for _ in 0..<500 where isAlive(child) { try await Task.sleep(for: .milliseconds(20)) }
        #expect(!isAlive(child))
    }

    @Test func `a guard that does not end leaves no dead process behind when the system lets it go`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("guard")
        var process = HookProcess(
            arguments: ["sh", "-c", "echo $PPID > '\(file).part'; mv '\(file).part' '\(file)'; sleep 300"], input: [],
            timeout: .seconds(2))
        process.patienceWithGuard = .milliseconds(200)
        let running = Background { [process, starter] in process.run(by: starter, Cancellation()) }
        while !FileManager.default.fileExists(atPath: file) { try await Task.sleep(for: .milliseconds(10)) }
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let guardian = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(kill(guardian, SIGSTOP) == 0)
        let outcome = try await onNewThread { running.value(until: .now + .seconds(20)) }
        #expect(outcome == .failed("'sh' took longer than 2s and was stopped"))
        // A dead process answers as well.
        for _ in 0..<500 where kill(guardian, 0) == 0 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(kill(guardian, 0) != 0)
    }

    /// A script that starts a process in a session of its own, which writes its number, and goes on when it has.
    private func leaver(_ folder: TemporaryFolder, then rest: String) throws -> [String] {
        let (script, child) = (folder.path("child.sh"), folder.path("child"))
        try folder.write("echo $$ > '\(child).part'; mv '\(child).part' '\(child)'; exec sleep 300", to: "child.sh")
        return ["sh", "-c", "setsid sh '\(script)' & while ! test -e '\(child)'; do sleep 0.1; done; \(rest)"]
    }

    private func child(_ folder: TemporaryFolder) throws -> pid_t {
        let text = try String(contentsOfFile: folder.path("child"), encoding: .utf8)
        return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    @Test func `what has left its session is gone with a program that took too long`() async throws {
        let folder = try TemporaryFolder()
        #expect(
            try await run(leaver(folder, then: "sleep 300"), seconds: 5)
                == .failed("'sh' took longer than 5s and was stopped"))
        #expect(try !isAlive(child(folder)))
    }

    @Test(arguments: ["exit 0", "kill -9 $$"])
    func `what has left its session is gone with a program that has ended`(end: String) async throws {
        let folder = try TemporaryFolder()
        #expect(
            try await run(leaver(folder, then: end))
                == (end == "exit 0" ? .done : .failed("'sh' was ended by signal 9")))
        #expect(try !isAlive(child(folder)))
    }

    @Test func `one that floods, and one that does not read, are no trouble`() async throws {
        let large = String(repeating: "x", count: 3 << 20)
        #expect(
            try await run(["sh", "-c", "head -c 20000000 /dev/zero | tr '\\0' y; echo; echo last; exit 1"])
                == .failed("'sh' ended with 1: last"))
        #expect(try await run(["true"], input: large) == .done)
        #expect(try await run(["sh", "-c", "[ $(wc -c) = 3145728 ]"], input: large) == .done)
    }

    @Test func `one that leaves something behind is done when it has ended itself`() async throws {
        let start = SuspendingClock.now
        #expect(try await run(["sh", "-c", "sleep 20 & exit 0"]) == .done)
        #expect(SuspendingClock.now - start < .seconds(15))
    }

    @Test func `when the daemon stops, it is stopped and counts as not told`() async throws {
        let cancellation = Cancellation()
        cancellation.raise()
        #expect(try await run(["sleep", "300"], cancellation: cancellation) == .interrupted)
    }
}
