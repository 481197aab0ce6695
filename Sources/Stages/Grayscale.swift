package import Pipeline
import Vips

/// Removes the colours.
package struct Grayscale: Stage {
    package static let name = "grayscale"
    package static let summary =
        "Removes the colors; each pixel keeps its light, of which green makes most, red less and blue least (Rec. 709, in linear light)."
    package static let example = """
        - grayscale
        """

    package init(_ p: inout Parameters) {}

    package struct Plan: StagePlan {
        package let output: PictureInfo
        package var sizeDependence: SizeDependence { .anySize }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        var output = input
        output.colour = .grey
        // The grey of an RGB profile has no profile of its own; it becomes the grey of sRGB.
        if input.colour != .grey { output.hasProfile = false }
        return Plan(output: output)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        try picture.withoutColors()
    }
}
