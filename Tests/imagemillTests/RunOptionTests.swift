// The options of `run`, each by what it does.
import Foundation
import Pipeline
import TestSupport
import Testing

@testable import System

@Suite struct RunOptionTests {
    private func runner() async throws -> CommandRunner {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try await runner.picture("in/sub/b.png")
        return runner
    }

    @Test func `--dry-run lists what would be written, and writes nothing`() async throws {
        let runner = try await runner()
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--dry-run")
        #expect(result.exit == 0)
        #expect(result.output == "in/a.jpg → out/a.webp (32×24)\nin/sub/b.png → out/b.webp (32×24)\n")
        #expect(result.errors.contains("2 of 2 sources can be rendered; nothing was written"))
        #expect(!runner.exists("out"))
        #expect(runner.files(in: ".").sorted() == ["in/a.jpg", "in/sub/b.png", "p.yaml"])
    }

    @Test(arguments: [false, true])
    func `a pattern of --exclude that begins with the searched folder is said if it matches nothing`(isPlan: Bool)
        async throws
    {
        let runner = try await runner()
        try runner.folder.write("", to: "in/.git/x")
        let excluded = ["in/a.jpg", "x/y", ".git", "b.*", "*.png", "sub"].flatMap { ["--exclude", $0] }
        let command =
            isPlan ? ["shard", "in", "--pipeline", "p.yaml", "-o", "plan"] : ["run", "p.yaml", "in/", "-o", "out"]
        let result = try await runner.run(command + excluded)
        #expect(result.exit == 0)
        let warnings = result.errors.split(separator: "\n").filter { $0.contains("warning") }
        // The contents of an excluded folder are not looked at.
        let about = "matched nothing; patterns are for paths below the folder that is searched:"
        #expect(warnings == ["warning: --exclude 'in/a.jpg' \(about) leave out 'in/'"])
        let quiet = try await runner.run(command + excluded + ["--quiet"] + (isPlan ? ["-o", "plan2"] : []))
        #expect(!quiet.errors.contains("warning"))
    }

    @Test func `the first line of what a decoder has said is shown below its failure`() async throws {
        let runner = try await runner()
        try runner.folder.write(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\">\n<rect>\n</svg>", to: "in/x.svg")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--allow", "svg")
        let lines = result.errors.split(separator: "\n")
        let index = try #require(lines.firstIndex { $0.hasPrefix("in/x.svg: corrupt: ") })
        #expect(lines[index + 1].hasPrefix("  ") && lines[index + 1].contains("line 3"), "\(result.errors)")
        let detail = try #require(try runner.report()["in/x.svg"]?.error ?? runner.report()["x.svg"]?.error)
        #expect(!detail.message.contains("line 3"))
    }

    @Test func `many failures are counted by their codes`() async throws {
        let runner = try await runner()
        for name in ["c", "d", "e"] { try runner.folder.write("no", to: "in/\(name).jpg") }
        let few = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(few.exit == 1 && !few.errors.contains("failed: "), "\(few.errors)")
        try runner.folder.write("", to: "in/f.jpg")
        let many = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(many.errors.contains("\n4 failed: 3 not-an-image, 1 empty\n"), "\(many.errors)")
    }

    @Test func `--dry-run finds what would fail`() async throws {
        let runner = try await runner()
        try runner.folder.write("no", to: "in/c.jpg")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--dry-run", "--json")
        #expect(result.exit == 1)
        let report = try BatchDocument(text: result.output)
        #expect(report.outcomes == ["a.jpg": "planned", "sub/b.png": "planned", "c.jpg": "not-an-image"])
        #expect(report["a.jpg"]?.renditions.first?.bytes == nil)
        #expect(report.summary.skipped == 2 && report.summary.failed == 1 && report.summary.renditions == 0)
        #expect(!runner.exists("out"))
    }

    @Test func `--json prints the batch document, and it is the one in the file`() async throws {
        let runner = try await runner()
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--json")
        #expect(result.exit == 0)
        #expect(try BatchDocument(text: result.output).summary.done == 2)
        #expect(try Array(result.output.utf8) == runner.bytes("out/.imagemill/report.json"))
    }

    @Test func `--report puts the report where the option says, with the folders above it`() async throws {
        let runner = try await runner()
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--report", "reports/today.json")
        #expect(result.exit == 0)
        #expect(result.errors.contains("report: reports/today.json"))
        #expect(try runner.report("reports/today.json").summary.done == 2)
        #expect(!runner.exists("out/.imagemill/report.json") && !runner.exists("reports/today.json.part"))
    }

