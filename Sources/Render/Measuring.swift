// Looks at a source before it is rendered, for stages whose plan depends on what is in the picture.
import Pipeline
import Stages
import Vips

struct Measuring {
    let planner: Planner
    let assets: AssetStore
    let colours: ColourConversion

    /// Measures a picture.
    func measure(_ source: ProbedSource, pixelsPerPoint: Int) throws -> [StageMeasurement] {
        var whole: Frames?
        return try measure { found throws(PlanFailure) in
            try planner.plan(source.facts, pixelsPerPoint: pixelsPerPoint, measurements: found)
        } start: { renderer, _ in
            let start = try whole ?? renderer.wholePicture(source)
            whole = start
            return start
        }
    }

    /// Measures a set, its members in full size.
    func measure(_ source: SetSource) throws -> [StageMeasurement] {
        try measure { found throws(PlanFailure) in
            try planner.plan(set: source.members, measurements: found)
        } start: { renderer, rendition in
            try renderer.wholeMembers(source, rendition: rendition)
        }
    }

    /// Whether a pixel of a picture is not opaque; of an animation, of its first frame.
    func findTransparency(of source: ProbedSource) throws -> Bool {
        let plan = try planner.planLook(at: source.facts, pixelsPerPoint: 1)
        let renderer = Renderer(plan: plan, pipeline: planner.pipeline, assets: assets, colours: colours)
        let frames = try renderer.wholePicture(source)
        guard let picture = frames.pictures.first, picture.pixels.hasAlpha else { return false }
        let watch = AlphaWatch()
        try picture.image.watched(by: watch).evaluated()
        return watch.sawTransparency
    }

    /// Measures for one stage after the other: what one finds is what the next one sees.
    /// - Parameter start: what the first stage of a plan gets, for the rendition whose stage is measured.
    private func measure(
        plan: ([Planner.StagePath: Measurement]) throws(PlanFailure) -> SourcePlan,
        start: (Renderer, Int?) throws -> Frames
    ) throws -> [StageMeasurement] {
        var found: [StageMeasurement] = []
        while true {
            let plan = try plan(found.byPath)
            assets.keep(atMost: plan.keptAssets)
            guard let (path, before, step) = planner.firstUnmeasured(in: plan, found.byPath) else { return found }
            let renderer = Renderer(plan: plan, pipeline: planner.pipeline, assets: assets, colours: colours)
            let context = RenderContext(assets: assets)
            let frames = try renderer.input(
                after: before, of: plan.renditions.first { $0.index == path.rendition },
                from: start(renderer, path.rendition), context)
            guard let measurement = try measured(step, on: frames.map { try $0.inMemory() }, in: context) else {
                throw MismatchedPlan(stage: step.name)
            }
            found.append(StageMeasurement(path: path, measurement: measurement))
        }
    }

    private func measured(_ step: PlannedStage, on frames: Frames, in context: RenderContext) throws -> Measurement? {
        do {
            return try step.measure(frames, in: context)
        } catch let error as VipsError {
            throw FailedOperation(.internal, stage: step.name, "'\(step.name)' failed on this picture", error)
        }
    }
}
