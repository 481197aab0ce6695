package import Pipeline

/// Composites the picture onto a colour and drops its alpha channel.
package struct Flatten: Stage {
    package static let name = "flatten"
    package static let summary = "Composites the picture onto a color and drops the alpha channel."
    package static let example = """
        - flatten: { background: white }
        """

    let background: Color

    package init(_ p: inout Parameters) {
        background = p.optional("background", .white, "The color below the picture.")
        if !background.isOpaque { p.problem(at: "background", "'flatten' needs an opaque 'background'") }
    }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        package var sizeDependence: SizeDependence { .anySize }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        guard input.hasAlpha else { return Plan(output: input) }
        var output = input
        output.hasAlpha = false
        output.colour = try input.colour(drawing: [background], stage: Self.name)
        return Plan(output: output)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        try picture.promoted(to: plan.output.colour).flattened(onto: background)
    }
}
