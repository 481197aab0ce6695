package import Pipeline

/// Composites the picture onto a colour and drops its alpha channel.
package struct Flatten: Stage {
    package static let name = "flatten"
    package static let summary = "Composites the picture onto a color and drops the alpha channel."
    package static let example = """
        - flatten: { background: white }
        """

    let background: OpaqueColor

    package init(_ p: inout Parameters) {
        background = p.optional("background", OpaqueColor(.white), "The color below the picture.")
    }

    package struct Plan: StagePlan {
        /// The color is seen through what is transparent.
        package var gainMapEffect: GainMapEffect { background == nil ? .follows : .draws }
        package let output: PictureInfo
        /// Nil if there is no alpha to drop.
        let background: Ink?
        package var sizeDependence: SizeDependence { .anySize }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        guard input.hasAlpha else { return Plan(output: input, background: nil) }
        var output = input
        output.hasAlpha = false
        let ink = try output.ink(background.color, for: Self.name)
        return Plan(output: output, background: ink)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        guard let background = plan.background else { return picture }
        return try picture.promoted(to: plan.output.colour).flattened(onto: background)
    }
}
