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
        image = p.required(
            "image", "The picture to draw, which may be an SVG; its path is relative to the pipeline file.")
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
        package var gainMapEffect: GainMapEffect { .draws }
        package let output: PictureInfo
        let asset: DrawnAsset
        let box: PixelBox
        let isTiled: Bool

        package var footprint: Footprint {
            var footprint = Footprint.unmoved
            let name = asset.path.fileName
            footprint.drawings = [Footprint.Drawing(name, Polygon(box))]
            if isTiled { footprint.note = "repeats '\(name)' over all of the picture; one of them is drawn" }
            return footprint
        }
        package var note: String { "overlay \(box)" }
        package var warnings: [Warning] { asset.steps.flatMap(\.plan.warnings) }
        package var drawings: [PixelSize] { asset.drawings }
        package let isStreaming: Bool
        package let intermediates: [PictureInfo]
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        // The overlay has as many pixels in a point as the picture that it is drawn on.
        let scale = input.pixelsPerPoint
        let asset = try DrawnAsset(image, stages, on: input, in: context, stage: Self.name) {
            drawn throws(PlanFailure) in
            try place.size(of: drawn, on: input.size, scale: scale, stage: Self.name)
        }
        var output = input
        output.hasAlpha = input.hasAlpha || blend.canClear
        try output.hold(asset.result.colour, drawnBy: Self.name)
        let box = try place.box(of: asset.result.size, on: input.size, scale: scale, stage: Self.name)
        let mixed = blend.mixed(over: isTiled ? input.size : box.size, frames: input.frames)
        return Plan(
            output: output, asset: asset, box: box, isTiled: isTiled, isStreaming: !blend.mixesInMemory,
            intermediates: asset.intermediates + [asset.result] + mixed)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let base = try picture.promoted(to: plan.output.colour)
        var drawn = try plan.asset.picture(in: context).addingAlpha()
        var box = plan.box
        if isTiled {
            let phase = PixelOffset(
                positive(-box.offset.x, modulo: box.size.width), positive(-box.offset.y, modulo: box.size.height))
            box = PixelBox(PixelOffset(0, 0), base.size)
            drawn = try drawn.repeated(from: phase, over: box.size)
        }
        return try base.drawing(drawn, alpha: alpha, at: box.offset, by: blend, keepsAlpha: plan.output.hasAlpha)
    }
}
