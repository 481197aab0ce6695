// Runs stages given as YAML on generated pictures, and holds every result to its plan.
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

/// What came of the stages of a test.
struct Rendered {
    let image: Image
    /// The plan of the last stage.
    let step: PlannedStage
    let pixels: PixelGrid
}

/// Renders stages written as in a pipeline file: one `name: { parameters }` in each line.
@discardableResult
func render(
    _ stages: String, _ image: Image, scale: Int = 1, pixelsPerPoint: Int = 1, assets: TestAssets = TestAssets(),
    sourceLocation: SourceLocation = #_sourceLocation
) throws -> Rendered {
    let steps = try steps(stages, for: [image], scale: scale, pixelsPerPoint: pixelsPerPoint, assets: assets)
    let context = RenderContext(scale: scale, assets: assets)
    var frames = Frames([try Picture(decoded: image)])
    for step in steps {
        frames = try step.render(frames, in: context)
        expectAgreement(frames.pictures[0], step, sourceLocation)
    }
    let result = frames.pictures[0].image
    return Rendered(image: result, step: try #require(steps.last), pixels: try PixelGrid(result))
}

/// Plans the stages for pictures as they are in memory.
func steps(
    _ stages: String, for images: [Image], scale: Int = 1, pixelsPerPoint: Int = 1, assets: TestAssets = TestAssets()
) throws -> [PlannedStage] {
    let list = stages.split(separator: "\n").map { "      - \($0)\n" }.joined()
    let save = images.count > 1 ? "webp" : "png"
    let text = "renditions:\n  test:\n    scale: \(scale)\n    stages:\n\(list)    save: { format: \(save) }\n"
    let pipeline = try PipelineFile(text: text, file: "test.yaml", catalogue: .all)
    let facts = SourceFacts(
        format: images.count > 1 ? .webp : .png, size: PixelSize(images[0].width, images[0].height),
        frames: images.count,
        hasAlpha: images[0].hasAlpha, colour: images[0].bands <= 2 ? .grey : .rgb,
        depth: images[0].format == .ushort ? .sixteen : .eight)
    let plan = try Planner(pipeline: pipeline, assets: assets.facts, limits: Limits()).plan(
        facts, pixelsPerPoint: pixelsPerPoint)
    return plan.renditions[0].steps
}

/// Plan and render never disagree, and what is said of the pixels is true of them.
func expectAgreement(_ picture: Picture, _ step: PlannedStage, _ sourceLocation: SourceLocation = #_sourceLocation) {
    let plan = step.output
    let found = "\(picture.size) in \(picture.pixels)"
    #expect(
        found == "\(plan.size) in \(plan.pixels)", "'\(step.name)' on \(step.input.size)",
        sourceLocation: sourceLocation)
    let image = picture.image
    let isDeep = plan.depth == .sixteen
    let meaning: Interpretation = plan.colour == .grey ? (isDeep ? .grey16 : .bw) : (isDeep ? .rgb16 : .srgb)
    #expect(image.interpretation == meaning, "'\(step.name)' on \(step.input.size)", sourceLocation: sourceLocation)
    #expect(
        image.format == (isDeep ? .ushort : .uchar), "'\(step.name)' on \(step.input.size)",
        sourceLocation: sourceLocation)
    #expect(
        (image.bands, image.hasAlpha) == (plan.bands, plan.hasAlpha), "'\(step.name)' on \(step.input.size)",
        sourceLocation: sourceLocation)
}

/// Assets that were made in the test.
struct TestAssets: AssetProvider {
    var images: [String: Image] = [:]
    var pixelsPerPoint = 1

    var facts: [String: AssetFacts] {
        images.mapValues {
            AssetFacts(
                size: PixelSize($0.width, $0.height), pixelsPerPoint: pixelsPerPoint, isGrey: $0.bands <= 2,
                depth: $0.format == .ushort ? .sixteen : .eight)
        }
    }

    func picture(_ asset: AssetPath, size: PixelSize) throws -> Picture {
        try Picture(decoded: try #require(images[asset.path])).scaled(to: size).inMemory()
    }

    func picture(_ key: KeptPictureKey, make: () throws -> Picture) throws -> Picture { try make().inMemory() }
}
