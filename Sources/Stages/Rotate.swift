import Glibc
package import Pipeline
import Vips

/// Turns the picture clockwise. The result is as large as the turned picture needs.
package struct Rotate: Stage {
    package static let name = "rotate"
    package static let summary = "Turns the picture clockwise; the result is as large as the turned picture needs."
    package static let example = """
        - rotate: { angle: 90 }
        """

    /// Degrees, 0 up to but not including 360.
    let angle: Double
    let background: Color

    package init(_ p: inout Parameters) {
        let given = p.required(
            "angle", in: -360.0...360.0, "Degrees clockwise; steps of 90 move pixels without changing them.")
        background = p.optional("background", .transparent, "What fills the corners of other angles.")
        let turned = given.truncatingRemainder(dividingBy: 360)
        angle = turned < 0 ? turned + 360 : turned
    }

    package struct Plan: StagePlan {
        package var gainMapEffect: GainMapEffect { .follows }
        package let output: PictureInfo
        package let footprint: Footprint
        /// The background that fills the corners; nil for a quarter turn, which has none.
        let background: Ink?

        private var isQuarterTurn: Bool { background == nil }
        package var sizeDependence: SizeDependence { isQuarterTurn ? .anySize : .sourcePixels }
        package var isStreaming: Bool { false }
        package var intermediates: [PictureInfo] { isQuarterTurn ? [] : [output] }
        package var isResultHeld: Bool { !isQuarterTurn }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        guard quarterTurns == nil else {
            let isUpright = angle == 0 || angle == 180
            let size = isUpright ? input.size : input.size.transposed
            return Plan(
                output: input.resized(to: size), footprint: footprint(from: input.size, to: size), background: nil)
        }
        let (sine, cosine) = (abs(sin(radians)), abs(cos(radians)))
        let (width, height) = (Double(input.size.width), Double(input.size.height))
        var output = input.resized(
            to: PixelSize(rounded(width * cosine + height * sine), rounded(width * sine + height * cosine)))
        output.hasAlpha = input.hasAlpha || !background.isOpaque
        let ink = try output.ink(background, for: Self.name)
        return Plan(output: output, footprint: footprint(from: input.size, to: output.size), background: ink)
    }

    /// Turns back about the centre.
    private func footprint(from old: PixelSize, to new: PixelSize) -> Footprint {
        let (sine, cosine) = (sin(radians), cos(radians))
        let centre = PlanePoint(Double(new.width) / 2, Double(new.height) / 2)
        let turned = AffineMap(a: cosine, b: sine, c: -sine, d: cosine)(centre)
        return Footprint(
            AffineMap(
                a: cosine, b: sine, c: -sine, d: cosine, dx: Double(old.width) / 2 - turned.x,
                dy: Double(old.height) / 2 - turned.y))
    }

    private var radians: Double { angle * .pi / 180 }

    /// A turn by a multiple of 90°; nil for other angles.
    private var quarterTurns: Angle? {
        switch angle {
        case 0: .d0
        case 90: .d90
        case 180: .d180
        case 270: .d270
        default: nil
        }
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        guard let ink = plan.background else {
            guard let quarterTurns, angle != 0 else { return picture }
            return picture.with(try picture.image.rot(quarterTurns))
        }
        let coloured = try picture.promoted(to: plan.output.colour)
        let drawn = plan.output.hasAlpha ? try coloured.addingAlpha() : coloured
        let alpha = drawn.hasAlpha ? ink.color.alpha : 1
        let edge =
            try drawn.components(of: ink).map { $0 * alpha } + (drawn.hasAlpha ? [alpha * drawn.white] : [])
        // Held: each row is made of a large part of the old picture, so that what reads by rows would compute that part
        // again and again.
        return try drawn.premultiplied { try turned($0, to: plan.output.size, background: edge) }.inMemory()
    }

    /// Turns about the centre: the centre of the old picture becomes that of the new one.
    private func turned(_ image: Image, to size: PixelSize, background: [Double]) throws -> Image {
        let (sine, cosine) = (sin(radians), cos(radians))
        // libvips counts from the centre of the first pixel.
        let oldCentre = (x: Double(image.width - 1) / 2, y: Double(image.height - 1) / 2)
        let newCentre = (x: Double(size.width - 1) / 2, y: Double(size.height - 1) / 2)
        let odx = newCentre.x - (cosine * oldCentre.x - sine * oldCentre.y)
        let ody = newCentre.y - (sine * oldCentre.x + cosine * oldCentre.y)
        return try image.affine(
            matrix: [cosine, -sine, sine, cosine], shift: (odx, ody), width: size.width, height: size.height,
            background: background)
    }
}
