// Parameters through the whole program: the pipeline's own values, --set, an inbox's `set`, shards, second runs, reports.
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Pipeline

@Suite struct ParameterRunTests {
    private let runner: CommandRunner

    private static let pipeline = """
        parameters:
          side: { type: length, default: 20, about: "The longest side." }
          kind: { type: choice, choices: [png, gif], default: png }
        renditions:
          a:
            stages: [ { frame: { width: "${side}", height: "${side}" } } ]
            save: { format: "${kind}" }
        """

    init() async throws {
        runner = try CommandRunner()
        try runner.folder.write(Self.pipeline, to: "p.yaml")
        try runner.folder.write(try await SamplePicture.noise(width: 40, height: 30), to: "in/a.jpg")
    }

    @Test func `values are used, reported, and compared with those of the last run`() async throws {
        let usual = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(usual.exit == 0, "\(usual.errors)")
        #expect(try await runner.size(of: "out/a.png") == [20, 20])
        let given = try await runner.run("run", "p.yaml", "in", "-o", "out", "--set", "side=30", "--set", "kind=gif")
        #expect(given.exit == 0, "\(given.errors)")
        #expect(try await runner.size(of: "out/a.gif") == [30, 30])
        let text = String(decoding: try runner.bytes("out/.imagemill/report.json"), as: UTF8.self)
        #expect(text.contains(#"{"name":"side","origin":"set","value":"30"}"#), "\(text)")
        let valid = try await runner.validate("batch", ["out/.imagemill/report.json"])
        #expect(valid.exit == 0, "\(valid.output)\(valid.errors)")
        let same = try await runner.run("run", "p.yaml", "in", "-o", "out", "--set", "kind=gif", "--set", "side=30")
        #expect(same.errors.contains("1 source unchanged"), "\(same.errors)")
        let why = try await runner.run("run", "p.yaml", "in", "-o", "out", "--set", "kind=gif", "--why", "in/a.jpg")
        #expect(why.output.contains("--set side is none; it was 30"), "\(why.output)")
        let wrong = try await runner.run("run", "p.yaml", "in", "-o", "out", "--set", "kind=jpeg")
        #expect(wrong.exit == 78 && wrong.errors.contains("expects one of png or gif, found 'jpeg'"), "\(wrong.errors)")
        for option in ["side", "=5"] {
            let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--set", option)
            #expect(result.exit == 64 && result.errors.contains("expects a name and a value"), "\(result.errors)")
        }
    }

