package import Pipeline
package import Vips

/// Draws the picture's alpha in one colour, as an app draws a template image.
package struct Tint: Stage {
    package static let name = "tint"
    package static let summary = "Draws the picture's shape (its alpha) in one color, as an app draws a template image."
    package static let example = """
        - tint: { color: "#0a84ff" }
        """

    let color: Color

    package init(_ p: inout Parameters) {
        color = p.required("color", "The color; its own alpha counts too.")
    }

    package struct Plan: StagePlan {
        package let output: Geometry
        package var footing: Footing { .anySize }
    }

    package func plan(_ input: Geometry, in context: PlanContext) throws(PlanFailure) -> Plan {
        var output = input
        output.hasAlpha = input.hasAlpha || !color.isOpaque
        output.colour = try input.colour(drawing: [color], stage: Self.name)
        return Plan(output: output)
    }

    package func render(_ image: Image, following plan: Plan, in context: RenderContext) throws -> Image {
        let picture = try image.inColour(plan.output.colour)
        let bands = picture.bands - (picture.hasAlpha ? 1 : 0)
        let colours = try context.values(of: color, in: picture)
        let keepAlpha: [Double] = picture.hasAlpha ? [1] : []
        let factors = Array(repeating: 0.0, count: bands) + keepAlpha
        let offsets = colours + keepAlpha.map { _ in 0 }
        let painted = try picture.linear(factors, offsets).rint().cast(picture.format).copy(interpretation: picture.interpretation)
        return try painted.multiplyingAlpha(by: color.alpha)
    }
}
