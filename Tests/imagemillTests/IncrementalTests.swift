// A second run over the same sources: what is skipped, what is noticed, and what is said about it.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct IncrementalTests {
    /// Three pictures, rendered once with a pipeline that draws an asset.
    private func doneOnce(_ options: String...) async throws -> CommandRunner {
        let runner = try CommandRunner()
        try await writePipeline(runner)
        for name in ["a.jpg", "b.png", "sub/c.jpg"] { try await runner.picture("in/" + name) }
        let result = try await runner.run(["run", "p.yaml", "in", "-o", "out"] + options)
        #expect(result.exit == 0, "\(result.errors)")
        return runner
    }

    private func writePipeline(_ runner: CommandRunner, size: String = "32x32", comment: String = "") async throws {
        if !runner.exists("badge.png") { try await runner.picture("badge.png") }
        try runner.folder.write(
            """
            \(comment)
            renditions:
              small:
                stages:
                  - resize: { size: "\(size)" }
                  - overlay: { image: badge.png, width: 8 }
                save: { format: webp }
            """, to: "p.yaml")
    }

    private func run(_ runner: CommandRunner, _ options: String...) async throws -> CommandResult {
        try await runner.run(["run", "p.yaml", "in", "-o", "out"] + options)
    }

    private func why(_ runner: CommandRunner, _ source: String, _ options: String...) async throws -> String {
        let result = try await runner.run(["run", "p.yaml", "in", "-o", "out", "--why", source] + options)
        #expect(result.exit == 0, "\(result.errors)")
        return result.output
    }

    private func modified(_ runner: CommandRunner, _ name: String) throws -> Date {
        try #require(
            try FileManager.default.attributesOfItem(atPath: runner.folder.path(name))[.modificationDate] as? Date)
    }

    private func setModified(_ runner: CommandRunner, _ name: String, _ date: Date) throws {
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: runner.folder.path(name))
    }

    /// The outcome of each source in a run that must do `b.png` alone.
    private func expectOnlyB(_ runner: CommandRunner, _ options: String...) async throws {
        let result = try await runner.run(["run", "p.yaml", "in", "-o", "out"] + options)
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try runner.report().outcomes == ["a.jpg": "skipped", "b.png": "done", "sub/c.jpg": "skipped"])
        #expect(result.errors.contains("1 of 3 sources done, 2 unchanged, 1 rendition in "), "\(result.errors)")
    }

    // MARK: - Nothing to do

    @Test
    func `a second run does nothing, says so, and its report has every source with its renditions`() async throws {
        let runner = try await doneOnce()
        let first = try runner.report()
        let written = try modified(runner, "out/a.webp")
        let result = try await run(runner)
        #expect(result.exit == 0)
        #expect(result.errors.hasPrefix("3 sources unchanged: nothing to do ("), "\(result.errors)")
        let second = try runner.report()
        #expect(second.outcomes == ["a.jpg": "skipped", "b.png": "skipped", "sub/c.jpg": "skipped"])
        #expect(
            second.summary.sources == 3 && second.summary.skipped == 3 && second.summary.done == 0
                && second.summary.renditions == 0)
        for entry in first.sources {
            #expect(second[entry.source.path]?.renditions == entry.renditions)
            #expect(second[entry.source.path]?.source.width == 64)
        }
        #expect(try modified(runner, "out/a.webp") == written)
        #expect(try await run(runner, "--quiet").errors.isEmpty)
    }

    @Test func `a run that has nothing to do starts no worker, one that has one source left starts one`() async throws {
        let runner = try await doneOnce()
        #expect(mkfifo(runner.folder.path("pipe"), 0o600) == 0)
        // A report to a pipe that nobody reads holds the program up after its workers were made.
        let idle = try runner.start("run", "p.yaml", "in", "-o", "out", "--report", "pipe", "--jobs", "4")
        for _ in 0..<100 {
            #expect(idle.children.isEmpty)
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(!idle.isEnded)
        #expect(try await runner.shell("timeout 20 cat pipe").output.contains("\"skipped\":3"))
        #expect(try await idle.finish().exit == 0)

        try await runner.picture("in/d.jpg")
        let busy = try runner.start("run", "p.yaml", "in", "-o", "out", "--report", "pipe", "--jobs", "4")
        for _ in 0..<2000 where busy.children.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        try await Task.sleep(for: .milliseconds(300))
        #expect(busy.children.count == 1)
        #expect(try await runner.shell("timeout 20 cat pipe").output.contains("\"done\":1"))
        #expect(try await busy.finish().exit == 0)
    }

    @Test func `--force does every source again`() async throws {
        let runner = try await doneOnce()
        #expect(try await run(runner, "--force").errors.hasPrefix("3 of 3 sources done"))
        #expect(try runner.report().summary.skipped == 0)
        #expect(
            try await why(runner, "in/a.jpg", "--force") == "in/a.jpg: would be done:\n  --force does every source\n")
    }

    @Test
    func `--why says that nothing has changed, and runs nothing; the source may be named as in the report`()
        async throws
    {
        let runner = try await doneOnce()
        for name in ["in/sub/c.jpg", "sub/c.jpg", "./in/../in/sub/c.jpg", runner.folder.path("in/sub/c.jpg")] {
            #expect(
                try await why(runner, name) == "in/sub/c.jpg: would be skipped: nothing has changed since it was done\n"
            )
        }
        let wrong = try await run(runner, "--why", "in/z.jpg")
        #expect(wrong.exit == 64)
        #expect(wrong.errors == "imagemill: 'in/z.jpg' is not among the sources; --why takes one of them\n")
    }

    @Test func `a dry run says which of the sources that it lists failed before`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        var broken = try await SamplePicture.png.bytes
        for index in broken.count / 2..<broken.count / 2 + 40 { broken[index] ^= 0x55 }
        try runner.folder.write(broken, to: "in/broken.png")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 1)
        let dry = try await runner.run("run", "p.yaml", "in", "-o", "out", "--dry-run")
        #expect(dry.exit == 0)
        #expect(
            dry.output.hasPrefix("in/broken.png → out/broken.webp (32×24); failed before: corrupt: "), "\(dry.output)")
        #expect(
            dry.errors
                == "1 of 2 sources can be rendered, 1 unchanged, 1 failed before and would be tried again; nothing was written\n",
            "\(dry.errors)")
        for form in ["--json", "--json-lines"] {
            let document = try await runner.run("run", "p.yaml", "in", "-o", "out", "--dry-run", form)
            #expect(document.output.contains(#/"failed-before":"corrupt: /#), "\(document.output)")
            #expect(document.output.components(separatedBy: "failed-before").count == 2)
        }
        let report = try await runner.run("run", "p.yaml", "in", "-o", "out", "--json")
        #expect(report.exit == 1 && !report.output.contains("failed-before"))
    }

    @Test func `--why before any run says that the source was never done, and makes no output folder`() async throws {
        let runner = try CommandRunner()
        try await writePipeline(runner)
        try await runner.picture("in/a.jpg")
        #expect(
            try await why(runner, "in/a.jpg")
                == "in/a.jpg: would be done:\n  it was never done into this output folder\n")
        #expect(!runner.exists("out"))
    }

    // MARK: - Noticed changes

    @Test func `a source with other bytes is noticed, also where its time is the same`() async throws {
        let runner = try await doneOnce()
        let date = try modified(runner, "in/b.png")
        let before = try runner.bytes("in/b.png").count
        let other = try await SamplePicture.png.encode(TestPicture.solid([9, 9, 9], width: 20, height: 20))
        try runner.folder.write(other, to: "in/b.png")
        try setModified(runner, "in/b.png", date)
        #expect(
            try await why(runner, "in/b.png")
                == "in/b.png: would be done:\n  the source has \(other.count) bytes; it had \(before)\n")
        try await expectOnlyB(runner)
        #expect(try await run(runner).errors.hasPrefix("3 sources unchanged"))
    }

    @Test func `a source that was written to is noticed by its time`() async throws {
        let runner = try await doneOnce()
        try setModified(runner, "in/b.png", Date(timeIntervalSince1970: 1_000_000_000))
        #expect(try await why(runner, "in/b.png") == "in/b.png: would be done:\n  the source was written to\n")
        try await expectOnlyB(runner)
    }

    @Test func `a new source is done, the others are skipped`() async throws {
        let runner = try await doneOnce()
        try await runner.picture("in/d.jpg")
        #expect(try await run(runner).exit == 0)
        #expect(
            try runner.report().outcomes == [
                "a.jpg": "skipped", "b.png": "skipped", "sub/c.jpg": "skipped", "d.jpg": "done",
            ])
    }

    @Test func `a pipeline that says something else does everything again; comments and layout do not`() async throws {
        let runner = try await doneOnce()
        try await writePipeline(runner, comment: "# a comment")
        #expect(try await run(runner).errors.hasPrefix("3 sources unchanged"))
        try await writePipeline(runner, size: "16x16")
        #expect(try await why(runner, "in/a.jpg") == "in/a.jpg: would be done:\n  the pipeline has changed\n")
        #expect(try await run(runner).errors.hasPrefix("3 of 3 sources done, 3 renditions"))
        #expect(try await runner.size(of: "out/a.webp") == [16, 12])
    }

    @Test func `an asset with other content does everything again, and is named`() async throws {
        let runner = try await doneOnce()
        try runner.folder.write(
            try await SamplePicture.png.encode(TestPicture.solid([1, 2, 3], width: 10, height: 10)), to: "badge.png")
        #expect(try await why(runner, "in/a.jpg") == "in/a.jpg: would be done:\n  the asset 'badge.png' has changed\n")
        #expect(try await run(runner).errors.hasPrefix("3 of 3 sources done"))
    }

    @Test func `options that change what is written do everything again`() async throws {
        let runner = try await doneOnce()
        #expect(
            try await why(runner, "in/a.jpg", "--keep-tree")
                == "in/a.jpg: would be done:\n  --keep-tree is on; it was off\n")
        #expect(
            try await why(runner, "in/a.jpg", "--collision", "fail")
                == "in/a.jpg: would be done:\n  --collision is fail; it was version\n")
        #expect(try await run(runner, "--keep-tree").errors.hasPrefix("3 of 3 sources done"))
        #expect(try await run(runner, "--keep-tree", "--jobs", "1").errors.hasPrefix("3 sources unchanged"))
    }

    @Test func `another version of the engine does everything again, and both are named`() async throws {
        let runner = try await doneOnce()
        let edit = "update setups set parts = json_set(parts, '$.engine', 'imagemill 0.0.1, libvips 8.0.0')"
        try await sql(runner, edit)
        let words = try await why(runner, "in/a.jpg")
        #expect(
            words.hasPrefix("in/a.jpg: would be done:\n  the engine is imagemill ")
                && words.hasSuffix("; it was imagemill 0.0.1, libvips 8.0.0\n"))
        #expect(try await run(runner).errors.hasPrefix("3 of 3 sources done"))
    }

    @Test func `a rendition that is missing is made again, and beside one that was altered another one`() async throws {
        let runner = try await doneOnce()
        let good = try runner.bytes("out/b.webp")
        try FileManager.default.removeItem(atPath: runner.folder.path("out/b.webp"))
        #expect(try await why(runner, "in/b.png") == "in/b.png: would be done:\n  the rendition 'b.webp' is missing\n")
        try await expectOnlyB(runner)
        #expect(try runner.bytes("out/b.webp") == good)
        // As long as before, so that only the time tells.
        let altered = try runner.folder.write(good.map { $0 ^ 1 }, to: "out/b.webp")
        #expect(
            try await why(runner, "in/b.png")
                == "in/b.png: would be done:\n  the rendition 'b.webp' is not as it was written\n")
        try await expectOnlyB(runner)
        #expect(try runner.bytes("out/b.webp") == good.map { $0 ^ 1 } && runner.bytes("out/b-2.webp") == good)
        try FileManager.default.removeItem(atPath: altered)
        #expect(try await run(runner).errors.hasPrefix("3 sources unchanged"))
    }

    @Test func `several reasons are all named`() async throws {
        let runner = try await doneOnce()
        try await writePipeline(runner, size: "16x16")
        try setModified(runner, "in/b.png", Date(timeIntervalSince1970: 1_000_000_000))
        try FileManager.default.removeItem(atPath: runner.folder.path("out/b.webp"))
        let words =
            "in/b.png: would be done:\n  the pipeline has changed\n  the source was written to\n  the rendition 'b.webp' is missing\n"
        #expect(try await why(runner, "in/b.png") == words)
    }

    @Test
    func `the same source named from another folder is done again, since reports would name it otherwise`() async throws
    {
        let runner = try await doneOnce()
        let result = try await runner.run("run", "p.yaml", "in/sub", "-o", "out", "--why", "c.jpg")
        #expect(result.output == "in/sub/c.jpg: would be done:\n  it was 'sub/c.jpg' below the folder of sources\n")
    }

    @Test func `a source that failed is tried again, however little has changed`() async throws {
        let runner = try await doneOnce()
        try runner.folder.write("no", to: "in/d.jpg")
        for _ in 0..<2 {
            let result = try await run(runner)
            #expect(result.exit == 1)
            #expect(result.errors.contains("0 of 4 sources done, 1 failed, 3 unchanged"), "\(result.errors)")
            #expect(try runner.report().outcomes["d.jpg"] == "not-an-image")
        }
        let words =
            "in/d.jpg: would be done:\n  it failed the last time: not-an-image: expected a picture, found a file in no recognized image format\n"
        #expect(try await why(runner, "in/d.jpg") == words)
    }

    // MARK: - Interruptions

    @Test func `a run that is killed leaves the rest to the next one, which skips what was recorded`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write("renditions:\n  a: { save: { format: avif, effort: 4 } }\n", to: "p.yaml")
        let slow = try await SamplePicture.noise(width: 500, height: 400)
        for index in 0..<8 { try runner.folder.write(slow, to: "in/\(index).jpg") }
        let command = try runner.start("run", "p.yaml", "in", "-o", "out", "--jobs", "2")
        while !command.isEnded && runner.files().count < 4 { try await Task.sleep(for: .milliseconds(5)) }
        command.signal(SIGKILL)
        _ = try await command.finish()
        #expect(try await run(runner).exit == 0)
        let report = try runner.report()
        #expect(report.summary.done + report.summary.skipped == 8 && report.summary.done > 0)
        #expect(runner.files() == (0..<8).map { "\($0).avif" })
        #expect(try await run(runner).errors.hasPrefix("8 sources unchanged"))
    }

    @Test func `a source whose worker was killed is recorded once it is done, like any other`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write("renditions:\n  a: { save: { format: avif, effort: 6 } }\n", to: "p.yaml")
        try runner.folder.write(try await SamplePicture.noise(width: 900, height: 700), to: "in/a.jpg")
        let command = try runner.start("run", "p.yaml", "in", "-o", "out", "--jobs", "1")
        while !command.isEnded && command.children.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        try await Task.sleep(for: .milliseconds(200))
        if let worker = command.children.first { #expect(kill(worker, SIGKILL) == 0) }
        #expect(try await command.finish().exit == 0)
        #expect(try await run(runner).errors.hasPrefix("1 source unchanged: nothing to do"))
    }

    // MARK: - Names

    @Test func `sources that are skipped keep their names from new ones that come before them`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.png")
        #expect(try await run(runner).exit == 0)
        try await runner.picture("in/a.jpg")
        #expect(try await run(runner).exit == 0)
        #expect(try runner.report().names == ["a.jpg": ["a-2.webp"], "a.png": ["a.webp"]])
        #expect(try runner.report().outcomes == ["a.jpg": "done", "a.png": "skipped"])
    }

    @Test
    func `with --collision overwrite the loser is left alone, and the winner stays the winner whatever changes`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.pipeline(size: "300x300")
        try await runner.picture("in/a.jpg")
        try runner.folder.write(
            try await SamplePicture.png.encode(TestPicture.solid([9, 9, 9], width: 300, height: 300)), to: "in/a.png")
        let options = ["run", "p.yaml", "in", "-o", "out", "--collision", "overwrite"]
        #expect(try await runner.run(options).exit == 0)
        #expect(try await runner.size(of: "out/a.webp") == [300, 300])
        #expect(try await runner.run(options).errors.hasPrefix("2 sources unchanged"))

        // The loser changes: it writes its rendition, so the winner must write its own again.
        try setModified(runner, "in/a.jpg", Date(timeIntervalSince1970: 1_000_000_000))
        #expect(try await runner.run(options).errors.hasPrefix("2 of 2 sources done"))
        #expect(try await runner.size(of: "out/a.webp") == [300, 300])
        #expect(try await runner.run(options).errors.hasPrefix("2 sources unchanged"))

        // A new source before both.
        try await runner.picture("in/a.gif")
        #expect(try await runner.run(options).exit == 0)
        #expect(try runner.report().outcomes == ["a.gif": "done", "a.jpg": "skipped", "a.png": "done"])
        #expect(try await runner.size(of: "out/a.webp") == [300, 300])
        #expect(try await runner.run(options).errors.hasPrefix("3 sources unchanged"))

        // The winner is gone: the one before it takes the name.
        try FileManager.default.removeItem(atPath: runner.folder.path("in/a.png"))
        #expect(try await runner.run(options).exit == 0)
        #expect(try await runner.size(of: "out/a.webp") == [300, 225])
    }

    // MARK: - The record

    /// Changes the record as no version of Imagemill would.
    private func sql(_ runner: CommandRunner, _ statement: String) async throws {
        let script =
            "import sqlite3, sys; c = sqlite3.connect('out/.imagemill/names.sqlite'); c.executescript(sys.argv[1]); c.commit()"
        let result = try await runner.shell("cd '\(runner.folder.path)' && python3 -c \"\(script)\" \"\(statement)\"")
        #expect(result.exit == 0, "\(result.errors)")
    }

    @Test(arguments: ["document = '{'", "document = '[]'", "document = null", "outputs = x'01'"])
    func `a result that cannot be read is made anew`(edit: String) async throws {
        let runner = try await doneOnce()
        try await sql(runner, "update results set \(edit) where cast(source as text) like '%b.png'")
        #expect(
            try await why(runner, "in/b.png")
                == "in/b.png: would be done:\n  the record of how it was done cannot be read\n")
        try await expectOnlyB(runner)
        #expect(try await run(runner).errors.hasPrefix("3 sources unchanged"))
    }

    @Test func `a record that is no database is an error that names it, and nothing is written over`() async throws {
        let runner = try await doneOnce()
        try runner.folder.write(String(repeating: "no database ", count: 100), to: "out/.imagemill/names.sqlite")
        let written = try modified(runner, "out/a.webp")
        let result = try await run(runner)
        #expect(result.exit == 75)
        #expect(result.errors.contains("open the record of names in 'out/.imagemill'"), "\(result.errors)")
        #expect(try modified(runner, "out/a.webp") == written)
    }

    @Test func `a dry run leaves out what is unchanged`() async throws {
        let runner = try await doneOnce()
        let idle = try await run(runner, "--dry-run")
        #expect(idle.exit == 0 && idle.output.isEmpty)
        #expect(idle.errors == "0 of 3 sources can be rendered, 3 unchanged; nothing was written\n")
        try await runner.picture("in/d.jpg")
        let dry = try await run(runner, "--dry-run")
        #expect(dry.output == "in/d.jpg → out/d.webp (32×24)\n")
        #expect(dry.errors == "1 of 4 sources can be rendered, 3 unchanged; nothing was written\n")
        let report = try BatchDocument(text: try await run(runner, "--dry-run", "--json").output)
        #expect(
            report.outcomes == ["a.jpg": "skipped", "b.png": "skipped", "sub/c.jpg": "skipped", "d.jpg": "planned"])
        #expect(try await run(runner).errors.contains("1 of 4 sources done, 3 unchanged"))
    }

    @Test func `a name that is not UTF-8 is skipped like any other, and the report tells its bytes`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        #expect(
            try await runner.shell("cd '\(runner.folder.path)/in' && mv a.jpg \"$(printf 'a\\377.jpg')\"").exit == 0)
        #expect(try await run(runner).exit == 0)
        #expect(try await run(runner).errors.hasPrefix("1 source unchanged"))
        #expect(try runner.report().sources.first?.source.pathBytes == "a%FF.jpg")
    }
}
