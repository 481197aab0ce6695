import Foundation
import TestSupport
import Testing

/// `run --metrics FILE`.
@Suite struct RunMetricsTests {
    /// Values by their names and labels.
    private func metrics(_ runner: CommandRunner, _ name: String = "m/run.prom") throws -> [String: Double] {
        let text = String(decoding: try runner.bytes(name), as: UTF8.self)
        return Dictionary(
            uniqueKeysWithValues: text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
                let parts = line.split(separator: " ")
                return (parts.dropLast().joined(separator: " "), Double(parts.last ?? "") ?? .nan)
            })
    }

    @Test func `a run's counts are in the file, and a second run's replace them`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        try await runner.picture("in/b.png")
        try runner.folder.write("no picture", to: "in/c.jpg")
        try runner.folder.write("a note", to: "in/note.txt")
        try runner.pipeline("p \"1\".yaml")
        #expect(try await runner.run("run", "p \"1\".yaml", "in", "-o", "out", "--metrics", "m/run.prom").exit == 1)
        let pipeline = #"pipeline="p \"1\"""#
        let first = try metrics(runner)
        for (name, value) in [
            (#"imagemill_run_sources{\#(pipeline),status="done"}"#, 2.0),
            (#"imagemill_run_sources{\#(pipeline),status="failed"}"#, 1),
            (#"imagemill_run_failures{\#(pipeline),code="not-an-image"}"#, 1),
            (#"imagemill_run_renditions{\#(pipeline)}"#, 2),
            (#"imagemill_run_success{\#(pipeline)}"#, 0),
            (#"imagemill_run_passed_over_files{\#(pipeline)}"#, 1),
        ] { #expect(first[name] == value, "\(name): \(first[name] ?? .nan)") }
        #expect(
            try first["imagemill_run_rendition_bytes{\(pipeline)}"]
                == Double(runner.bytes("out/a.webp").count + runner.bytes("out/b.webp").count))
        let report = try #require(
            JSONSerialization.jsonObject(with: Data(runner.bytes("out/.imagemill/report.json"))) as? [String: Any])
        let times = try #require(report["sources"] as? [[String: Any]]).filter { $0["status"] as? String == "done" }
            .compactMap { ($0["milliseconds"] as? [String: Any])?["render"] as? Int }
        let stage = #"{\#(pipeline),stage="render"}"#
        #expect(first["imagemill_run_stage_seconds\(stage)"] == Double(times.reduce(0, +)) / 1000)
        #expect(first["imagemill_run_stage_longest_seconds\(stage)"] == Double(times.max() ?? -1) / 1000)
        let text = String(decoding: try runner.bytes("m/run.prom"), as: UTF8.self)
        #expect(text.matches(of: /# TYPE \S+ gauge\n/).count == text.matches(of: /# TYPE/).count)
        #expect(!text.contains("_total"), "what begins anew with each run is no counter")
        #expect(text.matches(of: /# TYPE (\S+)/).allSatisfy { $0.1.hasPrefix("imagemill_run_") })
        try FileManager.default.removeItem(atPath: runner.folder.path("in/c.jpg"))
        #expect(try await runner.run("run", "p \"1\".yaml", "in", "-o", "out", "--metrics", "m/run.prom").exit == 0)
        let second = try metrics(runner)
        #expect(
            second[#"imagemill_run_sources{\#(pipeline),status="skipped"}"#] == 2
                && second[#"imagemill_run_success{\#(pipeline)}"#] == 1)
        #expect(runner.files(in: "m") == ["run.prom"])
    }

    @Test func `a task of a plan says which it is`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        try await runner.picture("in/b.png")
        try runner.pipeline()
        #expect(try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan").exit == 0)
        #expect(
            try await runner.run(
                "run", "--plan", "plan", "--task", "0", "-o", "out", "--metrics", "m/run.prom", "--quiet"
            ).exit == 0)
        let found = try metrics(runner)
        #expect(found[#"imagemill_run_sources{pipeline="p",task="0",status="done"}"#] == 2)
        #expect(found[#"imagemill_run_success{pipeline="p",task="0"}"#] == 1)
    }

    @Test func `a file that cannot be written is said, and only what a command wrote before is written over`()
        async throws
    {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        try runner.pipeline()
        let bytes = try runner.bytes("in/a.jpg")
        let pages = [
            ["--report", "in/a.jpg"], ["--report", "p.yaml"], ["--report", "page.html"], ["--metrics", "in/a.jpg"],
        ]
        try runner.folder.write("<!doctype html><title>My page</title>", to: "page.html")
        for options in pages {
            let over = try await runner.run(["run", "p.yaml", "in", "-o", "out"] + options)
            let what =
                options[0] == "--metrics" ? "are no metrics" : options[1] == "page.html" ? "is no page" : "is no report"
            #expect(
                over.exit == 64
                    && over.errors
                        == "imagemill: '\(options[1])' is there and \(what) of Imagemill; choose another file (\(options[0])), or remove it first\n"
            )
        }
        #expect(try runner.bytes("in/a.jpg") == bytes && runner.files().isEmpty)
        for _ in 1...2 {
            let again = try await runner.run(
                "run", "p.yaml", "in", "-o", "other", "--report", "own.html", "--metrics", "own.prom", "--force")
            #expect(again.exit == 0, "its own files are replaced: \(again.errors)")
            let report = try await runner.run("run", "p.yaml", "in", "-o", "other", "--report", "own.json", "--force")
            #expect(report.exit == 0, "\(report.errors)")
        }
        let page = try await runner.run("report", "own.json", "-o", "in/a.jpg")
        #expect(page.exit == 64 && page.errors.contains("'in/a.jpg' is there and is no page of Imagemill"))
        let blocked = try await runner.run("run", "p.yaml", "in", "-o", "out", "--metrics", "p.yaml/run.prom")
        #expect(blocked.exit != 0 && blocked.errors.contains("p.yaml"), "\(blocked.errors)")
        #expect(runner.files() == ["a.webp"], "the renditions are there")
    }

    private static let hasPromtool = ["/usr/bin/promtool", "/usr/local/bin/promtool"].contains {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(.enabled(if: hasPromtool, "skipped: there is no promtool"))
    func `Prometheus' own tool has nothing to say against it`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        try runner.folder.write("no picture", to: "in/c.jpg")
        try runner.pipeline("\\back \"quote\".yaml", size: "900x900")
        _ = try await runner.run("run", "\\back \"quote\".yaml", "in", "-o", "out", "--metrics", "run.prom")
        let result = try await runner.shell("promtool check metrics < run.prom")
        #expect(result.exit == 0 && result.output.isEmpty && result.errors.isEmpty, "\(result.output) \(result.errors)")
    }
}
