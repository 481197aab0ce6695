// Parameters through the whole program: the pipeline's own values, --set, an inbox's `set`, shards, second runs, reports.
import Foundation
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
}
