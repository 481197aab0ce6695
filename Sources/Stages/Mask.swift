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

    let cornerRadius: CornerRadii?
    let shape: Shape?
    let image: AssetPath?

    package init(_ p: inout Parameters) {
        cornerRadius = p.optional(
            "corner-radius",
            "The radius of the corners, or of each one, at most what fits on the sides; a percentage is of the shorter side."
        )
        shape = p.optional("shape", "circle: the largest circle in the middle of the picture.")
        image = p.optional(
            "image",
            "A picture, which may be an SVG, that is stretched over this one and whose alpha it takes, or its lightness where it has no alpha."
        )
        switch [cornerRadius != nil, shape != nil, image != nil].filter({ $0 }).count {
        case 0:
            p.problem(
                withoutAnyOf: ["corner-radius", "shape", "image"],
                "stage 'mask' needs 'corner-radius', 'shape' or 'image'")
        case 1: break
        default:
            let last = image != nil ? "image" : "shape"
            p.problem(at: last, "'corner-radius', 'shape' and 'image' exclude each other; write one of them")
        }
    }

    /// The part that is cut away.
    fileprivate enum Cut {
        /// All outside of a rounded rectangle.
        case corners(PixelCorners, of: PixelBox)
        /// All that a picture does not cover, which is drawn in this size if it is a drawing.
        case picture(AssetPath, drawing: PixelSize?)
    }

    package struct Plan: StagePlan {
        package var gainMapEffect: GainMapEffect { .draws }
        package let output: PictureInfo
        fileprivate let cut: Cut

        package var intermediates: [PictureInfo] {
            if case .picture = cut { return ([output.size] + drawings).map { PictureInfo(size: $0, hasAlpha: true) } }
            // The mask as it is worked out, and as libvips has it.
            let mask = PictureInfo(size: output.size, frames: output.frames, colour: .grey)
            return [mask, mask]
        }
        package var note: String {
            switch cut {
            case .corners(let corners, _): "radius \(corners.written)"
            case .picture: "masked by a picture"
            }
        }
        package var drawings: [PixelSize] {
            if case .picture(_, let drawing?) = cut { [drawing] } else { [] }
        }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        var output = input
        output.hasAlpha = true
        let side = min(input.size.width, input.size.height)
        if let image {
            let drawing = try context.facts(of: image, stage: Self.name).drawing(filling: input.size)
            return Plan(output: output, cut: .picture(image, drawing: drawing))
        }
        if shape == .circle {
            let square = PixelSize(side, side)
            let box = PixelBox(Anchor.center.offset(of: square, in: input.size), square)
            return Plan(output: output, cut: .corners(PixelCorners(Double(side) / 2), of: box))
        }
        let corners =
            try cornerRadius?.pixels(
                in: input.size, scale: input.pixelsPerPoint, "corner-radius", in: Self.name) ?? PixelCorners(0)
        return Plan(output: output, cut: .corners(corners, of: PixelBox(PixelOffset(0, 0), input.size)))
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let size = plan.output.size
        switch plan.cut {
        case .picture(let asset, _):
            let mask = try context.assets.picture(asset, size: size)
            return try picture.multiplyingAlpha(by: mask.coverage, full: mask.white)
        case .corners(let corners, let box):
            let coverage = Self.coverage(of: size, box: box, corners)
            return try picture.multiplyingAlpha(
                by: Image(bytes: coverage, width: size.width, height: size.height, bands: 1))
        }
    }

    /// How much of each pixel lies in the rounded rectangle, 0…255, row by row.
    static func coverage(of size: PixelSize, box: PixelBox, _ corners: PixelCorners) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size.area)
        guard let seen = box.intersection(with: size) else { return bytes }
        let columns = seen.offset.x..<seen.offset.x + seen.size.width
        let rows = seen.offset.y..<seen.offset.y + seen.size.height
        for y in rows {
            for x in columns { bytes[y * size.width + x] = 255 }
        }
        // Only the corners have pixels that are covered in part.
        let (left, top) = (box.offset.x, box.offset.y)
        let (right, bottom) = (left + box.size.width, top + box.size.height)
        func cut(_ radius: Double, isRight: Bool, isBottom: Bool) {
            let circle = QuarterCircle(radius: radius)
            let reach = Int(radius.rounded(.up))
            let across = (isRight ? right - reach..<right : left..<left + reach).clamped(to: columns)
            let down = (isBottom ? bottom - reach..<bottom : top..<top + reach).clamped(to: rows)
            for y in down {
                let vertical = distance(of: y - top, side: box.size.height, radius: radius, isFromEnd: isBottom)
                for x in across {
                    let horizontal = distance(of: x - left, side: box.size.width, radius: radius, isFromEnd: isRight)
                    // A pixel in the middle of a side can lose something to two corners.
                    let place = y * size.width + x
                    let cut = 255 * circle.areaOutside(ofPixelAt: horizontal, vertical)
                    bytes[place] = UInt8(max(0, Double(bytes[place]) - cut).rounded())
                }
            }
        }
        cut(corners.topLeft, isRight: false, isBottom: false)
        cut(corners.topRight, isRight: true, isBottom: false)
        cut(corners.bottomLeft, isRight: false, isBottom: true)
        cut(corners.bottomRight, isRight: true, isBottom: true)
        return bytes
    }

    /// How far a pixel's nearer edge lies beyond the centre of a corner's circle, along one axis; below 0 for a pixel
    /// across the centre.
    private static func distance(of index: Int, side: Int, radius: Double, isFromEnd: Bool) -> Double {
        isFromEnd ? Double(index) - (Double(side) - radius) : radius - Double(index + 1)
    }
}

/// The part of a circle around (0, 0) in which neither coordinate is negative.
private struct QuarterCircle {
    let radius: Double

    /// The area of a pixel that is in the quarter and outside of the circle, 0…1.
    /// - Parameter x: the pixel's left edge; need not be whole.
    /// - Parameter y: its upper edge.
    func areaOutside(ofPixelAt x: Double, _ y: Double) -> Double {
        let (left, right, top, bottom) = (max(0, x), x + 1, max(0, y), y + 1)
        guard left < right, top < bottom, hypot(right, bottom) > radius else { return 0 }
        let area = (right - left) * (bottom - top)
        guard hypot(left, top) < radius else { return area }
        // To the left of the first place the circle is below the pixel, and to the right of the second one above it.
        let low = min(max(width(at: bottom), left), right)
        let high = min(max(width(at: top), left), right)
        let inside = (low - left) * (bottom - top) + integral(to: high) - integral(to: low) - (high - low) * top
        return min(max(area - inside, 0), area)
    }

    /// How wide the circle is at a height.
    private func width(at height: Double) -> Double {
        max(0, radius * radius - height * height).squareRoot()
    }

    /// The circle's area between 0 and a place on the axis.
    private func integral(to x: Double) -> Double {
        (x * width(at: x) + radius * radius * asin(min(1, x / radius))) / 2
    }
}

extension PixelCorners {
    fileprivate var written: String {
        func text(_ radius: Double) -> String { radius == radius.rounded() ? String(Int(radius)) : String(radius) }
        let radii = [topLeft, topRight, bottomLeft, bottomRight].map(text)
        return Set(radii).count == 1 ? radii[0] : radii.joined(separator: ", ")
    }
}
