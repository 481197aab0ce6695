// Two runs into one output folder at once, and other trouble with the folder that may pass.
import Foundation
import Glibc
import TestSupport
import Testing

@testable import System

@Suite struct TwoRunsTests {
    @Test
    func `of two runs into one folder at once one does it, and the other ends with 75 and says who`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("x/a.jpg")
        try await runner.picture("y/b.jpg")
        #expect(mkfifo(runner.folder.path("pipe"), 0o600) == 0)
        // A report to a pipe that nobody reads holds the first run up.
        let first = try runner.start("run", "p.yaml", "x", "-o", "out", "--report", "pipe")
        for _ in 0..<2000 where !isLocked(runner) { try await Task.sleep(for: .milliseconds(5)) }

        let second = try await runner.run("run", "p.yaml", "y", "-o", "./out/")
        #expect(second.exit == 75)
        let sentence =
            #/another 'imagemill run' \(process (\d+) on host \S+, since \d\d:\d\d:\d\d\) is writing to './out/'; wait for it, or choose another folder/#
        #expect(second.errors.contains(sentence), "\(second.errors)")
        #expect(second.errors.contains("process \(first.process) "), "\(second.errors)")
        #expect(!runner.files().contains("b.webp"))

        // Looking is always possible.
        #expect(try await runner.run("run", "p.yaml", "y", "-o", "out", "--dry-run").exit == 0)
        #expect(try await runner.run("run", "p.yaml", "y", "-o", "out", "--why", "y/b.jpg").exit == 0)

        #expect(
            try await runner.shell("cd '\(runner.folder.path)' && timeout 20 cat pipe").output.contains("\"done\":1"))
        #expect(try await first.finish().exit == 0)
        #expect(try await runner.run("run", "p.yaml", "y", "-o", "out").exit == 0)
        #expect(runner.files() == ["a.webp", "b.webp"])
    }

    private func isLocked(_ runner: CommandRunner) -> Bool {
        ((try? runner.bytes("out/.imagemill/lock")) ?? []).isEmpty == false
    }

    @Test
    func `many runs at once: each ends with 0 or 75, at least one with 0, and the report is whole`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for index in 0..<8 { try await runner.picture("in/\(index).jpg") }
        let running = try (0..<8).map { _ in try runner.start("run", "p.yaml", "in", "-o", "out", "--force") }
        var exits: [Int] = []
        for command in running { exits.append(try await command.finish().exit) }
        #expect(exits.contains(0) && exits.allSatisfy { $0 == 0 || $0 == 75 }, "\(exits)")
        #expect(try runner.report().summary.done == 8)
        #expect(runner.files() == (0..<8).map { "\($0).webp" })
    }

    @Test func `a run that was killed leaves no lock, and no part of a report`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline(size: "100%", format: "png")
        for index in 0..<6 {
            try runner.folder.write(try await SamplePicture.noise(width: 1200, height: 1200), to: "in/\(index).jpg")
        }
        let command = try runner.start("run", "p.yaml", "in", "-o", "out", "--jobs", "1")
        for _ in 0..<2000 where !isLocked(runner) { try await Task.sleep(for: .milliseconds(5)) }
        command.signal(SIGKILL)
        _ = try await command.finish()
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let state = try FileManager.default.contentsOfDirectory(atPath: runner.folder.path("out/.imagemill"))
        #expect(state.sorted() == ["lock", "names.sqlite", "report.json"])
    }

    // MARK: - Trouble that may pass

    @Test
    func `with too few open files allowed the run ends with 75 and names the limit, or does its work`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for index in 0..<4 { try await runner.picture("in/\(index).jpg") }
        for limit in [18, 20, 22, 24, 26, 28, 30, 32, 40, 64] {
            let words = "run p.yaml in -o out --jobs 2 --force"
            let result = try await runner.shell(
                "cd '\(runner.folder.path)' && ulimit -n \(limit) && exec \"$IMAGEMILL\" \(words)")
            #expect(result.exit == 75 || result.exit == 0, "\(limit): \(result.exit) \(result.errors)")
            if result.exit == 75 { #expect(!result.errors.contains("io-error"), "\(limit): \(result.errors)") }
            if limit == 24 { #expect(result.errors.contains("only 24 files may be open at once"), "\(result.errors)") }
            if limit == 64 { #expect(result.exit == 0, "\(result.errors)") }
        }
    }

    @Test func `a low soft limit is raised to the hard one`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        let line = "cd '\(runner.folder.path)' && ulimit -S -n 20 && exec \"$IMAGEMILL\" run p.yaml in -o out"
        #expect(try await runner.shell(line).exit == 0)
    }

    @Test(.enabled(if: geteuid() == 0))
    func `an output or state folder on a file system that is read-only, or without permission, is 75`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        let script =
            "mount -t tmpfs -o ro none \"$1\" && cd '\(runner.folder.path)' && exec \"$IMAGEMILL\" run p.yaml in -o out $2 $3"
        try runner.folder.write(script, to: "read-only.sh")
        for (folder, options) in [("out", ""), ("state", "--state state")] {
            try FileManager.default.createDirectory(
                atPath: runner.folder.path(folder), withIntermediateDirectories: true)
            let result = try await runner.shell(
                "unshare -m sh '\(runner.folder.path)/read-only.sh' '\(runner.folder.path)/\(folder)' \(options)")
            #expect(
                result.exit == 75 && result.errors.contains("Read-only file system"), "\(result.exit) \(result.errors)")
        }
    }

    @Test func `a pipeline file that is missing is a mistake of the command, not trouble that may pass`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        let result = try await runner.run("run", "missing.yaml", "in", "-o", "out")
        #expect(result.exit == 78 && !runner.exists("out"), "\(result.errors)")
    }

    @Test func `a report that cannot be written is 75, never a mistake in the pipeline`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--report", "/dev/full")
        #expect(
            result.exit == 75 && result.errors.contains("cannot write the report '/dev/full'"),
            "\(result.exit) \(result.errors)")
        #expect(runner.files() == ["a.webp"])
    }
}
