package import Pipeline
import Vips

/// Removes a border of one colour.
package struct Trim: Stage {
    package static let name = "trim"
    package static let summary = "Removes a border of one color, or what is transparent around the picture."
    package static let example = """
        - trim: { threshold: 10 }
        """

    let threshold: Double
    let background: Color?

    package init(_ p: inout Parameters) {
        threshold = p.optional(
            "threshold", 10.0, in: 0...255,
            "How far a pixel may be from the border's color, in steps of 255, and still be border.")
        background = p.optional(
            "background", "The border's color. Default: that of the top left pixel; nothing, if that is transparent.")
    }

    package var needsMeasurement: Bool { true }

    package struct Plan: StagePlan {
        package var gainMapEffect: GainMapEffect { .follows }
        package let output: PictureInfo
        /// The part that stays; nil before the picture was measured.
        let box: PixelBox?

        package var footprint: Footprint {
            Footprint(AffineMap(dx: Double(box?.offset.x ?? 0), dy: Double(box?.offset.y ?? 0)))
        }
        package var note: String { box.map { "kept \($0)" } ?? "as the picture says" }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        guard case .box(let left, let top, let width, let height)? = context.measurement else {
            var output = input
            output.certainty = .atMost
            return Plan(output: output, box: nil)
        }
        let place = PixelOffset(rounded(left * Double(input.size.width)), rounded(top * Double(input.size.height)))
        let size = PixelSize(rounded(width * Double(input.size.width)), rounded(height * Double(input.size.height)))
        let box = PixelBox(place, size).intersection(with: input.size) ?? PixelBox(PixelOffset(0, 0), input.size)
        return Plan(output: input.resized(to: box.size), box: box)
    }

    /// The box that holds all that is no border, in all frames together. A picture that is all border stays whole.
    package func measure(_ frames: Frames, following plan: Plan, in context: RenderContext) throws -> Measurement? {
        let boxes = try frames.pictures.compactMap(content)
        guard let left = boxes.map(\.offset.x).min(), let top = boxes.map(\.offset.y).min(),
            let right = boxes.map({ $0.offset.x + $0.size.width }).max(),
            let bottom = boxes.map({ $0.offset.y + $0.size.height }).max()
        else { return .box(left: 0, top: 0, width: 1, height: 1) }
        let (width, height) = (Double(frames.pictures[0].width), Double(frames.pictures[0].height))
        return .box(
            left: Double(left) / width, top: Double(top) / height, width: Double(right - left) / width,
            height: Double(bottom - top) / height)
    }

    private func content(of picture: Picture) throws -> PixelBox? {
        // A border of a colour is no grey border, so that a grey picture has none.
        let isColoured = background.map { !$0.isGrey } ?? false
        let picture = isColoured && picture.profile == nil ? try picture.promoted(to: .rgb) : picture
        let threshold = threshold * picture.white / 255
        let corner = try picture.image.getpoint(x: 0, y: 0)
        if background == nil, let alpha = try picture.alpha, corner[corner.count - 1] <= threshold {
            return try alpha.findTrim(threshold: threshold, background: [0])
        }
        let border =
            try background.map(picture.nearestNumbers(to:)) ?? Array(corner.prefix(picture.pixels.colour.bands))
        // Seen on the border's own colour, what is transparent is border.
        let seen =
            picture.hasAlpha
            ? try picture.image.flatten(background: border, maximumAlpha: picture.white) : picture.image
        return try seen.findTrim(threshold: threshold, background: border)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        try plan.box.map(picture.cropped) ?? picture
    }
}

extension Image {
    /// The box of all pixels that differ from a colour by more than a threshold; nil if there are none.
    fileprivate func findTrim(threshold: Double, background: [Double]) throws -> PixelBox? {
        // Compared as they are, without the filter against noise that libvips' own find_trim has: it takes thin lines
        // for noise.
        let difference = try linear(Array(repeating: 1, count: bands), background.map { -$0 }).abs()
        let (columns, rows) = try difference.more(than: threshold).bandor().project()
        guard let left = columns.firstIndex(where: { $0 > 0 }), let right = columns.lastIndex(where: { $0 > 0 }),
            let top = rows.firstIndex(where: { $0 > 0 }), let bottom = rows.lastIndex(where: { $0 > 0 })
        else { return nil }
        return PixelBox(PixelOffset(left, top), PixelSize(right - left + 1, bottom - top + 1))
    }
}
