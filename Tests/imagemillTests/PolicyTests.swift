// The action on a warning, from a pipeline, an option and an inbox.
import Foundation
import TestSupport
import Testing

@testable import Pipeline

@Suite struct PolicyTests {
    private let runner: CommandRunner

    init() async throws {
        runner = try CommandRunner()
        try runner.folder.write(try await SamplePicture.noise(width: 40, height: 30), to: "in/small.jpg")
        try runner.folder.write(try await SamplePicture.noise(width: 400, height: 300), to: "in/large.jpg")
        try runner.folder.write(Self.pipeline("{ upscaled: fail }"), to: "strict.yaml")
        try runner.folder.write(Self.pipeline("{}"), to: "p.yaml")
    }

    private static func pipeline(_ policy: String) -> String {
        "policy: \(policy)\nrenditions: { a: { stages: [ { resize: { size: 100x } } ], save: { format: png } } }\n"
    }

    private func codes(_ name: String) throws -> [String] {
        let source = try #require(try runner.report()[name])
        return source.warnings.map(\.code) + [source.error?.code].compactMap(\.self)
    }

    @Test func `a warning that is a failure costs its picture and no other`() async throws {
        let result = try await runner.run("run", "strict.yaml", "in", "-o", "out")
        #expect(result.exit == 1 && runner.files(in: "out") == ["large.png"], "\(result.errors)")
        #expect(try codes("small.jpg") == ["refused-by-policy"] && codes("large.jpg") == [])
        #expect(
            result.errors.contains(
                "small.jpg: refused-by-policy: 'upscaled' is a failure here: 'a': 'resize' enlarges 40×30 to 100×75"),
            "\(result.errors)")
        let plan = try await runner.run("plan", "strict.yaml", "in/small.jpg")
        #expect(plan.exit == 1 && plan.errors.contains("refused-by-policy"), "\(plan.errors)")
    }

    @Test func `an option is stronger than the pipeline, and another one does the sources again`() async throws {
        let warned = try await runner.run("run", "strict.yaml", "in", "-o", "out", "--policy", "upscaled=warn")
        #expect(warned.exit == 0 && runner.files(in: "out").count == 2, "\(warned.errors)")
        #expect(try codes("small.jpg") == ["upscaled"])
        let same = try await runner.run("run", "strict.yaml", "in", "-o", "out", "--policy", "upscaled=warn")
        #expect(same.errors.contains("2 sources unchanged"), "\(same.errors)")
        let ignored = try await runner.run("run", "strict.yaml", "in", "-o", "out", "--policy", "upscaled=ignore")
        #expect(ignored.exit == 0, "\(ignored.errors)")
        #expect(try codes("small.jpg") == [])
        let why = try await runner.run(
            "run", "strict.yaml", "in", "-o", "out", "--policy", "upscaled=warn", "--why", "in/small.jpg")
        #expect(why.output.contains("--policy"), "\(why.output)")
        let wrong = try await runner.run("run", "p.yaml", "in", "-o", "out", "--policy", "upscale=warn")
        #expect(wrong.exit == 64 && wrong.errors.contains("did you mean 'upscaled'?"), "\(wrong.errors)")
    }

    @Test func `renditions from the cache are judged as those that are made`() async throws {
        _ = try await runner.run("run", "p.yaml", "in", "-o", "out", "--cache", "cache")
        let again = try await runner.run(
            "run", "p.yaml", "in", "-o", "other", "--cache", "cache", "--policy", "upscaled=fail")
        #expect(again.exit == 1 && runner.files(in: "other") == ["large.png"], "\(again.errors)")
    }

    @Test func `what only a measurement brings up is known of a cached rendition too`() async throws {
        let dot = try await SamplePicture.png.encode(
            TestPicture.make(width: 60, height: 60) { x, y in
                (20..<40).contains(x) && (20..<40).contains(y) ? [255, 0, 0] : [255, 255, 255]
            })
        try runner.folder.write(dot, to: "dots/dot.png")
        try runner.folder.write(
            "renditions: { a: { stages: [ trim, { resize: { size: 50x50 } } ], save: { format: png } } }\n",
            to: "t.yaml")
        for output in ["first", "second"] {
            _ = try await runner.run("run", "t.yaml", "dots", "-o", output, "--cache", "cache")
            let source = try #require(try runner.report(output + "/.imagemill/report.json")["dot.png"])
            #expect(source.warnings.map(\.code) == ["upscaled"], "\(output)")
        }
        let strict = try await runner.run(
            "run", "t.yaml", "dots", "-o", "third", "--cache", "cache", "--policy", "upscaled=fail")
        #expect(strict.errors.contains("refused-by-policy") && runner.files(in: "third").isEmpty, "\(strict.errors)")
    }

    @Test func `the tasks of a batch follow the policy of its plan`() async throws {
        let plan = try await runner.run(
            "shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--policy", "upscaled=fail")
        #expect(plan.exit == 0, "\(plan.errors)")
        let task = try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "out")
        #expect(task.errors.contains("refused-by-policy"), "\(task.errors)")
        let both = try await runner.run(
            "run", "--plan", "plan", "--task", "0", "-o", "out", "--policy", "upscaled=warn")
        #expect(both.exit == 64, "\(both.errors)")
    }

    @Test(arguments: [("{}", "{ upscaled: fail }", "failed"), ("{ upscaled: fail }", "{ upscaled: ignore }", "done")])
    func `an inbox may say otherwise than its pipeline`(pipeline: String, inbox: String, shelf: String) async throws {
        let drop = try WatchedFolder(inbox: "policy: \(inbox)")
        try drop.runner.folder.write(Self.pipeline(pipeline), to: "p.yaml")
        let watch = try await drop.start()
        try drop.drop("small.jpg", try await SamplePicture.noise(width: 40, height: 30))
        try await drop.until("state/\(shelf)/in/small.jpg")
        try await drop.stop(watch)
        #expect(drop.files("out").contains("small.png") == (shelf == "done"))
        let note = "state/failed/in/small.jpg.error.json"
        #expect(drop.runner.exists(note) == (shelf == "failed"))
    }

    @Test func `an original whose decoder warned of damage is not deleted, also if that is not reported`() async throws
    {
        let drop = try WatchedFolder(
            inbox: "originals: delete, policy: { source-truncated: ignore }, incomplete-after: 300ms")
        let pipeline = "tolerate: truncated\nrenditions: { a: { save: { format: png } } }\n"
        try drop.runner.folder.write(pipeline, to: "p.yaml")
        let watch = try await drop.start()
        try drop.drop("half.jpg", (try await SamplePicture.noise(width: 200, height: 150)).dropLast(4000).map(\.self))
        try await drop.until("out/half.jpg.json", "state/done/in/half.jpg")
        try await drop.stop(watch)
        let report = String(decoding: try drop.runner.bytes("out/half.jpg.json"), as: UTF8.self)
        #expect(!report.contains("source-truncated"), "\(report)")
    }
}
