// The output of a run for the terminal and for programs.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct RunOutputTests {
    private func runner() async throws -> CommandRunner {
        let runner = try CommandRunner()
        try runner.pipeline(size: "100x100", format: "jpeg")
        try await runner.picture("in/a.jpg")
        let clear = try await SamplePicture.png.encode(TestPicture.solid([9, 9, 9, 9], width: 200, height: 200))
        try runner.folder.write(clear, to: "in/b.png")
        return runner
    }

    @Test func `warnings are summed up, and -v lists them`() async throws {
        let runner = try await runner()
        let plain = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(plain.exit == 0)
        #expect(
            plain.errors.hasSuffix("\n2 warnings: 1 alpha-flattened, 1 upscaled; see the report\n"), "\(plain.errors)")
        let verbose = try await runner.run("run", "p.yaml", "in", "-o", "out", "-v", "--force")
        #expect(verbose.errors.contains("in/a.jpg: warning: upscaled: "))
        #expect(verbose.errors.hasSuffix("\n2 warnings: 1 alpha-flattened, 1 upscaled\n"), "\(verbose.errors)")
    }

    @Test
    func `--json-lines prints a report on each line, and the summary on the last; all are as their schemas say`()
        async throws
    {
        let runner = try await runner()
        _ = try await runner.run("run", "p.yaml", "in", "-o", "out")
        try await runner.picture("in/c.png")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--json-lines", "-q")
        let lines = result.output.split(separator: "\n")
        #expect(result.exit == 0 && lines.count == 4)
        for (index, line) in lines.enumerated() { try runner.folder.write(String(line), to: "\(index).json") }
        let reports = try await runner.validate("report", ["0.json", "1.json", "2.json"])
        #expect(reports.exit == 0, "\(reports.output)")
        #expect(try await runner.validate("summary", ["3.json"]).exit == 0)
        #expect(lines.last?.contains(#""skipped":2"#) == true)
        #expect(try runner.report().sources.count == 3)
    }

    @Test func `colors are for terminals; --color and NO_COLOR decide`() async throws {
        let runner = try await runner()
        try runner.folder.write("no", to: "in/c.jpg")
        let command = ["run", "p.yaml", "in", "-o", "out", "-q"]
        #expect(try await runner.run(command).errors.hasPrefix("in/c.jpg: not-an-image"))
        #expect(
            try await runner.run(command + ["--color", "always"]).errors.hasPrefix(
                "in/c.jpg: \u{1B}[1;31mnot-an-image\u{1B}[0m: "))
        let line = "\\\"$IMAGEMILL\\\" run p.yaml in -o out -q"
        let terminal = try await runner.shell("env -u NO_COLOR TERM=xterm script -qec \"\(line)\" /dev/null")
        #expect(terminal.output.contains("\u{1B}[1;31m"))
        #expect(
            try await runner.shell("NO_COLOR=1 TERM=xterm script -qec \"\(line)\" /dev/null").output.contains(
                "c.jpg: not-an-image"))
    }
}
