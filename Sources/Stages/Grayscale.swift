package import Pipeline
import Vips

/// Removes the colours.
package struct Grayscale: Stage {
    package static let name = "grayscale"
    package static let summary = "Removes the colors."
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
        if input.colour != .grey { output.keepsProfile = false }
        return Plan(output: output)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        try picture.withoutColors()
    }
}

extension Picture {
    /// The lightness alone, as sRGB's gray; itself if it is gray.
    func withoutColors() throws -> Picture {
        guard !isGrey else { return self }
        let gray = PixelFormat(.grey, pixels.depth, hasAlpha: hasAlpha)
        return try converted(to: gray) { colours in
            let standard =
                profile == nil ? colours : try colours.iccTransform(to: .srgb, depth: 8 * pixels.depth.bytes)
            return try standard.colourspace(gray.interpretation)
        }
    }
}
