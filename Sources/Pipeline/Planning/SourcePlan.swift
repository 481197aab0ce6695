// The plan for one source: made without pixels, shown by `imagemill plan`, followed by the worker.
package import Kernels

/// One stage with its plan.
package struct PlannedStage: Sendable {
    package let stage: any StageDeclaration
    package let plan: any StagePlan
    package let input: PictureInfo
    /// Its place in the pipeline; nil for a stage within a stage.
    package let path: Planner.StagePath?

    package var name: String { type(of: stage).name }
    package var output: PictureInfo { plan.output }
    /// It scales to a size of its own, whatever comes in.
    package var isScaling: Bool { if case .scales = plan.sizeDependence { true } else { false } }

    /// Plans one stage.
    package static func plan(
        _ stage: some StageDeclaration, _ input: PictureInfo, in context: PlanContext, path: Planner.StagePath? = nil
    ) throws(PlanFailure) -> PlannedStage {
        PlannedStage(stage: stage, plan: try stage.plan(input, in: context), input: input, path: path)
    }

    /// Plans the stage that joins a set.
    static func plan(
        _ stage: some JoiningStage, _ members: [SetMember], in context: PlanContext, path: Planner.StagePath?
    ) throws(PlanFailure) -> PlannedStage {
        PlannedStage(stage: stage, plan: try stage.plan(members.alike, in: context), input: members.common, path: path)
    }

    /// Plans stages one after the other.
    package static func plan(
        _ uses: [StageUse], from start: PictureInfo, in context: PlanContext
    ) throws(PlanFailure) -> [PlannedStage] {
        var steps: [PlannedStage] = []
        for use in uses { steps.append(try plan(use.stage, steps.last?.output ?? start, in: context)) }
        return steps
    }
}

/// How the source is decoded.
package struct LoadPlan: Hashable, Sendable {
    /// How many times as wide and high as its own size a vector picture is planned to be.
    package var scale = 1
    /// By how much the decoder may shrink for each rendition, if there were no other.
    package let shrinks: [Int]
    /// The decoder delivers one pixel for `shrink` × `shrink` of the source.
    package var shrink: Int { shrinks.min() ?? 1 }
    /// How many times as wide and high as planned a vector picture is drawn for each rendition, if there were no
    /// other.
    package var enlargements: [Int] = []
    package var enlargement: Int { enlargements.max() ?? 1 }
    /// All frames of an animation, or only the first picture of the file.
    package let loadsAllFrames: Bool
    package var beginning: Beginning
    /// For each rendition the preview that is decoded instead of the picture; nil if the pipeline does not allow that, or
    /// none will do. Empty for a set.
    package var previews: [PreviewLoad?] = []

    /// All pixels as they are, for stages that look at them.
    static let whole = LoadPlan(shrinks: [], loadsAllFrames: false, beginning: .held)

    /// The plan of a set, of which this is the first member's.
    func joined(_ sharing: Beginning.Sharing) -> LoadPlan {
        var plan = self
        plan.beginning = .upright(isHeld: beginning.isHeld, then: sharing)
        return plan
    }

    /// How many pixels are delivered for one of the source, along a side.
    package var factor: Double { Double(scale * enlargement) / Double(shrink) }

    /// The decoded picture is smaller or larger than planned.
    package var resizes: Bool { shrink > 1 || enlargement > 1 }

    /// The picture that a rendition begins with is smaller or larger than planned.
    package func resizes(rendition index: Int) -> Bool { shrinks[index] > 1 || enlargement > 1 }
}

/// One file to write.
package struct RenditionPlan: Sendable {
    package let rendition: Rendition
    /// Its place among the pipeline's renditions.
    package let index: Int
    package let scale: Int
    /// All stages of a picture; of a set, those from the one that joins it on, or all after it.
    package let steps: [PlannedStage]
    /// Its stages that apply, by their places, each as one text that is equal for all that say the same.
    let stages: [(path: Planner.StagePath, canonical: String)]
    /// As it is saved.
    package fileprivate(set) var output: PictureInfo
    /// The color that it is drawn on, because its format has no alpha.
    package let background: Ink?
    /// The statements that its metadata make anew.
    package let statements: Statements
    /// Nil if it has no gain map.
    package var gainMap: GainMapPlan?
    /// The fields in them that have neither a value nor a default.
    let notes: [Warning]

    /// The size and the kernel of the first stage's scaling, if it scales and does nothing before. Nil if it has
    /// something else to do with a picture that has the size already: that is no reason to hold a copy.
    package var firstScaling: (size: PixelSize, kernel: ScalingKernel)? {
        guard let first = steps.first, case .scales(let size, let kernel) = first.plan.sizeDependence,
            size != first.input.size || first.plan.changesNothing
        else { return nil }
        return (size, kernel)
    }

    /// Whether the source's own bytes show the same pixels as the rendition would.
    /// - Parameter profile: the pipeline's.
    package func keepsEveryPixel(of plan: SourcePlan, profile: ProfilePolicy) -> Bool {
        let source = plan.source
        let isSamePicture =
            format.asSource == source.format && output.size == source.size && output.depth == source.depth
            && output.frames == source.frames && output.hasAlpha == source.hasAlpha && background == nil
        let keepsColors =
            profile == .keep || profile == .srgb && !source.hasOwnColors && [.grey, .rgb].contains(source.colour)
        let keepsLight = (source.gainMap == nil) == (gainMap == nil) && source.color?.isHDR != true
        return isSamePicture && keepsColors && keepsLight && !plan.isSet && source.orientation == 1
            && source.page == nil
            && source.droppedBands == 0 && !plan.load.resizes && rendition.layout == .plain && statements.isEmpty
            && (plan.shared + steps).allSatisfy(\.plan.changesNothing)
    }

    package var format: OutputFormat { rendition.save.format }
    package var keptMetadata: KeptMetadata { rendition.save.metadata.kept }
    /// Its title in messages: `thumb@2x`, `photo 320w`.
    package var title: String { rendition.title + scaleSuffix(scale) }
}

