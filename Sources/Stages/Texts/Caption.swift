package import Pipeline
import Vips

/// Adds a strip to the picture and draws a text in it.
package struct Caption: Stage {
    package static let name = "caption"
    package static let summary = "Adds a strip above or below the picture, and draws a text in it."
    package static let example = """
        - caption: { text: "{caption|A picture}", size: 16, padding: 8, strip: white }
        """

    enum Edge: String, ParameterWord { case top, bottom }

    let text: TextDeclaration
    let edge: Edge
    let height: PositiveLength?
    let strip: Color
    let anchor: Anchor
    let inset: Offset

    package init(_ p: inout Parameters) {
        text = TextDeclaration(&p)
        edge = p.optional("edge", .bottom, "Where the strip is.")
        height = p.optional(
            "height",
            "The strip's height; a percentage is of the picture's. Default: room for `max-lines` lines (as many as are written, if it is not given) with `padding` above and below, whatever the text is."
        )
        strip = p.optional("strip", .white, "The color of the strip.")
        anchor = p.optional("anchor", .center, "Where in the strip the text's box sits.")
        inset = p.optional(
            "inset", .zero,
            "How far the text's box is moved from the anchored edges inwards; from the center right and down.")
    }

    package var drawsText: Bool { true }
    package var texts: [TextTemplate] { [text.text] }

    package struct Plan: StagePlan {
        package var gainMapEffect: GainMapEffect { .draws }
        package let output: PictureInfo
        let text: TextPlan
        /// Where the picture is.
        let offset: PixelOffset
        let strip: Ink

        package var footprint: Footprint { Footprint(AffineMap(dx: Double(-offset.x), dy: Double(-offset.y))) }
        package var note: String { text.note }
        package var warnings: [Warning] { text.warnings }
        package let intermediates: [PictureInfo]
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        let scale = input.pixelsPerPoint
        let side = min(input.size.width, input.size.height)
        let line = try text.size.exactPixels(of: side, scale: scale, "size", in: Self.name) * text.lineSpacing
        let padding = try text.padding.pixels(of: side, scale: scale, "padding", in: Self.name)
        let lines = (line * Double(text.maxLines ?? text.writtenLines)).rounded(.up)
        let usual = Int(min(lines, Double(maximumCoordinate))) + 2 * padding
        let pixels = max(1, try height?.pixels(of: input.size.height, scale: scale, "height", in: Self.name) ?? usual)
        var output = input.resized(to: PixelSize(input.size.width, input.size.height + pixels))
        let ink = try output.ink(strip, for: Self.name)
        output.hasAlpha = input.hasAlpha || !strip.isOpaque
        let (across, down) = (min(padding, (input.size.width - 1) / 2), min(padding, (pixels - 1) / 2))
        let area = PixelBox(
            PixelOffset(across, (edge == .top ? 0 : input.size.height) + down),
            PixelSize(input.size.width - 2 * across, pixels - 2 * down))
        // A strip whose height follows from its lines has room for no others.
        var text = text
        if height == nil { text.maxLines = text.maxLines ?? text.writtenLines }
        // Lengths are those of the picture, as everywhere.
        var drawn = output.resized(to: input.size)
        let place = TextPlace(area: area, anchor: anchor, inset: inset, isPadded: true)
        let plan = try text.plan(on: &drawn, at: place, context, for: Self.name)
        output.pixels = drawn.pixels
        return Plan(
            output: output, text: plan, offset: PixelOffset(0, edge == .top ? pixels : 0), strip: ink,
            intermediates: plan.intermediates(on: output))
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        var canvas = try picture.promoted(to: plan.output.colour)
        if plan.output.hasAlpha { canvas = try canvas.addingAlpha() }
        canvas = try canvas.onCanvas(plan.output.size, at: plan.offset, background: plan.strip)
        return try plan.text.draw(
            on: canvas, stage: Self.name, keepsAlpha: plan.output.hasAlpha, in: context)
    }
}
