package import Pipeline
package import Vips

/// Draws the picture into a frame of exact size, by content mode, as an image view does.
package struct Frame: Stage {
    package static let name = "frame"
    package static let summary = "Draws the picture into a frame of exact size, by content mode."
    package static let example = """
        - frame: { width: 600, height: 600, mode: aspect-fit, background: white }
        """

    let width: Extent
    let height: Extent
    let mode: ContentMode
    let anchor: PartAnchor
    let background: Color
    let alpha: Double
    let opaque: Bool

    package init(_ p: inout Parameters) {
        width = p.required("width", "Width of the frame.")
        height = p.required("height", "Height of the frame.")
        mode = p.optional("mode", .aspectFit, "How the picture fills the frame: three modes that scale, nine that place it at its natural size.")
        anchor = p.optional(
            "anchor", PartAnchor(.center), "Where a scaled picture sits, or which part of it is kept; `attention` and `entropy` look for it.")
        let givenBackground: Color? = p.optional("background", "What the picture is drawn over; default transparent, with `opaque: true` white.")
        alpha = p.optional("alpha", 1.0, in: 0...1, "Multiplies the alpha of every pixel, the background's included. No effect with `opaque: true`.")
        opaque = p.optional("opaque", false, "The result has no alpha channel.")
        background = givenBackground ?? (opaque ? .white : .transparent)
        // At natural size the picture is as many pixels as the scale says.
        if mode.placement != nil { p.notePoints() }
        if opaque && !background.isOpaque { p.problem(at: "background", "'opaque: true' needs an opaque 'background'") }
        if mode.placement != nil && p.has("anchor") {
            p.problem(at: "anchor", "'mode: \(mode.rawValue)' says already where the picture sits; remove 'anchor'")
        }
    }

    package struct Plan: StagePlan {
        package let output: Geometry
        let placement: Placement
        let input: PixelSize

        package var note: String { "drawn \(placement.drawn) at \(placement.offset)" }
        package var footing: Footing { placement.drawn == input ? .sourcePixels : .scales(to: placement.drawn, by: .lanczos3) }
        package var largestSize: PixelSize { placement.drawn }
        package var isEnlarging: Bool { placement.drawn.width > input.width || placement.drawn.height > input.height }
    }

    package var needsMeasurement: Bool { mode == .aspectFill && anchor.anchor.needsMeasurement }

    package func measure(_ frames: Frames, following plan: Plan, in context: RenderContext) throws -> Measurement? {
        // The part of the picture as it comes in that the frame will show.
        let scale = max(
            Double(plan.placement.drawn.width) / Double(plan.input.width), Double(plan.placement.drawn.height) / Double(plan.input.height))
        let part = PixelSize(rounded(Double(plan.output.size.width) / scale), rounded(Double(plan.output.size.height) / scale))
        return try frames.images[0].part(of: part, by: anchor.anchor)
    }

    package func plan(_ input: Geometry, in context: PlanContext) throws(PlanFailure) -> Plan {
        let size = input.size
        let frame = PixelSize(width.pixels(of: size.width, scale: context.scale), height.pixels(of: size.height, scale: context.scale))
        let natural = input.naturalSize(scale: context.scale)
        let placement = Placement(of: size, natural: natural, in: frame, mode: mode, anchor: anchor.anchor.resolved(by: context.measurement))
        let showsBackground = input.hasAlpha || !placement.covers(frame)
        var output = input.drawn(at: frame, width: width, height: height)
        output.hasAlpha = !opaque && (alpha < 1 || (showsBackground && !background.isOpaque))
        if showsBackground { output.colour = try input.colour(drawing: [background], stage: Self.name) }
        output.pixelsPerPoint = context.scale
        return Plan(output: output, placement: placement, input: size)
    }

    package func render(_ image: Image, following plan: Plan, in context: RenderContext) throws -> Image {
        let frame = plan.output.size
        let drawn = try image.scaled(to: plan.placement.drawn).cut(at: plan.placement.offset, to: frame)
        var picture = try drawn.image.inColour(plan.output.colour)
        let isCovered = drawn.offset == PixelOffset(0, 0) && picture.width == frame.width && picture.height == frame.height
        if background.isOpaque {
            picture = try picture.flattened(onto: background, in: context)
            if !isCovered { picture = try picture.embedded(at: drawn.offset, in: frame, background: context.values(of: background, in: picture)) }
        } else {
            if !isCovered { picture = try picture.addingAlpha() }
            if !isCovered { picture = try picture.embedded(at: drawn.offset, in: frame, background: Array(repeating: 0, count: picture.bands)) }
            if !background.isTransparent && picture.hasAlpha { picture = try picture.composited(over: background, in: context) }
        }
        return opaque ? picture : try picture.multiplyingAlpha(by: alpha)
    }
}

extension Image {
    /// The part of a picture at an offset that a frame shows, and where that part sits.
    fileprivate func cut(at offset: PixelOffset, to frame: PixelSize) throws -> (image: Image, offset: PixelOffset) {
        let left = max(0, -offset.x)
        let top = max(0, -offset.y)
        let visibleWidth = min(width - left, frame.width - max(0, offset.x))
        let visibleHeight = min(height - top, frame.height - max(0, offset.y))
        let place = PixelOffset(max(0, offset.x), max(0, offset.y))
        if visibleWidth == width && visibleHeight == height { return (self, place) }
        return (try extractArea(left: left, top: top, width: visibleWidth, height: visibleHeight), place)
    }

    func embedded(at offset: PixelOffset, in frame: PixelSize, background: [Double]) throws -> Image {
        try embed(x: offset.x, y: offset.y, width: frame.width, height: frame.height, background: background)
    }

    /// Composites onto an opaque colour and drops the alpha.
    package func flattened(onto color: Color, in context: RenderContext) throws -> Image {
        guard hasAlpha else { return self }
        // In floating point, since libvips cuts off what it should round.
        let opaque = try cast(.float).flatten(background: context.values(of: color, in: self), maximumAlpha: maximumValue)
        return try opaque.rint().cast(format).copy(interpretation: interpretation)
    }

    /// Composites onto a colour that is neither opaque nor transparent: source-over on premultiplied values.
    fileprivate func composited(over color: Color, in context: RenderContext) throws -> Image {
        let values = try context.values(of: color, in: self)
        let maximum = maximumValue
        let bands = bands
        // result = picture + colour × (1 − picture's alpha), all premultiplied, alpha included.
        let premultiplied = try premultiply(maximumAlpha: maximum)
        let colour = values.map { $0 * color.alpha } + [color.alpha * maximum]
        let uncovered = try premultiplied.extractBands(from: bands - 1, count: 1).linear([-1 / maximum], [1])
        let under = try uncovered.linear(colour, Array(repeating: 0, count: bands))
        let sum = try premultiplied.add(under)
        return try sum.unpremultiply(maximumAlpha: maximum).rint().cast(format).copy(interpretation: interpretation)
    }
}
