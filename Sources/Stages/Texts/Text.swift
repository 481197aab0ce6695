package import Pipeline
import Vips

/// Draws a text on the picture, which keeps its size.
package struct Text: Stage {
    package static let name = "text"
    package static let summary = "Draws a text on the picture, which keeps its size: a credit, a title, a watermark."
    package static let example = """
        - text: { text: "© {artist|Jane Doe}", size: 4%, color: white, anchor: bottom-trailing, inset: { x: 2%, y: 2% } }
        """

    let text: TextDeclaration
    var anchor: Anchor
    var inset: Offset
    let isTiled: Bool

    package init(_ p: inout Parameters) {
        text = TextDeclaration(&p)
        anchor = p.optional(
            "anchor", .center, "Where the text's box sits: as wide as its longest line, and as high as its lines.")
        inset = p.optional(
            "inset", .zero,
            "How far the text's box is moved from the anchored edges inwards; from the center right and down.")
        isTiled = p.optional(
            "tile", false,
            "Whether the text and its `padding` are repeated over the whole picture, beginning at its place.")
    }

    package var drawsText: Bool { true }
    package var texts: [TextTemplate] { [text.text] }

    package struct Plan: StagePlan {
        package var gainMapEffect: GainMapEffect { .draws }
        package let output: PictureInfo
        let text: TextPlan

        package var note: String { text.note }
        package var warnings: [Warning] { text.warnings }
        package var changesNothing: Bool { text.isEmpty }
        package let intermediates: [PictureInfo]
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        var output = input
        let place = TextPlace(area: PixelBox(PixelOffset(0, 0), input.size), anchor: anchor, inset: inset)
        let plan = try text.plan(on: &output, at: place, context, for: Self.name)
        let whole = isTiled ? [PictureInfo(size: input.size, hasAlpha: true, colour: output.colour)] : []
        return Plan(output: output, text: plan, intermediates: plan.intermediates(on: output) + whole)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        guard !plan.text.isEmpty else { return picture }
        return try plan.text.draw(
            on: picture.promoted(to: plan.output.colour), stage: Self.name, isTiled: isTiled,
            keepsAlpha: plan.output.hasAlpha, in: context)
    }
}