/// The plan for one source.
package struct SourcePlan: Sendable {
    /// The facts of the picture, or of the first member of a set.
    package let source: SourceFacts
    package let load: LoadPlan
    /// The picture as the first stage gets it, in pixels of the source.
    package let decoded: PictureInfo
    /// The plan for each member of a set before it is joined; empty for a picture.
    package var members: [MemberPlan] = []
    /// The steps of a set from the stage that joins it; empty if the renditions join it.
    package let shared: [PlannedStage]
    package private(set) var renditions: [RenditionPlan]
    /// A plan for each rendition alone, if the source is drawn anew for each: a vector picture with several renditions.
    package private(set) var drawings: [SourcePlan] = []
    /// Bytes that the worker needs at most.
    package private(set) var memory: Int
    /// Bytes of assets that the worker keeps at most at the sizes at which they were drawn; part of `memory`.
    package let keptAssets: Int
    /// Bytes that are allocated at most when renditions begin to be made. Not known of a set.
    package var making = Int.max
    /// How long the worker may take.
    package private(set) var time: TimeBound
    package private(set) var warnings: [Warning]

    package var isSet: Bool { !members.isEmpty }
    /// Returns true if a rendition may be made of a preview in the source's file.
    package var mayUsePreviews: Bool { source.raw == .preview || load.previews.contains { $0 != nil } }
    /// Whether a rendition keeps the source's gain map.
    package var hasGainMap: Bool { renditions.contains { $0.gainMap != nil } }
    /// Seconds after which the worker is stopped.
    package var deadline: Double { time.seconds }

    /// All pixels that are decoded are in memory at one time: the stages need it, or the decoder works so.
    package var holdsDecoded: Bool { load.beginning.isHeld || source.isDecodedAsAWhole }

    /// The picture that a rendition begins with is smaller or larger than planned, since the decoder has made it so.
    package func beginsResized(rendition index: Int) -> Bool {
        !isSet && load.resizes(rendition: index) && !shared.contains(where: \.isScaling)
    }

    /// The same plan, whose renditions are drawn one after the other.
    /// - Parameter warnings: those that none of the drawings has.
    func drawn(by drawings: [SourcePlan], warnings: [Warning]) -> SourcePlan {
        var plan = self
        plan.drawings = drawings
        plan.memory = drawings.map(\.memory).max() ?? memory
        plan.time = drawings.dropFirst().map(\.time).reduce(drawings.first?.time ?? time) { $0.followed(by: $1) }
        let said = drawings.flatMap(\.warnings) + warnings
        plan.warnings = said.indices.filter { !said[..<$0].contains(said[$0]) }.map { said[$0] }
        return plan
    }

    /// The same plan with other warnings.
    package func with(warnings: [Warning]) -> SourcePlan {
        var plan = self
        plan.warnings = warnings
        return plan
    }

    /// The same plan with what is known of the results: where a size was a bound, it is the size now.
    package func with(sizes: [PixelSize]) -> SourcePlan {
        var plan = self
        for (index, size) in zip(renditions.indices, sizes) { plan.renditions[index].output.size = size }
        return plan
    }

    /// The names of all renditions, in their order.
    /// - Parameters:
    ///   - contents: the SHA-256 of each rendition in hexadecimal; nil before they are rendered.
    ///   - version: 1, or more if other sources own the names.
    /// - Throws: `PlanFailure` if a name cannot be used, or two renditions would have one.
    package func names(
        for facts: NamingFacts, contents: [String]? = nil, version: Int
    ) throws(PlanFailure) -> [RenditionName] {
        var names: [RenditionName] = []
        for (index, plan) in renditions.enumerated() {
            let name = try plan.rendition.name(
                for: facts, scale: plan.scale, size: plan.output.size, contents: contents?[index], version: version)
            // Until stages have looked at the picture, sizes are bounds: names with equal ones may still become others, or
            // renditions the same.
            if plan.output.certainty == .exact, names.contains(where: { $0.path == name.path }) {
                let message =
                    "two renditions of this source would both be named '\(name.path.printable)'; add {rendition} or {scale} to 'file'"
                throw PlanFailure(.nameTaken, stage: "publish", message)
            }
            names.append(name)
        }
        try names.checkFolders()
        return names
    }
}

extension [RenditionName] {
    /// Refuses a file below the name of another one, or in a folder that is a rendition itself.
    /// - Throws: `PlanFailure`.
    func checkFolders() throws(PlanFailure) {
        let names = Set(map(\.path))
        for name in self {
            var above = name.path.directory
            while !above.bytes.isEmpty, !names.contains(above) { above = above.directory }
            guard !above.bytes.isEmpty else { continue }
            throw PlanFailure(
                .nameTaken, stage: "publish",
                "'\(name.path.printable)' would be in '\(above.printable)', which is a file of this source, or a folder of tiles; change 'file' of one of them"
            )
        }
    }
}
