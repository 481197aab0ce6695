import Kernels
package import Pipeline
import Vips

/// Draws a soft shadow below the picture.
package struct Shadow: Stage {
    package static let name = "shadow"
    package static let summary =
        "Draws a soft shadow of the picture's shape below it; the picture becomes larger by what the shadow needs."
    package static let example = """
        - shadow: { offset: { y: 6 }, blur: 24, color: "#00000066" }
        """

    let offset: Offset
    let blur: Distance
    let color: Color

    package init(_ p: inout Parameters) {
        offset = p.optional(
            "offset", .zero,
            "How far the shadow is from the picture; positive is to the right and down. Percentages are of the shorter side."
        )
        blur = p.optional(
            "blur", Distance(.points(12)),
            "How soft its edge is, as in CSS: twice the standard deviation of a Gaussian; 0 is sharp. A percentage is of the shorter side."
        )
        color = p.optional(
            "color", Color(red: 0, green: 0, blue: 0, alpha: 0.5), "Its color; its own alpha counts too.")
    }

    package struct Plan: StagePlan {
        package var gainMapEffect: GainMapEffect { .follows }
        package let output: PictureInfo
        /// Where the picture is in the result.
        let picture: PixelOffset
        /// Where its shadow is, before it is blurred.
        let shadow: PixelOffset
        /// Pixels.
        let sigma: Double
        let ink: Ink
        package let intermediates: [PictureInfo]
        package var footprint: Footprint { Footprint(AffineMap(dx: Double(-picture.x), dy: Double(-picture.y))) }
        package var note: String { "picture at \(picture)" }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        let (side, scale) = (min(input.size.width, input.size.height), input.pixelsPerPoint)
        let sigma = min(try blur.exactPixels(of: side, scale: scale, "blur", in: Self.name) / 2, Blur.mostSigma)
        // Beyond three standard deviations a shadow has less than half a step of 255.
        let reach = Int((3 * sigma).rounded(.up))
        let (right, down) = (offset.x.pixels(of: side, scale: scale), offset.y.pixels(of: side, scale: scale))
        let picture = PixelOffset(max(0, reach - right), max(0, reach - down))
        var output = input.resized(
            to: PixelSize(
                input.size.width + picture.x + max(0, reach + right),
                input.size.height + picture.y + max(0, reach + down)))
        let ink = try output.ink(color, for: Self.name)
        output.hasAlpha = true
        let mask = PictureInfo(size: output.size, frames: output.frames, colour: .grey, depth: .sixteen)
        let held = Blur.held(mask, sigma: sigma)
        var drawn = output.resized(to: input.size)
        drawn.hasAlpha = input.hasAlpha
        return Plan(
            output: output, picture: picture, shadow: PixelOffset(picture.x + right, picture.y + down), sigma: sigma,
            ink: ink, intermediates: (input.hasAlpha ? [drawn] : []) + held)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let promoted = try picture.promoted(to: plan.output.colour)
        // The shadow of a picture without alpha is that of a rectangle. That of another one needs all of its rows before
        // the first one is drawn.
        let drawn = promoted.hasAlpha ? try promoted.inMemory() : promoted
        let size = plan.output.size
        // In 16 bits, since 8 bits would be rounded at each step to a small picture and back, which together shows.
        let white = Double(UInt16.max)
        let full = try Image.black(width: drawn.width, height: drawn.height, bands: 1).linear([0], [white])
        let alpha = try drawn.alpha?.linear([white / drawn.white], [0]) ?? full
        let shape = try alpha.rint().cast(.ushort).embed(
            x: plan.shadow.x, y: plan.shadow.y, width: size.width, height: size.height, background: [0])
        // The usual end of the curve, at a fiftieth, would show as an edge of one step. And libvips' way to enlarge, which
        // would need no memory, puts everything half a pixel too far to the right and down.
        let soft =
            plan.sigma < 0.2
            ? shape
            : try shape.shrunkAndBlurred(sigma: plan.sigma, leastAmplitude: 0.003).scaled(to: size, kernel: .cubic)
        let colors = try drawn.components(of: plan.ink) + [drawn.white]
        let shadow = try soft.linear([color.alpha / white], [0]).linear(
            colors, Array(repeating: 0, count: colors.count))
        return try drawn.addingAlpha().onCanvas(size, at: plan.picture).composited(over: shadow)
    }
}
