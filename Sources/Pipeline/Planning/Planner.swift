// From a header to a plan, in pure code. Both sides of the socket use it, so that plan and pixels cannot disagree.

/// Plans the work on one source.
package struct Planner: Sendable {
    package let pipeline: PipelineFile
    /// The assets of the pipeline by their path as written.
    package let assets: [String: AssetFacts]
    package let limits: Limits

    package init(pipeline: PipelineFile, assets: [String: AssetFacts], limits: Limits) {
        self.pipeline = pipeline
        self.assets = assets
        self.limits = limits
    }

    /// The place of a stage in a pipeline, to which a measurement belongs.
    package struct StagePath: Hashable, Sendable, Codable {
        /// The rendition's index; nil for a shared stage.
        package let rendition: Int?
        package let stage: Int

        package init(rendition: Int?, stage: Int) {
            self.rendition = rendition
            self.stage = stage
        }
    }

    /// Some stage must see the picture before all sizes are known.
    package var needsMeasurement: Bool {
        (pipeline.stages + pipeline.renditions.flatMap(\.stages)).contains { $0.stage.needsMeasurement }
    }

    /// The first stage of a plan that must be measured and is not, and the stages before it.
    package func firstUnmeasured(in plan: Plan, _ measurements: [StagePath: Measurement]) -> (path: StagePath, before: [Step], step: Step)? {
        func find(_ steps: [Step], rendition: Int?, after shared: [Step]) -> (StagePath, [Step], Step)? {
            for (index, step) in steps.enumerated() where step.stage.needsMeasurement {
                let path = StagePath(rendition: rendition, stage: index)
                if measurements[path] == nil { return (path, shared + steps[..<index], step) }
            }
            return nil
        }
        if let found = find(plan.shared, rendition: nil, after: []) { return found }
        for rendition in plan.renditions {
            if let found = find(rendition.steps, rendition: rendition.index, after: plan.shared) { return found }
        }
        return nil
    }

    /// Works out what will happen to a source.
    /// - Parameters:
    ///   - pixelsPerPoint: the `@Nx` of the source's name.
    ///   - measurements: what was measured on the decoded picture, where stages ask for that; without it their sizes are bounds.
    /// - Throws: `PlanFailure` where the source is beyond a limit, or a stage can do nothing with it.
    package func plan(
        _ source: SourceFacts, pixelsPerPoint: Int, measurements: [StagePath: Measurement] = [:]
    ) throws(PlanFailure) -> Plan {
        let animates = source.isAnimated && pipeline.renditions.contains { $0.save.format.supportsAnimation }
        try checkLimits(source, loadsAllFrames: animates)
        let decoded = geometry(of: source, frames: animates ? source.frames : 1, pixelsPerPoint: pixelsPerPoint)
        let shared = try steps(pipeline.stages, from: decoded, scale: 1, rendition: nil, measurements)
        let base = shared.last?.output ?? decoded

        var renditions: [RenditionPlan] = []
        var warnings = sourceWarnings(source)
        for (index, rendition) in pipeline.renditions.enumerated() {
            for scale in rendition.scales {
                let steps = try steps(rendition.stages, from: input(base, for: rendition), scale: scale, rendition: index, measurements)
                let drawn = steps.last?.output ?? input(base, for: rendition)
                let output = try saved(drawn, rendition)
                renditions.append(RenditionPlan(rendition: rendition, index: index, scale: scale, steps: steps, output: output))
                warnings += saveWarnings(source, drawn, renditions[renditions.count - 1])
            }
        }
        warnings += enlargements(shared, "the shared stages") + renditions.flatMap { enlargements($0.steps, "'\($0.title)'") }

        let scalesAtOnce =
            renditions.allSatisfy { $0.firstScaling != nil && $0.steps[0].input.frames == base.frames }
            && (base.frames == 1 || (shared.isEmpty && source.orientation == 1))
        let load = loadPlan(source, decoded, shared: shared, renditions: renditions, scalesAtOnce: scalesAtOnce)
        let cost = CostModel(source: source, load: load, decoded: decoded, shared: shared, scalesAtOnce: scalesAtOnce, renditions: renditions)
        // To be looked at, all pixels are decoded however small the renditions are, converted, and turned.
        let (looking, overflow) = decoded.bytes.multipliedReportingOverflow(by: needsMeasurement && measurements.isEmpty ? 4 : 0)
        let (memory, overflows) = cost.memory.addingReportingOverflow(overflow ? .max : looking)
        return Plan(
            source: source, load: load, decoded: decoded, shared: shared, scalesAtOnce: scalesAtOnce, renditions: renditions,
            memory: overflows ? .max : memory, deadline: cost.deadline, warnings: warnings)
    }

    // MARK: - The picture from stage to stage

    private func geometry(of source: SourceFacts, frames: Int, pixelsPerPoint: Int) -> Geometry {
        let colour: ColourModel =
            switch (pipeline.profile, source.colour) {
            case (.keep, let colour): colour
            case (.srgb, .grey): .grey
            case (.srgb, .rgb), (.srgb, .cmyk), (.srgb, .lab): .rgb
            }
        return Geometry(
            size: source.uprightSize, frames: frames, hasAlpha: source.hasAlpha, colour: colour, depth: source.depth,
            pixelsPerPoint: pixelsPerPoint, keepsProfile: pipeline.profile == .keep)
    }

    /// A rendition whose format has no animation works on the first frame alone.
    private func input(_ base: Geometry, for rendition: Rendition) -> Geometry {
        var input = base
        if !rendition.save.format.supportsAnimation { input.frames = 1 }
        return input
    }

    private func steps(
        _ uses: [StageUse], from start: Geometry, scale: Int, rendition: Int?, _ measurements: [StagePath: Measurement]
    ) throws(PlanFailure) -> [Step] {
        var steps: [Step] = []
        for (index, use) in uses.enumerated() {
            let measurement = measurements[StagePath(rendition: rendition, stage: index)]
            let context = PlanContext(scale: scale, assets: assets, measurement: measurement)
            let step = try Step.plan(use.stage, steps.last?.output ?? start, in: context)
            try checkPixels(step)
            steps.append(step)
        }
        return steps
    }

    private func saved(_ drawn: Geometry, _ rendition: Rendition) throws(PlanFailure) -> Geometry {
        let format = rendition.save.format
        guard format.supports(drawn.colour) else {
            let message = "\(format.rawValue) cannot hold \(drawn.colour.rawValue) colours; remove 'profile: keep' or save as tiff"
            throw PlanFailure(.unsupportedColour, stage: "save", message)
        }
        let longest = max(drawn.size.width, drawn.size.height)
        guard longest <= format.maximumSide else {
            let message = "'\(rendition.name)' would be \(drawn.size) pixels; \(format.rawValue) holds up to \(format.maximumSide) a side"
            throw PlanFailure(.tooLargeForFormat, stage: "save", message)
        }
        var output = drawn
        if !rendition.save.supportsAlpha { output.hasAlpha = false }
        if !rendition.save.supportsSixteenBits { output.depth = .eight }
        return output
    }

    // MARK: - Limits

    private func checkLimits(_ source: SourceFacts, loadsAllFrames: Bool) throws(PlanFailure) {
        let frames = loadsAllFrames ? source.frames : 1
        guard frames <= limits.maximumFrames else {
            let message = "the animation has \(frames) frames; the limit is \(limits.maximumFrames) (--max-frames)"
            throw PlanFailure(.tooManyFrames, stage: "read", message)
        }
        let (pixels, overflow) = source.size.area.multipliedReportingOverflow(by: frames)
        guard !overflow, pixels <= limits.maximumPixels else {
            let what = frames > 1 ? "\(frames) frames of \(source.size)" : source.size.description
            let message = "the picture has \(what) pixels; the limit is \(limits.maximumPixels) in all (--max-pixels)"
            throw PlanFailure(.tooManyPixels, stage: "read", message)
        }
    }

    private func checkPixels(_ step: Step) throws(PlanFailure) {
        for size in [step.output.size, step.plan.largestSize] {
            let (pixels, overflow) = size.area.multipliedReportingOverflow(by: step.output.frames)
            guard !overflow, pixels <= limits.maximumPixels, max(size.width, size.height) <= maximumCoordinate else {
                let message = "'\(step.name)' would make a picture of \(size) pixels; the limit is \(limits.maximumPixels) (--max-pixels)"
                throw PlanFailure(.tooManyPixels, stage: step.name, message)
            }
        }
    }

    // MARK: - Loading

    private func loadPlan(
        _ source: SourceFacts, _ decoded: Geometry, shared: [Step], renditions: [RenditionPlan], scalesAtOnce: Bool
    ) -> LoadPlan {
        // Turning and mirroring upside down need the last rows first; frames are cut out of one tall picture.
        let readsOutOfOrder = source.orientation > 2 || decoded.frames > 1
        let first = shared.first ?? renditions.first?.steps.first
        // What is scaled while it is loaded is turned afterwards, when it is small.
        let turnsLate = scalesAtOnce && shared.isEmpty
        let factors = renditions.map {
            ShrinkOnLoad.factor(for: source, path: shared + $0.steps, save: $0.rendition.save, scalesWhatIsDecoded: turnsLate)
        }
        let isReadAgain = shared.isEmpty && renditions.count > 1
        let isHeld = !turnsLate && (readsOutOfOrder || isReadAgain || first?.plan.isStreaming == false)
        return LoadPlan(shrink: factors.min() ?? 1, loadsAllFrames: decoded.frames > 1, isHeldInMemory: isHeld, turnsLate: turnsLate)
    }

    // MARK: - Warnings

    private func sourceWarnings(_ source: SourceFacts) -> [Warning] {
        guard source.frames > 1, !source.isAnimated else { return [] }
        return [Warning(.pagesDropped, "the file has \(source.frames) pages; only the first is used")]
    }

    private func saveWarnings(_ source: SourceFacts, _ drawn: Geometry, _ plan: RenditionPlan) -> [Warning] {
        var warnings: [Warning] = []
        if drawn.hasAlpha && !plan.rendition.save.supportsAlpha {
            let background = plan.rendition.save.background.written
            warnings.append(Warning(.alphaFlattened, "'\(plan.title)' is saved without transparency, drawn on \(background)"))
        }
        if source.isAnimated && !plan.format.supportsAnimation {
            let message = "'\(plan.title)': \(plan.format.rawValue) has no animation; only the first of \(source.frames) frames is used"
            warnings.append(Warning(.animationDropped, message))
        }
        return warnings
    }

    private func enlargements(_ steps: [Step], _ place: String) -> [Warning] {
        steps.filter(\.plan.isEnlarging).map { step in
            // A frame's output is the frame; the picture in it is what was enlarged.
            let drawn = if case .scales(let size, _) = step.plan.footing { size } else { step.output.size }
            return Warning(.upscaled, "\(place): '\(step.name)' enlarges \(step.input.size) to \(drawn)")
        }
    }
}
