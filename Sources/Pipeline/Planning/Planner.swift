// From a header to a plan, in pure code. Both sides of the socket use it, so that plan and pixels cannot disagree.

/// Plans the work on one source.
package struct Planner: Sendable {
    package let pipeline: PipelineFile
    /// The assets of the pipeline by their path as written.
    package let assets: [String: AssetFacts]
    package let limits: Limits
    /// The values of the fields in texts, and the facts of the source.
    private var subject: (values: TextValues, source: SourceFacts)?
    /// The parts of the pipeline that do not apply to the source.
    private(set) var omitted = OmittedParts()

    package init(pipeline: PipelineFile, assets: [String: AssetFacts], limits: Limits) {
        self.pipeline = pipeline
        self.assets = assets
        self.limits = limits
    }

    /// The planner for a source of which texts say something.
    package func saying(_ values: TextValues, of source: SourceFacts) -> Planner {
        var planner = self
        planner.subject = (values, source)
        return planner
    }

    /// The planner for a source to which some parts do not apply.
    package func leavingOut(_ parts: OmittedParts) -> Planner {
        var planner = self
        planner.omitted = parts
        return planner
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
        guard pipeline.hasMeasurements else { return false }
        let own = renditions.flatMap { places($0.value.stages, rendition: $0.index) }
        return !renditions.isEmpty
            && (places(pipeline.stages, rendition: nil) + own).contains { $0.use.stage.needsMeasurement }
    }

    /// The renditions that apply, with their places in the pipeline.
    var renditions: [(index: Int, value: Rendition)] {
        pipeline.renditions.enumerated().filter { !omitted.renditions.contains($0.offset) }.map { ($0, $1) }
    }

    /// The first stage of a plan that must be measured and is not, and the stages before it.
    package func firstUnmeasured(in plan: SourcePlan, _ measurements: [StagePath: Measurement]) -> (
        path: StagePath, before: [PlannedStage], step: PlannedStage
    )? {
        func find(_ steps: [PlannedStage], after shared: [PlannedStage]) -> (StagePath, [PlannedStage], PlannedStage)? {
            for (index, step) in steps.enumerated() where step.stage.needsMeasurement {
                if let path = step.path, measurements[path] == nil { return (path, shared + steps[..<index], step) }
            }
            return nil
        }
        if let found = find(plan.shared, after: []) { return found }
        for rendition in plan.renditions {
            if let found = find(rendition.steps, after: plan.shared) { return found }
        }
        return nil
    }

    /// Works out what will happen to a source.
    /// - Parameters:
    ///   - pixelsPerPoint: the `@Nx` of the source's name.
    ///   - measurements: what was measured on the decoded picture, if stages ask for that; without it their sizes are
    ///     bounds.
    /// - Throws: `PlanFailure` if the source is beyond a limit, or a stage can do nothing with it.
    package func plan(
        _ source: SourceFacts, pixelsPerPoint: Int, measurements: [StagePath: Measurement] = [:]
    ) throws(PlanFailure) -> SourcePlan {
        let wanted = self.renditions.map { (index: $0.index, value: $0.value.saved(as: source)) }
        let animates = source.isAnimated && wanted.contains { $0.value.save.format.supportsAnimation }
        try checkLimits(source, loadsAllFrames: animates)
        let decoded = geometry(of: source, frames: animates ? source.frames : 1, pixelsPerPoint: pixelsPerPoint)
        // For nobody, no stage can fail.
        let uses = wanted.isEmpty ? [] : places(pipeline.stages, rendition: nil)
        let shared = try steps(uses, from: decoded, scale: 1, measurements)

        var renditions: [RenditionPlan] = []
        // The picture and the shared stages that each of them is drawn from.
        var drawn: [(picture: PictureInfo, shared: [PlannedStage])] = []
        var losses: [Int: Warning] = [:]
        for (index, rendition) in wanted {
            let places = places(rendition.stages, rendition: index)
            for scale in rendition.scales {
                var (picture, shared) = (decoded, shared)
                if let larger = larger(decoded, source, for: uses + places, scale: scale) {
                    picture = larger
                    shared = try steps(uses, from: picture, scale: 1, measurements)
                }
                let start = input(shared.last?.output ?? picture, for: rendition)
                let steps = try steps(places, from: start, scale: scale, measurements)
                renditions.append(try plan(rendition, at: index, scale: scale, steps: steps, from: start))
                drawn.append((picture, shared))
            }
        }
        if let map = source.gainMap {
            for index in renditions.indices {
                let (held, warning) = renditions[index].holding(map, of: source, after: drawn[index].shared)
                renditions[index] = held
                losses[index] = warning
            }
        }
        let distinct = RenditionPlan.distinct(renditions)
        let dropped = distinct.compactMap { losses[$0] }
        (renditions, drawn) = (distinct.map { renditions[$0] }, distinct.map { drawn[$0] })
        let look: Look = needsMeasurement && measurements.isEmpty ? .forStages : .none
        let all = Work(decoded: decoded, shared: shared, renditions: renditions)
        guard source.format.isVector, !renditions.isEmpty else { return plan(source, all, looking: look, dropped) }
        // Drawn in the size that each rendition needs, none depends on the others.
        let drawings = zip(renditions, drawn).map {
            plan(source, Work(decoded: $1.picture, shared: $1.shared, renditions: [$0]), looking: look)
        }
        if drawings.count == 1 { return drawings[0] }
        return plan(source, all, looking: look)
            .drawn(by: drawings, warnings: equalScales(renditions))
    }

    /// The plan for a look at all pixels of a picture, before it is known what is to be made of it.
    /// - Throws: `PlanFailure` if the source is beyond a limit.
    package func planLook(at source: SourceFacts, pixelsPerPoint: Int) throws(PlanFailure) -> SourcePlan {
        try checkLimits(source, loadsAllFrames: false)
        let decoded = geometry(of: source, frames: 1, pixelsPerPoint: pixelsPerPoint)
        return plan(source, Work(decoded: decoded, shared: [], renditions: []), looking: .forConditions)
    }

    /// A vector picture with as many pixels to a point as a rendition's scale; nil if that is its own size, or it is
    /// drawn in that all the same: because its pixels are looked at first, its name says how many it has, or it would
    /// be too large.
    private func larger(
        _ decoded: PictureInfo, _ source: SourceFacts, for places: [(use: StageUse, path: StagePath)], scale: Int
    ) -> PictureInfo? {
        guard source.format.isVector, scale > 1, decoded.pixelsPerPoint == 1,
            !places.contains(where: { $0.use.stage.needsMeasurement })
        else { return nil }
        let size = PixelSize(decoded.size.width * scale, decoded.size.height * scale)
        guard size.area <= limits.maximumPixels, max(size.width, size.height) <= limits.maximumSide else { return nil }
        var larger = decoded.resized(to: size)
        larger.pixelsPerPoint = Double(scale)
        return larger
    }

    /// The purpose of the look at the pixels before renditions are made.
    private enum Look {
        case none
        /// Stages measure them.
        case forStages
        /// Conditions ask whether one is not opaque.
        case forConditions
    }

    /// The renditions that are made of one decoded picture.
    private struct Work {
        let decoded: PictureInfo
        let shared: [PlannedStage]
        let renditions: [RenditionPlan]
    }

    private func plan(
        _ source: SourceFacts, _ work: Work, looking look: Look, _ dropped: [Warning] = []
    ) -> SourcePlan {
        let (decoded, shared, renditions) = (work.decoded, work.shared, work.renditions)
        let load = loadPlan(source, decoded, shared: shared, renditions: renditions)
        let cost = CostModel(
            source: source, load: load, decoded: decoded, shared: shared, renditions: renditions,
            assets: Array(assets.values), isConverted: isConverted(source, to: decoded))
        let looking =
            switch look {
            case .none: 0
            case .forStages: ([shared] + renditions.map { shared + $0.steps }).map(cost.looking).max() ?? 0
            case .forConditions: cost.lookingAtAll
            }
        var plan = SourcePlan(
            source: source, load: load, decoded: decoded, shared: shared, renditions: renditions,
            memory: [
                load.memory(ofPreviewsIn: source, renditions),
                SourcePlan.memory(ofMapIn: source, renditions, after: shared),
                source.format.declaration.memory(keeping: source),
            ].reduce(max(cost.memory, looking), saturating),
            keptAssets: cost.keptAssets,
            time: TimeBound(
                limits,
                pixelSeconds: cost.seconds * (load.previews.contains { $0 != nil } ? 2 : 1)
                    + SourcePlan.seconds(ofMapIn: source, renditions)),
            warnings: (renditions.isEmpty ? nothingApplies : sourceWarnings(source))
                + dropped + renditions.compactMap { depthReduced($0, source) }
                + warnings(of: shared, renditions, frames: source.isAnimated ? source.frames : 1)
                .filter { $0.code != .upscaled || load.enlargement == 1 })
        plan.making = saturating(cost.making, SourcePlan.memory(ofMapIn: source, renditions, after: shared))
        return plan
    }

    // MARK: - The picture from stage to stage

    func geometry(of source: SourceFacts, frames: Int, pixelsPerPoint: Int) -> PictureInfo {
        let colour: ColourModel =
            switch (pipeline.profile, source.colour) {
            case (.keep, let colour): colour
            case (_, .grey): .grey
            case (_, .rgb), (_, .cmyk), (_, .lab): .rgb
            }
        let hasProfile = pipeline.profile.hasTarget ? colour == .rgb : pipeline.profile == .keep && source.hasOwnColors
        let depth: BitDepth = source.depth == .float ? .sixteen : source.depth
        return PictureInfo(
            size: source.uprightSize, frames: frames, hasAlpha: source.hasAlpha, colour: colour, depth: depth,
            pixelsPerPoint: Double(pixelsPerPoint), hasProfile: hasProfile)
    }

    /// Whether the stages work in other colors than the file has.
    private func isConverted(_ source: SourceFacts, to decoded: PictureInfo) -> Bool {
        source.colour != decoded.colour || pipeline.profile.hasTarget
            || (source.hasOwnColors && pipeline.profile != .keep)
    }

    /// A rendition whose format has no animation works on the first frame alone.
    func input(_ base: PictureInfo, for rendition: Rendition) -> PictureInfo {
        var input = base
        if !rendition.save.format.supportsAnimation { input.frames = 1 }
        return input
    }

    /// The stages that apply, with their places in the pipeline.
    func places(_ uses: [StageUse], rendition: Int?) -> [(use: StageUse, path: StagePath)] {
        uses.enumerated().map { ($1, StagePath(rendition: rendition, stage: $0)) }
            .filter { !omitted.stages.contains($0.1) }
    }

    func steps(
        _ places: some Sequence<(use: StageUse, path: StagePath)>, from start: PictureInfo, scale: Int,
        _ measurements: [StagePath: Measurement]
    ) throws(PlanFailure) -> [PlannedStage] {
        var steps: [PlannedStage] = []
        for (use, path) in places {
            let context = context(of: path, scale: scale, measurements)
            let step = try PlannedStage.plan(use.stage, steps.last?.output ?? start, in: context, path: path)
            try checkPixels(step)
            steps.append(step)
        }
        return steps
    }

    func context(of path: StagePath, scale: Int, _ measurements: [StagePath: Measurement]) -> PlanContext {
        let fields = fields(rendition: path.rendition.map { pipeline.renditions[$0] }, scale: scale)
        return PlanContext(scale: Double(scale), assets: assets, measurement: measurements[path], fields: fields)
    }

    func fields(rendition: Rendition?, scale: Int) -> TextFields {
        guard let subject else { return TextFields() }
        let saved = rendition?.saved(as: subject.source)
        return TextFields(
            subject.values, rendition: saved.map { ($0.name, $0.save.encoding.ownExtension) }, scale: scale)
    }

    // MARK: - Loading

    private func loadPlan(
        _ source: SourceFacts, _ decoded: PictureInfo, shared: [PlannedStage], renditions: [RenditionPlan]
    ) -> LoadPlan {
        let beginning = Beginning(source, decoded, shared: shared, renditions: renditions)
        let shrinks = renditions.map {
            ShrinkOnLoad.factor(
                for: source, shared: shared, own: $0.steps, save: $0.rendition.save,
                scalesWhatIsDecoded: beginning.isScaled)
        }
        let enlargements = renditions.map {
            Enlargement.factor(
                for: source, decoded.size, path: shared + $0.steps, maximumPixels: limits.maximumPixels)
        }
        return LoadPlan(
            scale: decoded.size.width / source.uprightSize.width, shrinks: shrinks, enlargements: enlargements,
            loadsAllFrames: decoded.frames > 1, beginning: beginning,
            previews: renditions.map {
                // Those of raw files are in the facts only if they may be used.
                (pipeline.preview == .allow || source.format == .raw) && shared.isEmpty ? PreviewLoad(source, $0) : nil
            })
    }
}

/// A sum that stays the largest number if it would be larger.
package func saturating(_ sum: Int, _ part: Int) -> Int {
    let (sum, overflow) = sum.addingReportingOverflow(part)
    return overflow ? .max : sum
}
