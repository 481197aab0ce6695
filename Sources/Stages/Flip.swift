package import Pipeline
import Vips

/// Mirrors the picture.
package struct Flip: Stage {
    package static let name = "flip"
    package static let summary = "Mirrors the picture."
    package static let example = """
        - flip: { axis: horizontal }
        """

    package enum Axis: String, ParameterWord { case horizontal, vertical }

    let axis: Axis

    package init(_ p: inout Parameters) {
        axis = p.required("axis", "horizontal swaps left and right, vertical swaps top and bottom.")
    }

    package struct Plan: StagePlan {
        package var gainMapEffect: GainMapEffect { .follows }
        package let output: PictureInfo
        package let footprint: Footprint
        package let isStreaming: Bool

        package var sizeDependence: SizeDependence { .anySize }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        let (width, height) = (Double(input.size.width), Double(input.size.height))
        let map = axis == .horizontal ? AffineMap(a: -1, dx: width) : AffineMap(d: -1, dy: height)
        return Plan(output: input, footprint: Footprint(map), isStreaming: axis == .horizontal)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        picture.with(try picture.image.flip(axis == .horizontal ? .horizontal : .vertical))
    }
}
