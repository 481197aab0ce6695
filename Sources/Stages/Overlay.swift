package import Pipeline
import Vips

/// Composites another picture onto this one: a badge, a watermark.
package struct Overlay: Stage {
    package static let name = "overlay"
    package static let summary = "Composites another picture onto this one: a badge, a watermark."
    package static let example = """
        - overlay: { image: assets/badge.png, anchor: top-trailing, offset: { x: 8, y: 8 }, width: 64 }
        """

    let image: AssetPath
    let stages: NestedStages
    let place: OverlayPlace
    let isTiled: Bool
    let alpha: Double
    let blend: BlendMode

    package init(_ p: inout Parameters) {
        image = p.required("image", "The picture to draw; its path is relative to the pipeline file.")
        stages = NestedStages(&p)
        place = OverlayPlace(&p)
        isTiled = p.optional("tile", false, "Whether it is repeated over the whole picture, beginning at its place.")
        alpha = p.optional("alpha", 1.0, in: 0...1, "Multiplies its alpha.")
        blend = p.optional("blend", .over, "How it mixes with what is below.")
        if isTiled && p.has("avoid") {
            p.problem(at: "avoid", "'avoid' and 'tile: true' exclude each other; what is everywhere avoids nothing")
        }
    }

    package var drawsText: Bool { stages.drawsText }
    package var texts: [TextTemplate] { stages.texts }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        let asset: PixelSize
        let steps: [PlannedStage]
        /// Pixels per point of what is drawn.
        let scale: Double
        let box: PixelBox
        let assetName: String
        let isTiled: Bool

        package var footprint: Footprint {
            var footprint = Footprint.unmoved
            footprint.drawings = [Footprint.Drawing(assetName, Polygon(box))]
            if isTiled { footprint.note = "repeats '\(assetName)' over all of the picture; one of them is drawn" }
            return footprint
        }
        package var note: String { "overlay \(box)" }
        package var warnings: [Warning] { steps.flatMap(\.plan.warnings) }
        package let isStreaming: Bool
        package let intermediates: [PictureInfo]
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        let asset = try context.geometry(of: image, stage: Self.name)
        // What is drawn has as many pixels in a point as what it is drawn on.
        let scale = input.pixelsPerPoint
        let steps = try stages.plan(asset, in: context, scale: scale)
        let drawn = steps.last?.output ?? asset
        var output = input
        output.hasAlpha = input.hasAlpha || blend.canClear
        try output.hold(drawn.colour, drawnBy: Self.name)
        let size = try place.size(of: drawn, on: input.size, scale: scale, stage: Self.name)
        let box = try place.box(of: size, on: input.size, scale: scale, stage: Self.name)
        let mixed = blend.mixed(over: isTiled ? input.size : box.size, frames: input.frames)
        let kept = drawn.resized(to: box.size)
        let intermediates = (steps.isEmpty ? [] : [asset]) + steps.intermediates + [kept] + mixed
        return Plan(
            output: output, asset: asset.size, steps: steps, scale: scale, box: box, assetName: image.fileName,
            isTiled: isTiled, isStreaming: !blend.mixesInMemory, intermediates: intermediates)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let base = try picture.promoted(to: plan.output.colour)
        var drawn = try drawnPicture(plan, context).addingAlpha()
        var box = plan.box
        if isTiled {
            let phase = PixelOffset(
                positive(-box.offset.x, modulo: box.size.width), positive(-box.offset.y, modulo: box.size.height))
            box = PixelBox(PixelOffset(0, 0), base.size)
            drawn = try drawn.repeated(from: phase, over: box.size)
        }
        return try base.drawing(drawn, alpha: alpha, at: box.offset, by: blend, keepsAlpha: plan.output.hasAlpha)
    }

    private func drawnPicture(_ plan: Plan, _ context: RenderContext) throws -> Picture {
        if stages.isEmpty { return try context.assets.picture(image, size: plan.box.size) }
        return try stages.picture(context, scale: plan.scale, size: plan.box.size) {
            let asset = try context.assets.picture(image, size: plan.asset).addingAlpha()
            return try plan.steps.render(asset, in: context).scaled(to: plan.box.size)
        }
    }
}
