package import Pipeline

/// Adds a margin around the picture, or cuts one off.
package struct Inset: Stage {
    package static let name = "inset"
    package static let summary = "Adds a margin; a negative one is cut off."
    package static let example = """
        - inset: { all: 2%, background: white }
        """

    let margins: EdgeInsets
    let background: Color

    package init(_ p: inout Parameters) {
        margins = EdgeInsets(signed: &p)
        background = p.optional("background", .transparent, "The color of the margin.")
        p.problem(
            withoutAnyOf: ["all", "top", "leading", "bottom", "trailing"],
            "stage 'inset' needs 'all', 'top', 'leading', 'bottom' or 'trailing'")
    }

    package struct Plan: StagePlan {
        package var gainMapEffect: GainMapEffect { .follows }
        package let output: PictureInfo
        /// The part of the picture that is left after the negative margins.
        let kept: PixelBox
        /// Its place in the result.
        let offset: PixelOffset
        /// The colour of the margin; nil if there is none.
        let background: Ink?

        package var footprint: Footprint {
            Footprint(AffineMap(dx: Double(kept.offset.x - offset.x), dy: Double(kept.offset.y - offset.y)))
        }
        package var note: String { "picture of \(kept.size) at \(offset)" }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        let picture = input.size
        let margin = margins.pixels(of: picture, scale: input.pixelsPerPoint)
        let keptWidth = picture.width + min(0, margin.left) + min(0, margin.right)
        let keptHeight = picture.height + min(0, margin.top) + min(0, margin.bottom)
        guard keptWidth > 0, keptHeight > 0 else {
            throw PlanFailure(
                .emptyResult, stage: Self.name,
                "the margins cut all of the picture of \(picture); nothing would be left")
        }
        let kept = PixelBox(PixelOffset(max(0, -margin.left), max(0, -margin.top)), PixelSize(keptWidth, keptHeight))
        let size = PixelSize(
            keptWidth + max(0, margin.left) + max(0, margin.right),
            keptHeight + max(0, margin.top) + max(0, margin.bottom))
        var output = input.resized(to: size)
        var ink: Ink?
        if size != kept.size {
            ink = try output.ink(background, for: Self.name)
            output.hasAlpha = input.hasAlpha || !background.isOpaque
        }
        return Plan(
            output: output, kept: kept, offset: PixelOffset(max(0, margin.left), max(0, margin.top)), background: ink)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let kept = try picture.promoted(to: plan.output.colour).cropped(to: plan.kept)
        guard let background = plan.background else { return kept }
        let drawn = plan.output.hasAlpha ? try kept.addingAlpha() : kept
        return try drawn.onCanvas(plan.output.size, at: plan.offset, background: background)
    }
}
