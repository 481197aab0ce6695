import Glibc
package import Pipeline
import Vips

/// Rounds the corners, cuts a circle, or takes another picture's alpha. What is cut becomes transparent.
package struct Mask: Stage {
    package static let name = "mask"
    package static let summary =
        "Rounds the corners, cuts a circle, or takes another picture's alpha; what is cut becomes transparent."
    package static let example = """
        - mask: { corner-radius: 12 }
        """

    package enum Shape: String, ParameterWord { case circle }

    let cornerRadius: PositiveLength?
    let shape: Shape?
    let image: AssetPath?

    package init(_ p: inout Parameters) {
        cornerRadius = p.optional(
            "corner-radius",
            "The radius of the corners, at most half the shorter side; a percentage is of the shorter side.")
        shape = p.optional("shape", "circle: the largest circle in the middle of the picture.")
        image = p.optional(
            "image",
            "A picture that is stretched over this one and whose alpha it takes, or its lightness where it has no alpha."
        )
        switch [cornerRadius != nil, shape != nil, image != nil].filter({ $0 }).count {
        case 0: p.problem("stage 'mask' needs 'corner-radius', 'shape' or 'image'")
        case 1: break
        default:
            let last = image != nil ? "image" : "shape"
            p.problem(at: last, "'corner-radius', 'shape' and 'image' exclude each other; write one of them")
        }
    }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        /// The rounded rectangle that stays.
        let box: PixelBox
        /// Pixels; need not be whole.
        let radius: Double

        package var intermediates: [PictureInfo] {
            if isPicture { return [PictureInfo(size: output.size, hasAlpha: true)] }
            // The mask as it is worked out, and as libvips has it.
            let mask = PictureInfo(size: output.size, frames: output.frames, colour: .grey)
            return [mask, mask]
        }
        package var note: String { isPicture ? "masked by a picture" : "radius \(writtenRadius)" }
        fileprivate let isPicture: Bool
        private var writtenRadius: String { radius == radius.rounded() ? String(Int(radius)) : String(radius) }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        var output = input
        output.hasAlpha = true
        let side = min(input.size.width, input.size.height)
        let whole = PixelBox(PixelOffset(0, 0), input.size)
        if image != nil { return Plan(output: output, box: whole, radius: 0, isPicture: true) }
        if shape == .circle {
            let square = PixelSize(side, side)
            return Plan(
                output: output, box: PixelBox(Anchor.center.offset(of: square, in: input.size), square),
                radius: Double(side) / 2, isPicture: false)
        }
        let radius = cornerRadius?.length.exactPixels(of: side, scale: input.pixelsPerPoint) ?? 0
        return Plan(output: output, box: whole, radius: min(radius, Double(side) / 2), isPicture: false)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let size = plan.output.size
        if let asset = self.image {
            let mask = try context.assets.picture(asset, size: size)
            return try picture.multiplyingAlpha(by: mask.coverage, full: mask.white)
        }
        let coverage = Self.coverage(of: size, box: plan.box, radius: plan.radius)
        return try picture.multiplyingAlpha(
            by: Image(bytes: coverage, width: size.width, height: size.height, bands: 1))
    }

    /// How much of each pixel lies in the rounded rectangle, 0…255, row by row.
    static func coverage(of size: PixelSize, box: PixelBox, radius: Double) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size.area)
        let (left, top) = (box.offset.x, box.offset.y)
        let rows = max(0, top)..<min(size.height, top + box.size.height)
        let columns = max(0, left)..<min(size.width, left + box.size.width)
        let corner = Int(radius.rounded(.up))
        for y in rows {
            let vertical = distance(of: y - top, side: box.size.height, radius: radius)
            for x in columns {
                // Only the corners have pixels that are covered in part.
                let fromEdge = min(x - left, left + box.size.width - 1 - x)
                let isInside = vertical == 0 || fromEdge >= corner
                let horizontal = isInside ? 0 : distance(of: x - left, side: box.size.width, radius: radius)
                let share = isInside || horizontal == 0 ? 1 : min(max(radius + 0.5 - hypot(horizontal, vertical), 0), 1)
                bytes[y * size.width + x] = UInt8((share * 255).rounded())
            }
        }
        return bytes
    }

    /// How far a pixel's centre lies beyond the centre of the nearest corner's circle, along one axis; 0 between the
    /// two circles.
    private static func distance(of index: Int, side: Int, radius: Double) -> Double {
        let centre = Double(index) + 0.5
        return max(radius - centre, centre - (Double(side) - radius), 0)
    }
}
