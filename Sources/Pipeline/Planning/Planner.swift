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
        guard source.format.isVector, !renditions.isEmpty else {
            return plan(source, decoded, shared, renditions, looking: look, dropped)
        }
        // Drawn in the size that each rendition needs, none depends on the others.
        let drawings = zip(renditions, drawn).map { plan(source, $1.picture, $1.shared, [$0], looking: look) }
        if drawings.count == 1 { return drawings[0] }
        return plan(source, decoded, shared, renditions, looking: look)
            .drawn(by: drawings, warnings: equalScales(renditions))
    }

    /// The plan for a look at all pixels of a picture, before it is known what is to be made of it.
    /// - Throws: `PlanFailure` if the source is beyond a limit.
    package func planLook(at source: SourceFacts, pixelsPerPoint: Int) throws(PlanFailure) -> SourcePlan {
        try checkLimits(source, loadsAllFrames: false)
        let decoded = geometry(of: source, frames: 1, pixelsPerPoint: pixelsPerPoint)
        return plan(source, decoded, [], [], looking: .forConditions)
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

    /// The plan of renditions that are made of one decoded picture.
    private func plan(
        _ source: SourceFacts, _ decoded: PictureInfo, _ shared: [PlannedStage], _ renditions: [RenditionPlan],
        looking look: Look, _ dropped: [Warning] = []
    ) -> SourcePlan {
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
            memory: saturating(
                max(cost.memory, looking), SourcePlan.memory(ofMapIn: source, renditions, after: shared)),
            keptAssets: cost.keptAssets,
            time: TimeBound(limits, pixelSeconds: cost.seconds + SourcePlan.seconds(ofMapIn: source, renditions)),
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

    private func fields(rendition: Rendition?, scale: Int) -> TextFields {
        guard let subject else { return TextFields() }
        let saved = rendition?.saved(as: subject.source)
        return TextFields(
            subject.values, rendition: saved.map { ($0.name, $0.save.encoding.ownExtension) }, scale: scale)
    }

    /// - Parameters:
    ///   - index: the rendition's place in the pipeline.
    ///   - start: what its first step gets.
    func plan(
        _ rendition: Rendition, at index: Int, scale: Int, steps: [PlannedStage], from start: PictureInfo
    ) throws(PlanFailure) -> RenditionPlan {
        let (output, background) = try saved(steps.last?.output ?? start, rendition)
        let fields = fields(rendition: rendition, scale: scale)
        let (statements, notes) = rendition.save.metadata.texts.filled(fields, on: output.size)
        var rendition = rendition
        rendition.save = rendition.save.filled(fields, on: output.size)
        let stages = places(rendition.stages, rendition: index).map { ($0.path, $0.use.canonical) }
        return RenditionPlan(
            rendition: rendition, index: index, scale: scale, steps: steps, stages: stages, output: output,
            background: background, statements: statements, notes: notes)
    }

    private func saved(
        _ drawn: PictureInfo, _ rendition: Rendition
    ) throws(PlanFailure) -> (output: PictureInfo, background: Ink?) {
        let format = rendition.save.format
        guard format.supports(drawn.colour) else {
            let message =
                "\(format.rawValue) cannot hold \(drawn.colour.rawValue) colors; remove 'profile: keep' or save as tiff"
            throw PlanFailure(.unsupportedColour, stage: "save", message)
        }
        let longest = max(drawn.size.width, drawn.size.height)
        guard longest <= format.maximumSide else {
            let message =
                "'\(rendition.name)' would be \(drawn.size) pixels; \(format.rawValue) holds up to \(format.maximumSide) a side"
            throw PlanFailure(.tooLargeForFormat, stage: "save", message)
        }
        if let refusal = rendition.save.encoding.refusal(of: drawn.size) {
            throw PlanFailure(.tooLargeForFormat, stage: "save", "'\(rendition.name)' \(refusal)")
        }
        if rendition.layout == .freedesktop, let most = Layout.longestSide(in: rendition.name), longest > most,
            drawn.certainty == .exact
        {
            let message =
                "'\(rendition.name)' would be \(drawn.size) pixels; such thumbnails have at most \(most) a side"
            throw PlanFailure(
                .tooLargeForFormat, stage: "save", message + "; scale with 'resize: { size: \"\(most)x\(most)>\" }'")
        }
        var output = drawn
        var background: Ink?
        if !rendition.save.encoding.holdsAlpha, drawn.hasAlpha {
            guard drawn.colour != .cmyk else {
                let message =
                    "\(format.rawValue) has no transparency, and 'background' cannot be drawn in cmyk colors; remove 'profile: keep' or save as tiff"
                throw PlanFailure(.unsupportedColour, stage: "save", message)
            }
            background = try output.ink(rendition.save.background, for: "save")
            output.hasAlpha = false
        }
        output.depth = rendition.save.encoding.depth(of: drawn.depth)
        return (output, background)
    }

    // MARK: - Limits

    func checkLimits(_ source: SourceFacts, loadsAllFrames: Bool) throws(PlanFailure) {
        if let page = pipeline.page, page > source.frames {
            let found = source.frames == 1 ? "one" : "\(source.frames) pages or frames"
            throw PlanFailure(
                .noSuchPage, stage: "read",
                "expected page \(page), which the pipeline asks for ('page'); the file has \(found)")
        }
        let frames = loadsAllFrames ? source.frames : 1
        guard frames <= limits.maximumFrames else {
            let message = "the animation has \(frames) frames; the limit is \(limits.maximumFrames) (max-frames)"
            throw PlanFailure(.tooManyFrames, stage: "read", message)
        }
        let (pixels, overflow) = source.size.area.multipliedReportingOverflow(by: frames)
        guard !overflow, pixels <= limits.maximumPixels else {
            let what = frames > 1 ? "\(frames) frames of \(source.size)" : source.size.description
            let message = "the picture has \(what) pixels; the limit is \(limits.maximumPixels) in all (max-pixels)"
            throw PlanFailure(.tooManyPixels, stage: "read", message)
        }
        if let coded = source.coded?.size, coded.area > limits.maximumPixels {
            let message =
                "the picture has \(source.size) pixels, and its codec's header says \(coded); the limit is \(limits.maximumPixels) in all"
            throw PlanFailure(.tooManyPixels, stage: "read", message + " (max-pixels)")
        }
        guard max(source.size.width, source.size.height) <= limits.maximumSide else {
            let message = "the picture has \(source.size) pixels; the limit is \(limits.maximumSide) a side (max-side)"
            throw PlanFailure(.tooLongSide, stage: "read", message)
        }
        guard source.bands <= limits.maximumBands else {
            throw PlanFailure(
                .tooManyBands, stage: "read",
                "the picture has \(source.bands) bands; the limit is \(limits.maximumBands) (max-bands)")
        }
        for (what, bytes, limit, name) in [
            ("metadata", source.metadataBytes, limits.maximumMetadataBytes, "max-metadata-bytes"),
            ("a color profile", source.profileBytes, limits.maximumProfileBytes, "max-profile-bytes"),
        ] where bytes > limit {
            throw PlanFailure(
                .tooMuchMetadata, stage: "read",
                "the picture has \(what) of \(bytes) bytes; the limit is \(limit) (\(name))")
        }
    }

    func checkPixels(_ step: PlannedStage) throws(PlanFailure) {
        // The frames that a set becomes are bounded by the memory that they take.
        let isSet = pipeline.source == .set
        for picture in [step.output] + step.plan.intermediates {
            let size = picture.size
            let (pixels, overflow) = size.area.multipliedReportingOverflow(by: isSet ? 1 : picture.frames)
            guard !overflow, pixels <= limits.maximumPixels, max(size.width, size.height) <= maximumCoordinate else {
                let message =
                    "'\(step.name)' would make a picture of \(size) pixels; the limit is \(limits.maximumPixels) (max-pixels)"
                throw PlanFailure(.tooManyPixels, stage: step.name, message)
            }
        }
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
            loadsAllFrames: decoded.frames > 1, beginning: beginning)
    }

    // MARK: - Warnings

    /// Conditions have left nothing to do.
    var nothingApplies: [Warning] {
        guard renditions.isEmpty else { return [] }
        return [Warning(.nothingApplies, "no rendition's 'when' holds for it, so that nothing is made of it")]
    }

    private func sourceWarnings(_ source: SourceFacts) -> [Warning] {
        var warnings: [Warning] = []
        if source.frames > 1, !source.isAnimated, source.page == nil {
            warnings.append(Warning(.pagesDropped, "the file has \(source.frames) pages; only the first is used"))
        }
        warnings += source.color?.warnings ?? []
        if source.droppedBands > 0 {
            let message = "the file has \(counted(source.droppedBands, "channel")) besides colors and alpha; not used"
            warnings.append(Warning(.channelsDropped, message))
        }
        return warnings
    }

    /// The warnings of what the stages and the formats do that a user may not expect.
    /// - Parameter frames: of the source, or of what a set is joined to.
    func warnings(of shared: [PlannedStage], _ renditions: [RenditionPlan], frames: Int) -> [Warning] {
        var warnings = renditions.compactMap { animationDropped($0, frames: frames) }
        warnings += equalScales(renditions)
        warnings += enlargements(shared, "the shared stages")
        for rendition in renditions { warnings += enlargements(rendition.steps, "'\(rendition.title)'") }
        warnings += (shared + renditions.flatMap(\.steps)).flatMap(\.plan.warnings)
        warnings += renditions.flatMap(\.notes)
        // Several scales, and several formats of one rendition, have the same to say.
        var seen: Set<Warning> = []
        return warnings.filter { seen.insert($0).inserted }
    }

    /// Scales of one rendition that come out as large as a smaller one, since the source has no more pixels.
    private func equalScales(_ renditions: [RenditionPlan]) -> [Warning] {
        zip(renditions, renditions.dropFirst()).compactMap { first, second in
            guard first.index == second.index, first.output.size == second.output.size,
                second.output.certainty == .exact
            else { return nil }
            let message =
                "'\(second.title)' has \(second.output.size) pixels like '\(first.title)': nothing is enlarged, and the source has no more"
            return Warning(.scaleWithoutEffect, message)
        }
    }

    private func depthReduced(_ plan: RenditionPlan, _ source: SourceFacts) -> Warning? {
        guard plan.rendition.isLikeSource, source.depth != .eight, plan.output.depth == .eight else { return nil }
        let message =
            "'\(plan.title)': \(plan.format.rawValue) has 8 bits a channel, the \(source.format.rawValue) has more"
        return Warning(.depthReduced, message + "; \(listed(OutputFormat.withSixteenBits)) keep them")
    }

    private func animationDropped(_ plan: RenditionPlan, frames: Int) -> Warning? {
        guard frames > 1 && !plan.format.supportsAnimation else { return nil }
        let message =
            "'\(plan.title)': \(plan.format.rawValue) has no animation; only the first of \(frames) frames is used"
        return Warning(.animationDropped, message)
    }

    func enlargements(_ steps: [PlannedStage], _ place: String) -> [Warning] {
        // Without a measured size it is not known whether a stage enlarges.
        steps.filter { $0.plan.isEnlarging && $0.input.certainty == .exact }.map { step in
            // A frame's output is the frame; the picture in it is what was enlarged.
            let drawn = if case .scales(let size, _) = step.plan.sizeDependence { size } else { step.output.size }
            return Warning(.upscaled, "\(place): '\(step.name)' enlarges \(step.input.size) to \(drawn)")
        }
    }
}

/// A sum that stays the largest number if it would be larger.
package func saturating(_ sum: Int, _ part: Int) -> Int {
    let (sum, overflow) = sum.addingReportingOverflow(part)
    return overflow ? .max : sum
}
