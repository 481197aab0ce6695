// Looks at a source before it is rendered, for stages whose plan depends on what is in the picture.
import Pipeline
import Stages
import Vips

struct Measuring {
    let planner: Planner
    let assets: AssetStore
    let colours: ColourConversion

    /// Measures for one stage after the other: what one finds is what the next one sees.
    func measure(_ source: ProbedSource, pixelsPerPoint: Int) throws -> [StageMeasurement] {
        var found: [StageMeasurement] = []
        var start: Frames?
        while true {
            let plan = try planner.plan(source.facts, pixelsPerPoint: pixelsPerPoint, measurements: found.byPath)
            guard let (path, before, step) = planner.firstUnmeasured(in: plan, found.byPath) else { return found }
            let renderer = Renderer(plan: plan, pipeline: planner.pipeline, assets: assets, colours: colours)
            let whole = try start ?? renderer.wholePicture(source)
            start = whole
            let scale = plan.renditions.first { $0.index == path.rendition }?.scale ?? 1
            let context = RenderContext(scale: scale, assets: assets)
            let frames = try renderer.run(before, on: whole, context).map { try $0.inMemory() }
            guard let measurement = try step.measure(frames, in: context) else { throw MismatchedPlan(stage: step.name) }
            found.append(StageMeasurement(path: path, measurement: measurement))
        }
    }
}

extension [StageMeasurement] {
    var byPath: [Planner.StagePath: Measurement] { Dictionary(map { ($0.path, $0.measurement) }) { first, _ in first } }
}
