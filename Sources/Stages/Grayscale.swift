package import Pipeline
package import Vips

/// Removes the colours.
package struct Grayscale: Stage {
    package static let name = "grayscale"
    package static let summary = "Removes the colors."
    package static let example = """
        - grayscale
        """

    package init(_ p: inout Parameters) {}

    package struct Plan: StagePlan {
        package let output: Geometry
        package var footing: Footing { .anySize }
    }

    package func plan(_ input: Geometry, in context: PlanContext) throws(PlanFailure) -> Plan {
        var output = input
        output.colour = .grey
        // The grey of an RGB profile has no profile of its own; it becomes the grey of sRGB.
        if input.colour != .grey { output.keepsProfile = false }
        return Plan(output: output)
    }

    package func render(_ image: Image, following plan: Plan, in context: RenderContext) throws -> Image {
        guard !image.isGrey else { return image }
        let depth = image.format == .ushort ? 16 : 8
        let standard = image.keptProfile == nil ? image : try image.iccTransform(to: "srgb", depth: depth)
        return try standard.colourspace(depth == 16 ? "grey16" : "b-w").editingMetadata { $0.remove("icc-profile-data") }
    }
}
