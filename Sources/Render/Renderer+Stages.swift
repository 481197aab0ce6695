// The stages of a plan, one after the other.
import Pipeline
import Stages
import Vips

/// How to run a list of stages.
struct StageRun {
    let context: RenderContext
    /// The decoder made the picture smaller than planned, or larger, for the first stage that scales to make up for.
    let isResized: Bool
    /// Each frame of an animation is computed before the next one.
    let computesEach: Bool
    /// Takes the parts of a still that stages draw over; nil if they are not needed.
    let drawn: DrawnParts?

    init(_ context: RenderContext, isResized: Bool = false, computesEach: Bool = true, drawn: DrawnParts? = nil) {
        (self.context, self.isResized) = (context, isResized)
        (self.computesEach, self.drawn) = (computesEach, drawn)
    }
}

extension Renderer {
    /// The frames of a rendition, of those that the shared stages made, or of the source's.
    func frames(of rendition: RenditionPlan, from shared: Frames) -> Frames {
        // The members of a set that the rendition joins itself.
        if plan.isSet && plan.shared.isEmpty { return shared }
        return rendition.format.supportsAnimation ? shared : Frames([shared.pictures[0]])
    }

    /// The frames that a stage gets.
    /// - Parameters:
    ///   - before: the stages before it, the shared ones first.
    ///   - rendition: nil for a stage that is shared.
    func input(
        after before: [PlannedStage], of rendition: RenditionPlan?, from start: Frames, _ context: RenderContext
    ) throws -> Frames {
        guard let rendition else { return try run(before, on: start, StageRun(context)) }
        let own = Array(before.dropFirst(plan.shared.count))
        var frames = try frames(of: rendition, from: run(plan.shared, on: start, StageRun(context)))
        if let first = own.first, !plan.shared.isEmpty { frames = try frames.passed(to: first) }
        return try run(own, on: frames, StageRun(context))
    }

    func run(_ steps: [PlannedStage], on start: Frames, _ way: StageRun) throws -> Frames {
        let stages = steps.map { (step: $0, context: way.context.forFrames()) }
        // Those up to the one that joins a set work on all of its members.
        let joining = steps.lastIndex { $0.stage is any JoiningStage }.map { $0 + 1 } ?? 0
        var isResized = way.isResized
        let frames = try run(stages[..<joining], on: start, &isResized)
        let rest = stages[joining...]
        guard way.computesEach, frames.pictures.count > 1, !rest.isEmpty else {
            return try run(rest, on: frames, &isResized, way.drawn)
        }
        // One frame after the other: what a frame is made of, rows and tables, is let go before the next one is made.
        return try frames.map { frame in
            var isResized = isResized
            let made = try run(rest, on: Frames([frame]), &isResized).pictures[0]
            return made.image === frame.image ? made : try made.inMemory()
        }
    }

    private func run(
        _ stages: ArraySlice<(step: PlannedStage, context: RenderContext)>, on start: Frames, _ isResized: inout Bool,
        _ drawn: DrawnParts? = nil
    ) throws -> Frames {
        var frames = start
        for (index, (step, context)) in zip(stages.indices, stages) {
            // The first stage's input was held while loading, if it needs that.
            if index > 0 { frames = try frames.passed(to: step) }
            do {
                if let drawn, step.gainMapEffect == .draws {
                    // Its alpha is read for this too.
                    if frames.pictures[0].hasAlpha { frames = try frames.map { try $0.inMemory() } }
                    try drawn.add(DrawnPart(of: step, on: frames.pictures[0], in: context), at: index)
                }
                frames = try step.render(frames, in: context)
            } catch let error as VipsError {
                guard error.reason == .failed else {
                    throw Failure(
                        .internal, stage: step.name, "the stage asked libvips for what it cannot do",
                        detail: error.description)
                }
                throw FailedOperation(.internal, stage: step.name, "'\(step.name)' failed on this picture", error)
            }
            isResized = isResized && step.plan.sizeDependence == .anySize
            try check(frames, against: step, isResized: isResized)
        }
        return frames
    }

    /// Plan and pixels must agree.
    private func check(_ frames: Frames, against step: PlannedStage, isResized: Bool) throws {
        let planned = step.output
        for picture in frames.pictures
        where picture.pixels != planned.pixels || !(isResized || picture.size == planned.size) {
            let found = "\(picture.size) in \(picture.pixels)"
            throw Failure(
                .internal, stage: step.name, "planned \(planned.size) in \(planned.pixels), rendered \(found)")
        }
    }
}

extension Frames {
    /// As one stage hands them to the next.
    fileprivate func passed(to step: PlannedStage) throws -> Frames {
        try step.plan.isStreaming ? keepingRows() : map { try $0.inMemory() }
    }
}
