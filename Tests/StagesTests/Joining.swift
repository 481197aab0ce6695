// Runs stages of a set pipeline on generated pictures, as the worker does: each member made ready, measured where asked
// for, then joined.
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

/// The result of joining a set.
struct Joined {
    let frames: Frames
    let plan: SourcePlan
    var image: Image { frames.pictures[0].image }
    var pixels: PixelGrid { get throws { try PixelGrid(image) } }
}

/// Plans a set of pictures in memory, the names being `1.png`, `2.png`, … unless given.
func planSet(
    _ stages: String, _ images: [Image], scale: Int = 1, names: [String]? = nil, save: String = "png",
    measurements: [Planner.StagePath: Measurement] = [:]
) throws -> (plan: SourcePlan, planner: Planner) {
    let list = stages.split(separator: "\n").map { "      - \($0)\n" }.joined()
    let text =
        "source: set\nrenditions:\n  test:\n    scale: \(scale)\n    stages:\n\(list)    save: { format: \(save) }\n"
    let planner = Planner(
        pipeline: try PipelineFile(text: text, file: "test.yaml", catalogue: .all), assets: [:], limits: Limits())
    let members = images.enumerated().map { index, image in
        MemberFacts(
            name: BytePath(names?[index] ?? "\(index + 1).png"),
            facts: SourceFacts(
                format: .png, size: PixelSize(image.width, image.height), hasAlpha: image.hasAlpha,
                colour: image.bands <= 2 ? .grey : .rgb,
                depth: image.format == .ushort ? .sixteen : .eight))
    }
    return (try planner.plan(set: members, measurements: measurements), planner)
}

/// Joins pictures; the stages begin with the one that joins, or with some before it.
func join(
    _ stages: String, _ images: [Image], scale: Int = 1, names: [String]? = nil, save: String = "png",
    sourceLocation: SourceLocation = #_sourceLocation
) throws -> Joined {
    var (plan, planner) = try planSet(stages, images, scale: scale, names: names, save: save)
    let context = RenderContext(assets: TestAssets())
    if let (path, before, step) = planner.firstUnmeasured(in: plan, [:]) {
        let measurement = try #require(
            try step.measure(try run(before, try ready(images, plan, context), context), in: context))
        #expect(measurement.isPlausible, sourceLocation: sourceLocation)
        plan = try planSet(stages, images, scale: scale, names: names, save: save, measurements: [path: measurement])
            .plan
    }
    let frames = try run(plan.renditions[0].steps, try ready(images, plan, context), context)
    for picture in frames.pictures {
        expectAgreement(picture, try #require(plan.renditions[0].steps.last), sourceLocation)
    }
    #expect(frames.pictures.count == plan.renditions[0].output.frames, sourceLocation: sourceLocation)
    return Joined(frames: frames, plan: plan)
}

private func ready(_ images: [Image], _ plan: SourcePlan, _ context: RenderContext) throws -> Frames {
    let common = try #require(plan.renditions[0].steps.first).input
    return Frames(
        try zip(images, plan.members).map { image, member in
            try run(member.own[0], Frames([Picture(decoded: image)]), context).pictures[0].unified(to: common.pixels)
                .inMemory()
        })
}

private func run(_ steps: [PlannedStage], _ start: Frames, _ context: RenderContext) throws -> Frames {
    try steps.reduce(start) { try $1.render($0, in: context) }
}

/// Why a set cannot be planned.
func setFailure(_ stages: String, _ images: [Image], names: [String]? = nil, save: String = "png") throws -> Failure? {
    do {
        _ = try planSet(stages, images, names: names, save: save)
        return nil
    } catch let error as PlanFailure {
        return error.failure
    }
}
