// Stages within a stage: what a badge or a layer goes through before it is drawn.
import Pipeline

/// The stages of something that is drawn, and what tells it from all others.
struct NestedStages: Sendable {
    private let uses: [StageUse]
    /// Tells the results of these stages apart from those of others, for as long as the pipeline lives.
    private final class Identity: Sendable {}
    private let identity = Identity()

    /// Declares the parameter `stages` of a stage or a layer.
    init(_ p: inout Parameters) {
        let list: StageList = p.optional("stages", StageList([]), "What is done to it before it is drawn.")
        uses = list.uses
        // Only sources are measured; here it would silently do nothing.
        for use in uses where use.stage.needsMeasurement {
            let message =
                "'\(use.name)' here would have to look at what is drawn, which only works on the source; use another anchor or stage"
            p.problem(at: "stages", message)
        }
        for use in uses where use.isJoining {
            p.problem(
                at: "stages",
                "'\(use.name)' takes a set of pictures, and here is only one; put it among the stages of a pipeline for sets"
            )
        }
    }

    var isEmpty: Bool { uses.isEmpty }
    var drawsText: Bool { uses.contains { $0.stage.drawsText } }
    var texts: [TextTemplate] { uses.flatMap { $0.stage.texts } }

    /// Plans the stages for what is drawn.
    /// - Parameter scale: the pixels per point of what it is drawn on.
    func plan(
        _ start: PictureInfo, in context: PlanContext, scale: Double
    ) throws(PlanFailure) -> [PlannedStage] {
        try PlannedStage.plan(uses, from: start, in: context.drawn(at: scale))
    }

    /// Something after these stages that does not depend on the picture that it is drawn on.
    func sameForAllFrames(_ context: RenderContext, make: () throws -> Picture) throws -> Picture {
        try context.onceForAllFrames(identity) { try make().inMemory() }
    }

    /// An asset after these stages. It is made once for all pictures that it is drawn on; if a text on it may say
    /// something else on each, once for the frames of each.
    func picture(
        _ context: RenderContext, scale: Double, size: PixelSize, make: () throws -> Picture
    ) throws -> Picture {
        guard !drawsText else { return try sameForAllFrames(context, make: make) }
        let key = KeptPictureKey(owner: ObjectIdentifier(identity), scale: scale, size: size)
        return try context.assets.picture(key, make: make)
    }
}

/// Names a picture that is made once and drawn onto many.
package struct KeptPictureKey: Hashable {
    let owner: ObjectIdentifier
    let scale: Double
    let size: PixelSize
}

extension [PlannedStage] {
    /// Renders the steps on one picture.
    func render(_ picture: Picture, in context: RenderContext) throws -> Picture {
        var frames = Frames([picture])
        for step in self {
            frames = try step.plan.isStreaming ? frames.keepingRows() : frames.map { try $0.inMemory() }
            frames = try step.render(frames, in: context)
        }
        return frames.pictures[0]
    }

    /// The sizes in which the steps have vector assets drawn.
    var drawings: [PixelSize] { flatMap(\.plan.drawings) }

    /// The pictures that the steps hold, and what comes out of each of them, whose pixels are limited too.
    var intermediates: [PictureInfo] {
        flatMap { $0.plan.intermediates + ($0.plan.isResultHeld ? [] : [$0.output]) }
    }
}

extension PlanContext {
    /// The same for something that is drawn on a picture.
    /// - Parameter scale: the pixels per point of the picture.
    func drawn(at scale: Double) -> PlanContext { PlanContext(scale: scale, assets: assets, fields: fields) }

    func facts(of asset: AssetPath, stage: String) throws(PlanFailure) -> AssetFacts {
        guard let facts = assets[asset.path] else {
            throw PlanFailure(.internal, stage: stage, "the asset '\(asset.path)' was not opened")
        }
        return facts
    }
}
