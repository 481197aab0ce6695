// Every stage there is, through the whole program, on animations and on pictures of 16 bits.
import FoundationEssentials
import TestSupport
import Testing
import Vips

@testable import Render

/// A stage and the example that the reference shows for it.
struct StageExample: Sendable, CustomStringConvertible {
    let name: String
    let yaml: String

    var isForSets: Bool { yaml.hasPrefix("source: set") }
    var description: String { name }

    /// Those of the reference, which is generated from the catalogue.
    static let all: [StageExample] = {
        let pages = ((try? Checkout.text("docs/reference/stages.md")) ?? "").components(separatedBy: "\n## `")
            .dropFirst()
        return pages.map { page in
            let yaml = page.components(separatedBy: "```yaml\n").dropFirst().first ?? ""
            return StageExample(
                name: page.components(separatedBy: "`")[0], yaml: yaml.components(separatedBy: "```")[0])
        }
    }()
}

@Suite struct EveryStageTests {
    @Test func `the reference has an example of every stage that the program lists`() async throws {
        let listed = try await CommandRunner().run("stages").output.split(separator: "\n").map {
            String($0.prefix { $0 != " " })
        }
        #expect(StageExample.all.map(\.name) == listed && listed.count >= 22)
    }

    @Test(arguments: StageExample.all)
    func `an animation keeps its frames and times; a stage for sets says that it takes the first frame of each`(
        of stage: StageExample
    ) async throws {
        let runner = try CommandRunner()
        for name in sources(stage) {
            try await runner.save("in/\(name).webp", as: "webpsave_target", [("lossless", true)]) { try animation() }
        }
        try await run(stage, save: "{ format: webp, lossless: true }", runner)
        let source = try #require(try runner.report().sources.first)
        guard !stage.isForSets else {
            #expect(source.warnings.first?.code == "animation-dropped")
            #expect(source.warnings.first?.message.hasPrefix("of '1.webp', '2.webp'") == true, "\(source.warnings)")
            return
        }
        #expect(!source.warnings.contains { $0.code == "animation-dropped" })
        let path = "out/" + (try #require(source.renditions.first).path)
        let facts = try await runner.inspect(path, by: "webpload_source", [("n", -1)]) {
            ($0.height, $0.pages, $0.ints("delay"), $0.int("loop"))
        }
        #expect(facts.1 == 3 && facts.2 == [100, 200, 300] && facts.3 == 4)
        #expect(facts.0 == source.renditions[0].height * 3)
    }

    @Test(arguments: StageExample.all)
    func `a picture of 16 bits comes out with 16 bits, and with steps that 8 have not`(of stage: StageExample)
        async throws
    {
        let runner = try CommandRunner()
        for (index, name) in sources(stage).enumerated() {
            try await runner.save("in/\(name).png", as: "pngsave_target") { try deep(seed: index) }
        }
        try await run(stage, save: "{ format: png }", runner)
        let path = "out/" + (try #require(try runner.report().sources.first?.renditions.first).path)
        let grid = try await runner.inspect(path, by: "pngload_source") { try PixelGrid($0) }
        #expect(grid.maximum == 65_535)
        #expect(Set(grid.values.filter { $0 % 257 != 0 }).count > 20)
    }

    @Test(arguments: ["rotate: { angle: 90 }", "flip: { axis: vertical }"])
    func `a stage that reads rows out of order follows shared stages that stream them`(stage: String) async throws {
        let runner = try CommandRunner()
        // Taller than what libvips keeps of a picture that it reads once.
        try runner.folder.write(try await SamplePicture.noise(width: 300, height: 2500), to: "in/a.jpg")
        let stages = "stages: [ { crop: { width: 50%, height: 90%, anchor: top } } ]"
        let result = try await runner.render(
            stages: "[ { \(stage) } ]", save: "{ format: png, compression: 1 }", more: stages)
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try await runner.size(of: "out/a.png").sorted() == [150, 2250])
    }

    /// Examples that are no parts of the reference, for what reads a picture in another order.
    private static let others = [
        "overlay: { image: logo.png, anchor: top-leading }",
        "overlay: { image: logo.png, anchor: top, blend: multiply }",
        "overlay: { image: logo.png, tile: true }", "overlay: { image: logo.png, blend: xor, anchor: top-leading }",
        "composite: { layers: [ { source: true }, { source: true, anchor: top-leading, alpha: 0.5 } ] }",
        "rotate: { angle: 7 }",
    ].map { StageExample(name: $0, yaml: "stages:\n  - \($0)\n") }

    @Test(arguments: StageExample.all.filter { !$0.isForSets } + others)
    func `a stage is the first one for a picture whose rows come once`(stage: StageExample) async throws {
        let runner = try CommandRunner()
        // Taller than what libvips keeps of a picture that it reads once.
        for (name, saver) in [("in/a.jpg", "jpegsave_target"), ("in/b.tif", "tiffsave_target")] {
            try await runner.save(name, as: saver) {
                try TestPicture.make(width: 200, height: 2500) { x, y in [UInt8(x), UInt8(y % 256), UInt8(x * y % 251)]
                }
            }
        }
        try await run(stage, save: "{ format: tiff }", runner)
        #expect(try runner.report().sources.allSatisfy { $0.renditions.count == 1 })
    }

    /// As many pictures as the examples speak of.
    private func sources(_ stage: StageExample) -> [String] { stage.isForSets ? (1...12).map { "set/\($0)" } : ["a"] }

    private func run(_ stage: StageExample, save: String, _ runner: CommandRunner) async throws {
        try await runner.assets(of: stage.yaml)
        try runner.folder.write(stage.yaml + "renditions:\n  a:\n    save: \(save)\n", to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
    }

    /// A bar that moves over a transparent ground.
    private func animation() throws -> Image {
        let frames = try (0..<3).map { index in
            try TestPicture.make(width: 60, height: 48, bands: 4) { x, y in
                x / 20 == index ? [220, UInt8(x), UInt8(y), 255] : [9, 99, 199, 80]
            }
        }
        return try Image.arrayjoin(frames).editingMetadata { editor in
            editor.set("page-height", int: 48)
            editor.set("delay", ints: [100, 200, 300])
            editor.set("loop", int: 4)
        }
    }

    private func deep(seed: Int) throws -> Image {
        try TestPicture.make(width: 60, height: 48, kind: PictureKind(hasAlpha: true, isDeep: true)) { x, y in
            [x * 1001 + seed, y * 1303 + x * 7, 60_000 - x * 701 - seed, 65_535 - x * y * 11]
        }
    }
}
