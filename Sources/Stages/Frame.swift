package import Pipeline

/// Draws the picture into a frame of exact size, by content mode, as an image view does.
package struct Frame: Stage {
    package static let name = "frame"
    package static let summary = "Draws the picture into a frame of exact size, by content mode."
    package static let example = """
        - frame: { width: 600, height: 600, mode: aspect-fit, background: white }
        """

    let width: PositiveLength
    let height: PositiveLength
    let mode: ContentMode
    let anchor: PartAnchor
    let background: Color
    let alpha: Double
    let opaque: Bool

    package init(_ p: inout Parameters) {
        width = p.required("width", "Width of the frame.")
        height = p.required("height", "Height of the frame.")
        mode = p.optional(
            "mode", .aspectFit,
            "How the picture fills the frame: three modes that scale, nine that place it at its natural size.")
        anchor = p.optional(
            "anchor", PartAnchor(.center),
            "Where a scaled picture sits, or which part of it is kept; `attention` and `entropy` look for it.")
        let givenBackground: Color? = p.optional(
            "background", "What the picture is drawn over; default transparent, with `opaque: true` white.")
        alpha = p.optional(
            "alpha", 1.0, in: 0...1,
            "Multiplies the alpha of every pixel, the background's included. No effect with `opaque: true`.")
        opaque = p.optional("opaque", false, "The result has no alpha channel.")
        background = givenBackground ?? (opaque ? .white : .transparent)
        if opaque && !background.isOpaque { p.problem(at: "background", "'opaque: true' needs an opaque 'background'") }
        if mode.placement != nil && p.has("anchor") {
            p.problem(at: "anchor", "'mode: \(mode.rawValue)' says already where the picture sits; remove 'anchor'")
        }
    }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        let placement: Placement
        let input: PixelSize
        /// The part of the picture that is kept in view; nil if all of it is.
        let anchor: PlanePoint?
        /// What is seen around the picture and through it; nil if that is nothing.
        let background: Ink?
        package let intermediates: [PictureInfo]

        package var note: String { "drawn \(placement.drawn) at \(placement.offset)" }
        package var footprint: Footprint {
            Footprint(AffineMap(to: input, drawnAt: placement.drawn, placement.offset), anchor: anchor)
        }
        package var sizeDependence: SizeDependence { .scales(to: placement.drawn, by: .lanczos3) }
        package var isEnlarging: Bool { placement.drawn.width > input.width || placement.drawn.height > input.height }
    }

    package var sizesInPoints: Bool { width.isPoints || height.isPoints }
    package var needsMeasurement: Bool { mode == .aspectFill && anchor.anchor.needsMeasurement }

    package func measure(_ frames: Frames, following plan: Plan, in context: RenderContext) throws -> Measurement? {
        // The part of the picture as it comes in that the frame will show.
        let scale = max(
            Double(plan.placement.drawn.width) / Double(plan.input.width),
            Double(plan.placement.drawn.height) / Double(plan.input.height))
        let part = PixelSize(
            rounded(Double(plan.output.size.width) / scale), rounded(Double(plan.output.size.height) / scale))
        return try frames.pictures[0].part(of: part, by: anchor.anchor)
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        let size = input.size
        let natural = input.natural(forWidth: width, height: height, scale: context.scale)
        let frame = PixelSize(
            width.pixels(of: natural.size.width, scale: natural.pixelsPerPoint),
            height.pixels(of: natural.size.height, scale: natural.pixelsPerPoint))
        let anchor = anchor.anchor.resolved(by: context.measurement)
        let placement = Placement(of: size, natural: natural.size, in: frame, mode: mode, anchor: anchor)
        var output = natural.drawn(at: frame, width: width, height: height)
        let ink = try output.lay(over: background, covers: placement.covers(frame), for: Self.name)
        output.hasAlpha = !opaque && (output.hasAlpha || alpha < 1)
        return Plan(
            output: output, placement: placement, input: size,
            anchor: mode == .aspectFill ? anchor.point(in: size) : nil, background: ink,
            intermediates: input.scaled(to: placement.drawn))
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let frame = plan.output.size
        let (part, offset) = try picture.scaled(to: plan.placement.drawn).visible(at: plan.placement.offset, in: frame)
        let result = try part.promoted(to: plan.output.colour).laid(over: plan.background, in: frame, at: offset)
        return opaque ? result : try result.multiplyingAlpha(by: alpha)
    }
}

extension Picture {
    /// The part of the picture at an offset that a frame shows, and where that part is.
    fileprivate func visible(at offset: PixelOffset, in frame: PixelSize) throws -> (part: Picture, offset: PixelOffset)
    {
        let corner = PixelOffset(max(0, -offset.x), max(0, -offset.y))
        let place = PixelOffset(max(0, offset.x), max(0, offset.y))
        let size = PixelSize(
            min(width - corner.x, frame.width - place.x), min(height - corner.y, frame.height - place.y))
        return (try cropped(to: PixelBox(corner, size)), place)
    }
}
