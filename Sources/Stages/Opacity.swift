package import Pipeline

/// Multiplies the alpha of every pixel.
package struct Opacity: Stage {
    package static let name = "opacity"
    package static let summary = "Makes the picture more transparent: multiplies the alpha of every pixel."
    package static let example = """
        - opacity: { alpha: 0.6 }
        """

    let alpha: Double

    package init(_ p: inout Parameters) {
        alpha = p.required("alpha", in: 0.0...1.0, "The factor: 0 is invisible, 1 changes nothing.")
    }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        package var sizeDependence: SizeDependence { .anySize }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        var output = input
        output.hasAlpha = input.hasAlpha || alpha < 1
        return Plan(output: output)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        try picture.multiplyingAlpha(by: alpha)
    }
}
