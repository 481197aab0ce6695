package import Pipeline
package import Vips

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
        if isTiled && p.has("avoid") { p.problem(at: "avoid", "'avoid' and 'tile: true' exclude each other; what is everywhere avoids nothing") }
    }

    package struct Plan: StagePlan {
        package let output: Geometry
        let asset: PixelSize
        let steps: [Step]
        let box: PixelBox
        /// The asset's.
        let depth: BitDepth

        package var note: String { "overlay \(box)" }
        package var largestSize: PixelSize { box.size }
        package var nested: [Step] { steps }
        /// The asset at its size; kept for the next picture.
        package var heldBytes: Int { 4 * depth.bytes * box.size.area + steps.heldBytes }
    }

    package func plan(_ input: Geometry, in context: PlanContext) throws(PlanFailure) -> Plan {
        let asset = try context.geometry(of: image, stage: Self.name)
        let steps = try stages.plan(asset, in: context)
        let drawn = steps.last?.output ?? asset
        var output = input
        output.hasAlpha = input.hasAlpha || blend.canClear
        output.colour = try input.colour(drawing: drawn.colour == .grey ? [] : [.anyColour], stage: Self.name)
        let size = place.size(of: drawn, on: input.size, scale: context.scale)
        let box = try place.box(of: size, on: input.size, scale: context.scale, stage: Self.name)
        return Plan(output: output, asset: asset.size, steps: steps, box: box, depth: asset.depth)
    }

    package func render(_ image: Image, following plan: Plan, in context: RenderContext) throws -> Image {
        let base = try image.inColour(plan.output.colour)
        var drawn = try picture(plan, context).addingAlpha()
        var box = plan.box
        if isTiled {
            let phase = PixelOffset(positive(-box.offset.x, modulo: box.size.width), positive(-box.offset.y, modulo: box.size.height))
            box = PixelBox(PixelOffset(0, 0), PixelSize(base.width, base.height))
            drawn = try drawn.repeated(from: phase, over: box.size)
        }
        return try base.drawing(drawn, alpha: alpha, at: box.offset, by: blend, keepsAlpha: plan.output.hasAlpha)
    }

    private func picture(_ plan: Plan, _ context: RenderContext) throws -> Image {
        if stages.isEmpty { return try context.assets.image(image, size: plan.box.size) }
        return try context.assets.image(stages.key(scale: context.scale, size: plan.box.size)) {
            let asset = try context.assets.image(image, size: plan.asset).addingAlpha()
            return try plan.steps.render(asset, in: context).scaled(to: plan.box.size)
        }
    }
}

/// A number's rest that is never negative.
func positive(_ value: Int, modulo length: Int) -> Int { ((value % length) + length) % length }

extension Color {
    /// Stands for colours that are not known, but are no greys.
    static let anyColour = Color(red: 255, green: 0, blue: 0)
}
