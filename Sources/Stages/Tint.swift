package import Pipeline

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
        package let output: PictureInfo
        let ink: Ink
        package let warnings: [Warning]
        package var sizeDependence: SizeDependence { .anySize }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        var output = input
        output.hasAlpha = input.hasAlpha || !color.isOpaque
        let ink = try output.ink(color, for: Self.name)
        let shapeless = Warning(
            .tintWithoutShape,
            "'tint' fills all of the picture with one color, because the picture has no transparency")
        return Plan(output: output, ink: ink, warnings: input.hasAlpha ? [] : [shapeless])
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        try picture.promoted(to: plan.output.colour).painted(in: plan.ink).multiplyingAlpha(by: color.alpha)
    }
}
