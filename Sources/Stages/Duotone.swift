package import Pipeline
import Vips

/// Draws the picture's lightness in shades between two colors.
package struct Duotone: Stage {
    package static let name = "duotone"
    package static let summary = "Draws the picture in two colors: one for what is dark, one for what is light."
    package static let example = """
        - duotone: { dark: "#1b2a6b", light: "#ffe9c9" }
        """

    let dark: OpaqueColor
    let light: OpaqueColor

    package init(_ p: inout Parameters) {
        dark = p.required("dark", "What black becomes.")
        light = p.required(
            "light", "What white becomes; in between, sRGB's numbers are mixed by the gray that `grayscale` makes.")
    }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        let dark: Ink
        let light: Ink
        package var sizeDependence: SizeDependence { .anySize }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        var output = input
        let dark = try output.ink(dark.color, for: Self.name)
        let light = try output.ink(light.color, for: Self.name)
        return Plan(output: output, dark: dark, light: light)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let result = try picture.promoted(to: plan.output.colour)
        let (dark, light) = (try result.components(of: plan.dark), try result.components(of: plan.light))
        let top = Int(result.white)
        let tables = zip(dark, light).map { dark, light in
            (0...top).map { (dark + (light - dark) * Double($0) / Double(top)).rounded() }
        }
        let gray = try picture.withoutColors().droppingAlpha().image
        return try result.onColours {
            try gray.maplut(tables, $0.image.format).copy(interpretation: result.pixels.interpretation)
        }
    }
}
