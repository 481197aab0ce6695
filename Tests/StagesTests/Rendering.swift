// Runs stages given as YAML on generated pictures, and holds every result to its plan.
import Pipeline
import TestSupport
import Testing
import Typesetting
import Vips

@testable import Stages

/// The result of the stages of a test.
struct Rendered {
    let image: Image
    /// The plan of the last stage.
    let step: PlannedStage
    let pixels: PixelGrid
}

/// Renders stages written as in a pipeline file: one `name: { parameters }` in each line.
/// - Parameter profile: `keep` leaves the picture in its own colours.
@discardableResult
func render(
    _ stages: String, _ image: Image, scale: Int = 1, pixelsPerPoint: Int = 1, assets: TestAssets = TestAssets(),
    profile: String = "srgb", sourceLocation: SourceLocation = #_sourceLocation
) throws -> Rendered {
    let picture = try Picture(decoded: image)
    let planner = try planner(stages, scale: scale, assets: assets, profile: profile)
    let context = RenderContext(assets: assets)
    let facts = SourceFacts([image], as: picture)
    var measurements: [Planner.StagePath: Measurement] = [:]
    var plan = try planner.plan(facts, pixelsPerPoint: pixelsPerPoint)
    while let (path, before, step) = planner.firstUnmeasured(in: plan, measurements) {
        let start = try before.reduce(Frames([picture])) { try $1.render($0, in: context) }
        measurements[path] = try step.measure(start, in: context)
        plan = try planner.plan(facts, pixelsPerPoint: pixelsPerPoint, measurements: measurements)
    }
    var frames = Frames([picture])
    for step in plan.renditions[0].steps {
        frames = try step.render(frames, in: context)
        expectAgreement(frames.pictures[0], step, sourceLocation)
    }
    let result = frames.pictures[0].image
    return Rendered(image: result, step: try #require(plan.renditions[0].steps.last), pixels: try PixelGrid(result))
}

/// Plans the stages for pictures as they are in memory.
func steps(
    _ stages: String, for images: [Image], scale: Int = 1, pixelsPerPoint: Int = 1, assets: TestAssets = TestAssets()
) throws -> [PlannedStage] {
    let planner = try planner(stages, scale: scale, assets: assets, save: images.count > 1 ? "webp" : "png")
    let plan = try planner.plan(
        SourceFacts(images, as: Picture(decoded: images[0])), pixelsPerPoint: pixelsPerPoint)
    return plan.renditions[0].steps
}

private func planner(
    _ stages: String, scale: Int, assets: TestAssets, profile: String = "srgb", save: String? = nil
) throws -> Planner {
    let list = stages.split(separator: "\n").map { "      - \($0)\n" }.joined()
    // TIFF alone holds every kind of colours.
    let save = save ?? (profile == "keep" ? "tiff" : "png")
    let text =
        "profile: \(profile)\nrenditions:\n  test:\n    scale: \(scale)\n    stages:\n\(list)    save: { format: \(save) }\n"
    return Planner(
        pipeline: try PipelineFile(text: text, file: "test.yaml", catalogue: .all), assets: assets.facts,
        limits: Limits())
}

extension SourceFacts {
    /// The facts that the header of a file with these frames would give.
    fileprivate init(_ images: [Image], as picture: Picture) {
        self.init(
            format: images.count > 1 ? .webp : .png, size: PixelSize(images[0].width, images[0].height),
            frames: images.count, hasAlpha: picture.pixels.hasAlpha, colour: picture.pixels.colour,
            depth: images[0].format == .float ? .float : picture.pixels.depth, hasProfile: picture.profile != nil)
    }
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
    let meaning: Interpretation =
        switch plan.colour {
        case .grey: isDeep ? .grey16 : .bw
        case .rgb: isDeep ? .rgb16 : .srgb
        case .cmyk: .cmyk
        case .lab: .rgb16
        }
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
    var tables: [String: ColorTable] = [:]

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

    func table(_ path: ColorTablePath) throws -> ColorTable { try #require(tables[path.path]) }
    func fonts(_ file: AssetPath?) throws -> FontLibrary {
        try #require(FontLibrary(file: file.map { Checkout.path + "/Tests/Fixtures/fonts/\($0.path)" }))
    }
}
