package import Pipeline
package import Vips

/// Adds a margin around the picture, or cuts one off.
package struct Inset: Stage {
    package static let name = "inset"
    package static let summary = "Adds a margin; a negative one is cut off."
    package static let example = """
        - inset: { all: 2%, background: white }
        """

    let top, leading, bottom, trailing: Length
    let background: Color

    package init(_ p: inout Parameters) {
        let all: Length? = p.optional("all", "The margin on each side; a percentage is of the width at the sides, of the height above and below.")
        let rest = all ?? .points(0)
        top = p.optional("top", "The margin above; default `all`.") ?? rest
        leading = p.optional("leading", "The margin on the left; default `all`.") ?? rest
        bottom = p.optional("bottom", "The margin below; default `all`.") ?? rest
        trailing = p.optional("trailing", "The margin on the right; default `all`.") ?? rest
        background = p.optional("background", .transparent, "The colour of the margin.")
        if !["all", "top", "leading", "bottom", "trailing"].contains(where: p.has) {
            p.problem("stage 'inset' needs 'all', 'top', 'leading', 'bottom' or 'trailing'")
        }
    }

    package struct Plan: StagePlan {
        package let output: Geometry
        /// What is left of the picture after the negative margins.
        let kept: PixelBox
        /// Where that stands in the result.
        let offset: PixelOffset

        package var note: String { "picture of \(kept.size) at \(offset)" }
    }

    package func plan(_ input: Geometry, in context: PlanContext) throws(PlanFailure) -> Plan {
        let picture = input.size
        let left = leading.pixels(of: picture.width, scale: context.scale)
        let right = trailing.pixels(of: picture.width, scale: context.scale)
        let above = top.pixels(of: picture.height, scale: context.scale)
        let below = bottom.pixels(of: picture.height, scale: context.scale)
        let keptWidth = picture.width + min(0, left) + min(0, right)
        let keptHeight = picture.height + min(0, above) + min(0, below)
        guard keptWidth > 0, keptHeight > 0 else {
            throw PlanFailure(.emptyResult, stage: Self.name, "the margins cut all of the picture of \(picture); nothing would be left")
        }
        let kept = PixelBox(PixelOffset(max(0, -left), max(0, -above)), PixelSize(keptWidth, keptHeight))
        let size = PixelSize(keptWidth + max(0, left) + max(0, right), keptHeight + max(0, above) + max(0, below))
        var output = input.resized(to: size)
        if size != kept.size {
            output.hasAlpha = input.hasAlpha || !background.isOpaque
            output.colour = try input.colour(drawing: [background], stage: Self.name)
        }
        return Plan(output: output, kept: kept, offset: PixelOffset(max(0, left), max(0, above)))
    }

    package func render(_ image: Image, following plan: Plan, in context: RenderContext) throws -> Image {
        let kept = plan.kept
        var picture = try image.inColour(plan.output.colour)
        if kept.size != PixelSize(image.width, image.height) {
            picture = try picture.extractArea(left: kept.offset.x, top: kept.offset.y, width: kept.size.width, height: kept.size.height)
        }
        guard kept.size != plan.output.size else { return picture }
        if plan.output.hasAlpha { picture = try picture.addingAlpha() }
        return try picture.embedded(at: plan.offset, in: plan.output.size, background: context.valuesWithAlpha(of: background, in: picture))
    }
}