    @Test func `a report that goes to a pipe is written into it, and the pipe stays`() async throws {
        let runner = try await runner()
        let line =
            "timeout 10 cat pipe > copy & \"$IMAGEMILL\" run p.yaml in -o out --report pipe --quiet; test -p pipe && wait && cat copy"
        let result = try await runner.shell("mkfifo pipe; " + line)
        #expect(result.exit == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(try BatchDocument(text: result.output).summary.done == 2)
    }

    @Test func `--keep-tree puts renditions into the sub-folders of their sources`() async throws {
        let runner = try await runner()
        try await runner.picture("in/sub/a.jpg")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out", "--keep-tree").exit == 0)
        #expect(runner.files() == ["a.webp", "sub/a.webp", "sub/b.webp"])
        #expect(try runner.report()["sub/b.png"]?.renditions.first?.path == "sub/b.webp")
    }

    @Test func `--quiet prints failures only`() async throws {
        let runner = try await runner()
        let good = try await runner.run("run", "p.yaml", "in", "-o", "out", "--quiet")
        #expect(good.exit == 0 && good.errors.isEmpty && good.output.isEmpty)
        try runner.folder.write("no", to: "in/c.jpg")
        let bad = try await runner.run("run", "p.yaml", "in", "-o", "out", "-q")
        #expect(bad.exit == 1)
        #expect(
            bad.errors
                == "in/c.jpg: not-an-image: expected a picture, found a file in no recognized image format\n  \(FailureCode.notAnImage.remedy(in: .command))\n"
        )
    }

    @Test func `what to do about a failure is said once for each code, and in the report of each source`() async throws
    {
        let runner = try await runner()
        try runner.folder.write("no", to: "in/c.jpg")
        try runner.folder.write("no", to: "in/d.jpg")
        try runner.folder.write("", to: "in/e.jpg")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 1)
        for code in [FailureCode.notAnImage, .empty] {
            #expect(
                result.errors.components(separatedBy: "\n  \(code.remedy(in: .command))\n").count == 2,
                "\(result.errors)")
        }
        let report = String(decoding: try runner.bytes("out/.imagemill/report.json"), as: UTF8.self)
        #expect(
            report.components(separatedBy: "\"remedy\":\"\(FailureCode.notAnImage.remedy(in: .command))\"").count == 3)
        let plan = try await runner.run("plan", "in/c.jpg", "p.yaml")
        #expect(
            plan.exit == 1 && plan.errors.hasSuffix("\n  \(FailureCode.notAnImage.remedy(in: .command))\n"),
            "\(plan.errors)")
    }

    @Test(arguments: ["1", "4"])
    func `one worker and four make the same files`(count: String) async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for index in 1...12 { try await runner.picture("in/\(index).jpg") }
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--jobs", count)
        #expect(result.exit == 0)
        #expect(runner.files() == (1...12).map { "\($0).webp" }.sorted())
        let first = try runner.bytes("out/1.webp")
        for index in 2...12 { #expect(try runner.bytes("out/\(index).webp") == first) }
    }

    @Test func `progress is shown on a terminal only, and --no-progress shows none`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline(size: "100%", format: "avif")
        let slow = try await SamplePicture.noise(width: 500, height: 400)
        for index in 1...4 { try runner.folder.write(slow, to: "in/\(index).jpg") }
        let line = "\\\"$IMAGEMILL\\\" run p.yaml in -o out --jobs 1"
        let terminal = try await runner.shell("TERM=xterm script -qec \"\(line)\" /dev/null")
        #expect(terminal.exit == 0)
        #expect(terminal.output.contains("/4  ") && terminal.output.contains(" left"))
        let silent = try await runner.shell("script -qec \"\(line) --no-progress\" /dev/null")
        #expect(silent.exit == 0 && !silent.output.contains(" left"))
        let piped = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(!piped.errors.contains("\u{1B}") && !piped.errors.contains(" left"))
    }

    @Test func `nobody reading the output is no failure of the batch`() async throws {
        let runner = try await runner()
        let result = try await runner.shell(
            "(sleep 0.3; \"$IMAGEMILL\" run p.yaml in -o out --json; echo $? > code) | true; cat code")
        #expect(result.output == "0\n" && !result.errors.contains("Broken pipe"))
        #expect(runner.files() == ["a.webp", "b.webp"])
    }
}
