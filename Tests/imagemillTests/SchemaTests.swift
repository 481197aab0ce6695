// The JSON Schemas that the program prints, held against real documents by somebody else's validator.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct SchemaTests {
    /// A run with everything that a report can show: success, failure, warnings, a name that is no text.
    private func richReport(_ runner: CommandRunner) async throws {
        try runner.folder.write(
            "renditions:\n  a: { save: { format: jpeg }, file: \"{stem}-{hash:8}.{ext}\" }\n  b: { save: { format: gif } }\n",
            to: "p.yaml")
        for kind in SamplePicture.allCases { try await runner.picture("in/\(kind.rawValue).\(kind.fileExtension)") }
        let clear = try await SamplePicture.png.encode(TestPicture.solid([9, 9, 9, 9], width: 20, height: 20))
        try runner.folder.write(clear, to: "in/clear.jpg")
        try runner.folder.write("no", to: "in/text.jpg")
        try runner.folder.write("", to: "in/empty.jpg")
        try runner.folder.write(Array(try await SamplePicture.jpeg.bytes.prefix(300)), to: "in/cut.jpg")
        _ = try await runner.shell("cp in/clear.jpg \"in/$(printf 'x\\377').png\"")
    }

    @Test func `a batch document is as its schema says, and so is every document in it`() async throws {
        let runner = try CommandRunner()
        try await richReport(runner)
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 1)
        let batch = try await runner.validate("batch", ["out/.imagemill/report.json"])
        #expect(batch.exit == 0, "\(batch.output)\(batch.errors)")

        let data = Data(try runner.bytes("out/.imagemill/report.json"))
        let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let sources = try #require(document["sources"] as? [[String: Any]])
        #expect(sources.count == 11)
        for (index, source) in sources.enumerated() {
            try runner.folder.write(
                [UInt8](try JSONSerialization.data(withJSONObject: source)), to: "one/\(index).json")
        }
        let single = try await runner.validate("report", sources.indices.map { "one/\($0).json" })
        #expect(single.exit == 0, "\(single.output)\(single.errors)")
    }

    @Test func `the documents of a dry run and of an empty run are as their schema says`() async throws {
        let runner = try CommandRunner()
        try await richReport(runner)
        let dry = try await runner.run("run", "p.yaml", "in", "-o", "out", "--dry-run", "--json")
        try runner.folder.write(dry.output, to: "dry.json")
        try runner.folder.write("x", to: "nothing/.hidden")
        let empty = try await runner.run("run", "p.yaml", "nothing", "-o", "out", "--json")
        try runner.folder.write(empty.output, to: "empty.json")
        let result = try await runner.validate("batch", ["dry.json", "empty.json"])
        #expect(result.exit == 0, "\(result.output)\(result.errors)")
    }

    @Test func `the shipped pipelines are as the schema says`() async throws {
        let runner = try CommandRunner()
        let files = Checkout.files(below: "pipelines", extension: "yaml")
        #expect(files.count >= 5)
        let result = try await runner.validate("pipeline", files.map { Checkout.path + "/" + $0 })
        #expect(result.exit == 0, "\(result.output)\(result.errors)")
    }

    @Test func `the shipped mill file is as the schema says`() async throws {
        let result = try await CommandRunner().validate("mill", [Checkout.path + "/deploy/mill.yaml"])
        #expect(result.exit == 0, "\(result.output)\(result.errors)")
    }

    @Test(arguments: [
        "inboxes: []", "inboxes:\n  - { path: in, outbox: out }",
        "inboxes:\n  - { path: in, outbox: out, pipeline: p, settle: 2 }",
        "inboxes:\n  - { path: in, outbox: out, pipeline: p, watch: pol }",
        "workers: 0\ninboxes:\n  - { path: in, outbox: out, pipeline: p }",
        "inboxes:\n  - { path: in, outbox: out, pipeline: p, originals: burn }",
        "inboxes:\n  - { path: in, outbox: out, pipeline: p, ignore: [a/b] }",
        "max-pixels: 5X\ninboxes:\n  - { path: in, outbox: out, pipeline: p }",
    ])
    func `the schema of a mill file refuses what the program refuses`(text: String) async throws {
        let runner = try CommandRunner()
        try runner.folder.write(text + "\n", to: "bad.yaml")
        #expect(try await runner.run("check", "bad.yaml").exit == 78)
        let result = try await runner.validate("mill", ["bad.yaml"])
        #expect(result.exit == 1 && result.errors.isEmpty, "\(result.output)\(result.errors)")
    }

    @Test(arguments: [
        "renditions: 7", "rendition: {}", "renditions:\n  a: { save: { format: jpgg } }",
        "renditions:\n  a: { save: { format: jpeg, quality: 400 } }",
        "renditions:\n  a: { save: { format: png, quality: 4 } }",
        "renditions:\n  a: { stages: [{ frmae: {} }], save: { format: png } }",
        "renditions:\n  a: { stages: [{ crop: { widht: 5 } }], save: { format: png } }",
        "renditions:\n  a: { scale: [0], save: { format: png } }",
        "profile: keep", "renditions:\n  a: { fiel: x, save: { format: png } }",
    ])
    func `the schema refuses what the program refuses`(text: String) async throws {
        let runner = try CommandRunner()
        try runner.folder.write(text + "\n", to: "bad.yaml")
        #expect(try await runner.run("check", "bad.yaml").exit == 78)
        let result = try await runner.validate("pipeline", ["bad.yaml"])
        #expect(result.exit == 1 && result.errors.isEmpty, "\(result.output)\(result.errors)")
        #expect(result.output.hasPrefix("bad.yaml: "))
    }
}