    @Test func `check and plan know values, and a plan of shards keeps them`() async throws {
        let check = try await runner.run("check", "p.yaml", "--set", "side=wide")
        #expect(check.exit != 0 && check.errors.contains("the value of 'side' expects a length"), "\(check.errors)")
        let plan = try await runner.run("plan", "p.yaml", "in/a.jpg", "--set", "side=10")
        #expect(plan.output.contains("side           10  (set)") && plan.output.contains("10×10"), "\(plan.output)")
        _ = try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--set", "side=15", "-q")
        let task = try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "out", "-q")
        #expect(task.exit == 0, "\(task.errors)")
        #expect(try await runner.size(of: "out/000000/a.png") == [15, 15])
        let both = try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "out", "--set", "side=9")
        #expect(both.exit == 64, "\(both.errors)")
    }

    @Test func `the cache tells values apart`() async throws {
        _ = try await runner.run("run", "p.yaml", "in", "-o", "one", "--cache", "cache")
        _ = try await runner.run("run", "p.yaml", "in", "-o", "two", "--cache", "cache", "--set", "side=10")
        #expect(try await runner.size(of: "two/a.png") == [10, 10])
        _ = try await runner.run("run", "p.yaml", "in", "-o", "three", "--cache", "cache", "--set", "side=20")
        #expect(try runner.bytes("three/a.png") == runner.bytes("one/a.png"))
        let source = try #require(try runner.report("three/.imagemill/report.json")["a.jpg"])
        #expect(source.renditions.allSatisfy { $0.cached == true })
    }

    @Test func `two inboxes give one pipeline values of their own`() async throws {
        let inbox = "outbox: out, pipeline: p.yaml, settle: 200ms"
        let drop = try WatchedFolder(
            mill:
                "state: state\ninboxes:\n  - { path: in, \(inbox) }\n  - { path: small, \(inbox), set: { side: 8, kind: gif } }\n"
        )
        try drop.runner.folder.write(Self.pipeline, to: "p.yaml")
        try drop.makeFolder("small")
        let watch = try await drop.start()
        let picture = try await SamplePicture.noise(width: 40, height: 30)
        try drop.drop("a.jpg", picture)
        try drop.drop("b.jpg", picture, into: "small")
        try await drop.until("out/a.jpg.json", "out/b.jpg.json")
        #expect(try await drop.runner.size(of: "out/a.png") == [20, 20])
        #expect(try await drop.runner.size(of: "out/b.gif") == [8, 8])
        try await drop.stop(watch)
        try drop.runner.folder.write(
            "state: state\ninboxes:\n  - { path: in, \(inbox), set: { side: [1], kind: png } }\n", to: "mill.yaml")
        let check = try await drop.runner.run("check", "mill.yaml")
        #expect(check.exit != 0 && check.errors.contains("'side' expects a value in one line"), "\(check.errors)")
    }

    @Test func `a run reads sidecars, and does again what they change`() async throws {
        let picture = try await SamplePicture.noise(width: 40, height: 30)
        for name in ["in/sub/b.jpg", "in/sub/deep/c.jpg"] { try runner.folder.write(picture, to: name) }
        try runner.folder.write("side: 12\n", to: "in/sub/_imagemill.yaml")
        try runner.folder.write("side: 14\n", to: "in/sub/deep/c.jpg.yaml")
        let run = try await runner.run("run", "p.yaml", "in", "-o", "out", "--set", "kind=gif", "--set", "side=16")
        #expect(run.exit == 0 && run.errors.contains("3 sources"), "\(run.errors)")
        #expect(!run.errors.contains("passed over"), "\(run.errors)")
        for (name, side) in [("a", 16), ("b", 12), ("c", 14)] {
            #expect(try await runner.size(of: "out/\(name).gif") == [side, side])
        }
        let text = String(decoding: try runner.bytes("out/.imagemill/report.json"), as: UTF8.self)
        #expect(text.contains(#"{"name":"side","origin":"folder","value":"12"}"#), "\(text)")
        #expect(text.contains(#"{"name":"side","origin":"sidecar","value":"14"}"#), "\(text)")
        let valid = try await runner.validate("batch", ["out/.imagemill/report.json"])
        #expect(valid.exit == 0, "\(valid.output)\(valid.errors)")
        let plan = try await runner.run("plan", "p.yaml", "in/sub/deep/c.jpg", "--set", "kind=gif")
        #expect(plan.output.contains("side           14  (sidecar)"), "\(plan.output)")

        try runner.folder.write("side: 18 \n", to: "in/sub/deep/c.jpg.yaml")
        try runner.folder.write("side: 11\n", to: "in/a.jpg.yaml")
        try FileManager.default.removeItem(atPath: runner.folder.path("in/sub/_imagemill.yaml"))
        let options = ["run", "p.yaml", "in", "-o", "out", "--set", "kind=gif", "--set", "side=16"]
        for (source, reason) in [
            ("in/a.jpg", "the sidecar 'a.jpg.yaml' is new"), ("in/sub/b.jpg", "the sidecar '_imagemill.yaml' is gone"),
            ("in/sub/deep/c.jpg", "the sidecar 'c.jpg.yaml' has 10 bytes; it had 9"),
        ] {
            let why = try await runner.run(options + ["--why", source])
            #expect(why.output.contains(reason), "\(why.output)")
        }
        _ = try await runner.run(options)
        for (name, side) in [("a", 11), ("b", 16), ("c", 18)] {
            #expect(try await runner.size(of: "out/\(name).gif") == [side, side])
        }
        #expect(try await runner.run(options).errors.contains("3 sources unchanged"))
    }

    @Test func `a mistake in a sidecar fails its picture, with a caret; a plan of shards reads them too`() async throws
    {
        try runner.folder.write("side: wide\n", to: "in/a.jpg.yaml")
        let run = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(
            run.exit == 2 && run.errors.contains("in/a.jpg: bad-parameters: in/a.jpg.yaml:1:7: 'side' expects a length")
                && run.errors.contains("    side: wide\n          ^\n"), "\(run.errors)")
        try runner.folder.write("side: 13\n", to: "in/a.jpg.yaml")
        _ = try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan", "-q")
        let task = try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "parts", "-q")
        #expect(task.exit == 0, "\(task.errors)")
        #expect(try await runner.size(of: "parts/000000/a.png") == [13, 13])
    }

    @Test func `a file that a picture names is below the pipeline, and a change of it is seen`() async throws {
        let pipeline = """
            parameters: { badge: { type: file, default: badges/one.jpg } }
            renditions: { a: { stages: [ { overlay: { image: "${badge}" } } ], save: { format: png } } }
            """
        try runner.folder.write(pipeline, to: "here/p.yaml")
        for name in ["here/badges/one.jpg", "here/badges/two.jpg", "away.jpg"] {
            try runner.folder.write(try await SamplePicture.noise(width: 4, height: 4), to: name)
        }
        #expect(symlink("../../away.jpg", runner.folder.path("here/badges/link.jpg")) == 0)
        let options = ["run", "here/p.yaml", "in", "-o", "out"]
        for path in ["../away.jpg", runner.folder.path("away.jpg"), "badges/link.jpg", "badges/none.png"] {
            try runner.folder.write("badge: \(path)\n", to: "in/a.jpg.yaml")
            let run = try await runner.run(options)
            #expect(
                run.exit == 2 && run.errors.contains("bad-parameters: '\(path)', which a value names"), "\(run.errors)")
        }
        try runner.folder.write("badge: badges/two.jpg\n", to: "in/a.jpg.yaml")
        let run = try await runner.run(options)
        #expect(run.exit == 0, "\(run.errors)")
        #expect(try await runner.run(options).errors.contains("1 source unchanged"))
        try runner.folder.write(try await SamplePicture.noise(width: 9, height: 4), to: "here/badges/two.jpg")
        let why = try await runner.run(options + ["--why", "in/a.jpg"])
        #expect(why.output.contains("badges/two.jpg' ") && why.output.contains("the asset '"), "\(why.output)")
    }

    @Test func `a drop folder takes sidecars with their pictures, and brings both back`() async throws {
        let drop = try WatchedFolder(
            mill: "state: state\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml, settle: 1s }\n")
        try drop.runner.folder.write(Self.pipeline, to: "p.yaml")
        try drop.runner.folder.write("kind: gif\n", to: "in/_imagemill.yaml")
        let watch = try await drop.start()
        let picture = try await SamplePicture.noise(width: 40, height: 30)
        try drop.drop("alone.jpg.yaml", Array("side: 7\n".utf8))
        try drop.drop("a.jpg.yaml", Array("side: 8\n".utf8))
        try drop.drop("a.jpg", picture)
        // After its picture, while that settles.
        try drop.drop("b.jpg", picture)
        try drop.drop("b.jpg.yaml", Array("side: 9\n".utf8))
        try drop.drop("c.jpg", picture)
        try drop.drop("d.jpg", picture)
        try drop.drop("d.jpg.yaml", Array("sied: 9\n".utf8))
        try await drop.until(
            "out/a.jpg.json", "out/b.jpg.json", "out/c.jpg.json", "state/failed/in/d.jpg.error.json")
        for (name, side) in [("a", 8), ("b", 9), ("c", 20)] {
            #expect(try await drop.runner.size(of: "out/\(name).gif") == [side, side])
        }
        try await drop.until("state/done/in/a.jpg.yaml", "state/done/in/b.jpg.yaml", "state/failed/in/d.jpg.yaml")
        let status = try await drop.runner.run("status", "mill.yaml")
        #expect(
            status.output.contains("alone.jpg.yaml")
                && status.output.contains("it is a sidecar and waits for 'alone.jpg'"),
            "\(status.output)\(status.errors)")
        let entries = try drop.runner.folder.entries().filter { $0.hasPrefix("in/") }
        #expect(entries == ["in/_imagemill.yaml", "in/alone.jpg.yaml"], "\(entries)")
        try drop.runner.folder.write("side: 6\n", to: "state/failed/in/d.jpg.yaml")
        let retry = try await drop.runner.run("retry", "mill.yaml", "--all")
        #expect(retry.exit == 0 && retry.output == "1 source moved back\n", "\(retry)")
        try await drop.until("out/d.jpg.json", "state/done/in/d.jpg.yaml")
        #expect(try await drop.runner.size(of: "out/d.gif") == [6, 6])
        try drop.drop("alone.jpg", picture)
        try await drop.until("out/alone.jpg.json", "state/done/in/alone.jpg.yaml")
        #expect(try await drop.runner.size(of: "out/alone.gif") == [7, 7])
        try await drop.stop(watch)
    }

    @Test func `a sidecar that an inbox requires is waited for, and its absence is a failure`() async throws {
        let inbox = "path: in, outbox: out, pipeline: p.yaml, settle: 200ms, incomplete-after: 2s, sidecar: required"
        let drop = try WatchedFolder(mill: "state: state\ninboxes:\n  - { \(inbox) }\n")
        try drop.runner.folder.write(Self.pipeline, to: "p.yaml")
        let watch = try await drop.start()
        let picture = try await SamplePicture.noise(width: 40, height: 30)
        try drop.drop("a.jpg", picture)
        try await drop.until("state/failed/in/a.jpg.error.json")
        let note = String(decoding: try drop.runner.bytes("state/failed/in/a.jpg.error.json"), as: UTF8.self)
        #expect(note.contains("expected the sidecar 'a.jpg.yaml'"), "\(note)")
        try drop.drop("b.jpg", picture)
        try await Task.sleep(for: .milliseconds(700))
        try drop.drop("b.jpg.yaml", Array("side: 9\n".utf8))
        try await drop.until("out/b.jpg.json")
        #expect(try await drop.runner.size(of: "out/b.png") == [9, 9])
        try await drop.stop(watch)
        try drop.runner.folder.write("renditions: { a: { save: { format: png } } }\n", to: "p.yaml")
        let check = try await drop.runner.run("check", "mill.yaml")
        #expect(check.errors.contains("'sidecar: required', and its pipeline has no parameters"), "\(check.errors)")
    }

    @Test(arguments: ["move", "delete"])
    func `a kill between the end of a picture and that of its sidecar is mended by the next start`(
        originals: String
    ) async throws {
        let inbox = "path: in, outbox: out, pipeline: p.yaml, settle: 200ms, originals: \(originals)"
        let drop = try WatchedFolder(mill: "state: state\ninboxes:\n  - { \(inbox) }\n")
        try drop.runner.folder.write(Self.pipeline, to: "p.yaml")
        try drop.makeFolder("in")
        try drop.drop("a.jpg.yaml", Array("side: 8\n".utf8))
        try drop.drop("a.jpg", try await SamplePicture.noise(width: 40, height: 30))
        let fault = "between-source-and-sidecar:1:kill"
        _ = try await drop.runner.shell("IMAGEMILL_FAULT=\(fault) \"$IMAGEMILL\" watch mill.yaml")
        #expect(drop.runner.exists("out/a.png"), "it was killed too early")
        let watch = try await drop.start()
        try await drop.until("it is put away", withinSeconds: 20) {
            try drop.runner.folder.entries().allSatisfy { !$0.hasPrefix("state/work/in/0") }
        }
        try await drop.stop(watch)
        let left = try drop.runner.folder.entries().filter { $0.hasSuffix(".jpg.yaml") || $0.hasSuffix("a.jpg") }
        #expect(left == (originals == "move" ? ["state/done/in/a.jpg", "state/done/in/a.jpg.yaml"] : []), "\(left)")
    }

    @Test func `check reads sidecars by the pipeline before them; a run takes what a shell's * names`() async throws {
        try runner.folder.write("side: 9\n", to: "in/a.jpg.yaml")
        try runner.folder.write("sied: 9\n", to: "in/_imagemill.yaml")
        let check = try await runner.run("check", "p.yaml", "in/a.jpg.yaml", "in/_imagemill.yaml")
        #expect(check.output.contains("in/a.jpg.yaml: good; it sets side"), "\(check.output)")
        #expect(check.exit == 78 && check.errors.contains("did you mean 'side'?"), "\(check.errors)")
        let alone = try await runner.run("check", "in/a.jpg.yaml")
        #expect(alone.errors.contains("name its pipeline before it"), "\(alone.errors)")
        try runner.folder.write("renditions: {}\n", to: "bad.yaml")
        let bad = try await runner.run("check", "bad.yaml", "in/a.jpg.yaml")
        #expect(bad.errors.contains("not checked: the pipeline before it has mistakes"), "\(bad.errors)")
        try FileManager.default.removeItem(atPath: runner.folder.path("in/_imagemill.yaml"))
        for name in ["p.yaml", "a.jpg", "a.jpg.yaml"] {
            try runner.folder.write(try runner.bytes(name == "p.yaml" ? name : "in/" + name), to: "all/" + name)
        }
        let all = try await runner.shell("cd all && \"$IMAGEMILL\" run p.yaml a.jpg* -o ../named")
        #expect(all.exit == 0 && all.errors.contains("1 source"), "\(all.errors)")
        #expect(try await runner.size(of: "named/a.png") == [9, 9])
    }
}
