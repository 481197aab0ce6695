import Foundation
import TestSupport
import Testing

/// `imagemill plan --sheet`: the plan drawn over its source.
@Suite struct PlanSheetTests {
    private static let stages = [
        "crop: { width: 50%, height: 50%, anchor: attention }", "trim", "viewport: { width: 20, height: 20 }",
        "inset: { all: 10 }",
        "rotate: { angle: 20 }", "nine-slice: { width: 100, height: 90, cap-insets: { all: 5 } }",
        "tile: { width: 90, height: 90 }",
    ]

    private func pipeline(_ runner: CommandRunner, name: String = "part") throws {
        let renditions = Self.stages.enumerated().map { index, stage in
            "  \"\(name)-\(index)\":\n    stages: [ { \(stage) } ]\n    save: { format: png }\n"
        }
        try runner.folder.write("renditions:\n" + renditions.joined(), to: "p.yaml")
    }

    @Test(arguments: ["a.jpg", "a.png", "a.gif", "a.avif"])
    func `every format of picture gets a sheet with all renditions`(source: String) async throws {
        let runner = try CommandRunner()
        try await runner.picture(source)
        try pipeline(runner)
        let result = try await runner.run("plan", source, "p.yaml", "--sheet", "sheet.png")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(result.output.contains("kept 64×48 at (0, 0)"), "what stages find is in the plan too")
        let size = try await runner.size(of: "sheet.png")
        #expect(size[0] >= 720 && size[1] > 800)
        #expect(runner.files(in: ".").sorted() == [source, "p.yaml", "sheet.png"].sorted())
    }

    @Test(arguments: [#"<b>&amp; \\ \" : # {x}"#, #"\x85 \u202e é"#])
    func `names that mean something to YAML or to a text with markup are only names`(name: String) async throws {
        let runner = try CommandRunner()
        try await runner.picture("a.jpg")
        try pipeline(runner, name: name)
        let result = try await runner.run("plan", "a.jpg", "p.yaml", "--sheet", "sheet.jpg", "--json")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(runner.files(in: ".").contains("sheet.jpg"))
    }

    @Test func `the sheet of a set shows its first picture`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("set/1.png")
        try await runner.picture("set/2.png")
        try runner.folder.write(
            "source: set\nrenditions:\n  all:\n    stages: [ { contact-sheet: { columns: 2 } } ]\n    save: { format: png }\n",
            to: "p.yaml")
        let result = try await runner.run("plan", "set", "p.yaml", "--sheet", "sheet.png")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try await runner.size(of: "sheet.png")[0] >= 720)
    }

    @Test func `neither the source nor the pipeline is replaced, and other formats are refused`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("a.jpg")
        try pipeline(runner)
        let before = try runner.bytes("a.jpg")
        let over = try await runner.run("plan", "a.jpg", "p.yaml", "--sheet", "./a.jpg")
        #expect(
            over.exit == 64
                && over.errors
                    == "imagemill: the sheet would be written over './a.jpg'; choose another file (--sheet)\n"
        )
        #expect(try runner.bytes("a.jpg") == before)
        let other = try await runner.run("plan", "a.jpg", "p.yaml", "--sheet", "sheet.gif")
        #expect(
            other.exit == 64
                && other.errors.contains("--sheet writes a PNG or a JPEG; name a file that ends with .png or .jpg"))
        let missing = try await runner.run("plan", "a.jpg", "p.yaml", "--sheet", "no/such/sheet.png")
        #expect(missing.exit != 0 && missing.errors.contains("no/such"), "\(missing.errors)")
    }

    @Test func `the stage that draws sheets is not for pipelines of users`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("a.jpg")
        try runner.folder.write("renditions:\n  a:\n    stages: [ markup ]\n    save: { format: png }\n", to: "p.yaml")
        let result = try await runner.run("plan", "a.jpg", "p.yaml")
        #expect(result.exit == 78 && result.errors.contains("unknown stage 'markup'"))
    }
}
