package import Pipeline
import Vips

/// Draws a border along the edges, or around the picture.
package struct Border: Stage {
    package static let name = "border"
    package static let summary = "Draws a border along the picture's edges, or around it."
    package static let example = """
        - border: { width: 2%, color: white, grow: true }
        """

    let width: PositiveLength
    let color: Color
    let grows: Bool
    let cornerRadius: PositiveLength?

    package init(_ p: inout Parameters) {
        width = p.required("width", "How wide it is; a percentage is of the picture's shorter side.")
        color = p.optional("color", .black, "Its color; if it is transparent, the picture shows through.")
        grows = p.optional(
            "grow", false, "true: it is drawn around the picture, which becomes larger; false: on the picture.")
        cornerRadius = p.optional(
            "corner-radius",
            "The radius of its outer corners, at most half the shorter side; outside of them the picture is transparent. A percentage is of the shorter side."
        )
    }

    package struct Plan: StagePlan {
        package var gainMapEffect: GainMapEffect { .draws }
        package let output: PictureInfo
        /// The box within the border.
        let inner: PixelBox
        /// Where the incoming picture is.
        let offset: PixelOffset
        /// The radius of the outer corners, in pixels; need not be whole.
        let radius: Double
        /// That of the inner corners.
        let innerRadius: Double
        let ink: Ink

        package var intermediates: [PictureInfo] {
            let mask = PictureInfo(size: output.size, frames: output.frames, colour: .grey)
            return [mask, mask]
        }
        package var footprint: Footprint { Footprint(AffineMap(dx: Double(-offset.x), dy: Double(-offset.y))) }
        package var note: String { "\(inner.size) within it" }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        let side = min(input.size.width, input.size.height)
        let pixels = try width.pixels(of: side, scale: input.pixelsPerPoint, "width", in: Self.name)
        let margin = grows ? pixels : 0
        let size = PixelSize(input.size.width + 2 * margin, input.size.height + 2 * margin)
        let (left, below) = (size.width - 2 * pixels, size.height - 2 * pixels)
        guard left > 0, below > 0 else {
            throw PlanFailure(
                .emptyResult, stage: Self.name,
                "the border of \(pixels) pixels covers all of the picture of \(input.size); nothing would be left; "
                    + "make it narrower, or draw it around the picture with 'grow: true'")
        }
        var output = input.resized(to: size)
        let ink = try output.ink(color, for: Self.name)
        let shorter = min(size.width, size.height)
        let wanted =
            try cornerRadius?.exactPixels(of: shorter, scale: input.pixelsPerPoint, "corner-radius", in: Self.name) ?? 0
        let radius = min(wanted, Double(shorter) / 2)
        output.hasAlpha = input.hasAlpha || radius > 0 || (grows && !color.isOpaque)
        return Plan(
            output: output, inner: PixelBox(PixelOffset(pixels, pixels), PixelSize(left, below)),
            offset: PixelOffset(margin, margin),
            radius: radius, innerRadius: max(0, radius - Double(pixels)), ink: ink)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let size = plan.output.size
        var drawn = try picture.promoted(to: plan.output.colour)
        if plan.output.hasAlpha { drawn = try drawn.addingAlpha() }
        if drawn.size != size {
            // An opaque border covers it; through another one nothing is to be seen.
            drawn = try drawn.onCanvas(size, at: plan.offset)
        }
        let inner = Mask.coverage(of: size, box: plan.inner, PixelCorners(plan.innerRadius))
        let bordered = try drawn.painted(
            over: plan.ink, outside: Image(bytes: inner, width: size.width, height: size.height, bands: 1))
        guard plan.radius > 0 else { return bordered }
        let whole = Mask.coverage(of: size, box: PixelBox(PixelOffset(0, 0), size), PixelCorners(plan.radius))
        return try bordered.multiplyingAlpha(by: Image(bytes: whole, width: size.width, height: size.height, bands: 1))
    }
}

extension Picture {
    /// A color painted over the picture where a mask is not.
    /// - Parameter mask: one band of 8 bits; what it covers stays.
    fileprivate func painted(over ink: Ink, outside mask: Image) throws -> Picture {
        let color = try components(of: ink) + [white]
        // How much of each pixel the color takes.
        let share = try mask.linear([-ink.color.alpha / 255], [ink.color.alpha])
        return try composited(under: share.linear(color, Array(repeating: 0, count: color.count)))
    }
}
