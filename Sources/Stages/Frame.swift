import Kernels
package import Pipeline
import Vips

/// Draws the picture into a frame of exact size, by content mode, as an image view does.
package struct Frame: Stage {
    package static let name = "frame"
    package static let summary = "Draws the picture into a frame of exact size, by content mode."
    package static let example = """
        - frame: { width: 600, height: 600, mode: aspect-fit, background: white }
        """

    private enum Size: Sendable {
        case sides(width: PositiveLength, height: PositiveLength)
        /// The smallest frame of this shape that holds the picture.
        case ratio(Ratio)
    }

    private let size: Size
    let mode: ContentMode
    let anchor: PartAnchor
    let enlarges: Bool
    let background: FrameBackground
    let alpha: Double
    let opaque: Bool

    package init(_ p: inout Parameters) {
        let width: PositiveLength? = p.optional("width", "Width of the frame.")
        let height: PositiveLength? = p.optional("height", "Height of the frame.")
        let ratio: Ratio? = p.optional(
            "ratio",
            "Instead of `width` and `height`: the smallest frame of this shape, width to height, that holds the picture."
        )
        mode = p.optional(
            "mode", .aspectFit,
            "How the picture fills the frame: three modes that scale, nine that place it at its natural size.")
        anchor = p.optional(
            "anchor", PartAnchor(.center),
            "Where a scaled picture sits, or which part of it is kept; `attention` and `entropy` look for it.")
        enlarges = p.optional(
            "enlarge", true,
            "false: a picture with fewer pixels than the mode asks for keeps its size; with `scale-to-fill` each side by itself."
        )
        let givenBackground: FrameBackground? = p.optional(
            "background",
            "What the picture is drawn over: a color, or made of each frame of it: blur (the picture itself, covering and blurred), average (of its colors), edge (the average along its edges). Averages are of sRGB's numbers, as `resize` has them without `linear`. Default transparent, with `opaque: true` white."
        )
        alpha = p.optional(
            "alpha", 1.0, in: 0...1,
            "Multiplies the alpha of every pixel, the background's included. No effect with `opaque: true`.")
        opaque = p.optional("opaque", false, "The result has no alpha channel.")
        background = givenBackground ?? .color(opaque ? .white : .transparent)
        size = ratio.map(Size.ratio) ?? .sides(width: width ?? .placeholder, height: height ?? .placeholder)
        p.checkSize(ratio, width, height, of: Self.name)
        if opaque, case .color(let color) = background, !color.isOpaque {
            p.problem(at: "background", "'opaque: true' needs an opaque 'background'")
        }
        if mode.placement != nil && p.has("anchor") {
            p.problem(at: "anchor", "'mode: \(mode.rawValue)' says already where the picture sits; remove 'anchor'")
        }
        if mode.placement != nil && p.has("enlarge") {
            p.problem(at: "enlarge", "'mode: \(mode.rawValue)' does not scale; remove 'enlarge'")
        }
    }

    package struct Plan: StagePlan {
        /// A faded picture has less light everywhere.
        package let gainMapEffect: GainMapEffect
        package let output: PictureInfo
        let placement: Placement
        let input: PixelSize
        /// The part of the picture that is kept in view; nil if all of it is.
        let anchor: PlanePoint?
        /// The background around the picture and through it; nil if none is seen.
        let background: Background?
        package let intermediates: [PictureInfo]

        enum Background: Sendable {
            case color(Ink)
            case ofPicture(FrameBackground.OfPicture)
        }

        package var note: String { "drawn \(placement.drawn) at \(placement.offset)" }
        package var footprint: Footprint {
            Footprint(AffineMap(to: input, drawnAt: placement.drawn, placement.offset), anchor: anchor)
        }
        package var sizeDependence: SizeDependence { .scales(to: placement.drawn, by: .lanczos3) }
        package var isEnlarging: Bool { placement.drawn.width > input.width || placement.drawn.height > input.height }
    }

    package var sizesInPoints: Bool {
        guard case .sides(let width, let height) = size else { return false }
        return width.isPoints || height.isPoints
    }
    package var needsMeasurement: Bool { mode == .aspectFill && anchor.anchor.needsMeasurement }

    package func measure(_ frames: Frames, following plan: Plan, in context: RenderContext) throws -> Measurement? {
        // The part of the picture as it comes in that the frame will show.
        let scale = max(
            Double(plan.placement.drawn.width) / Double(plan.input.width),
            Double(plan.placement.drawn.height) / Double(plan.input.height))
        let part = PixelSize(
            min(plan.input.width, rounded(Double(plan.output.size.width) / scale)),
            min(plan.input.height, rounded(Double(plan.output.size.height) / scale)))
        return try frames.pictures[0].part(of: part, by: anchor.anchor)
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        let natural: PictureInfo
        var output: PictureInfo
        switch size {
        case .sides(let width, let height):
            natural = input.natural(forWidth: width, height: height, scale: context.scale)
            let frame = PixelSize(
                try width.pixels(
                    of: natural.size.width, scale: natural.pixelsPerPoint, "width", in: Self.name),
                try height.pixels(
                    of: natural.size.height, scale: natural.pixelsPerPoint, "height", in: Self.name))
            output = natural.drawn(at: frame, width: width, height: height)
        case .ratio(let ratio):
            natural = input
            output = input.resized(to: ratio.smallest(around: input.size))
        }
        let frame = output.size
        let anchor = anchor.anchor.resolved(by: context.measurement)
        let placement = Placement(
            of: input.size, natural: natural.size, in: frame, mode: mode, anchor: anchor, enlarges: enlarges)
        var intermediates = input.scaled(to: placement.drawn)
        let seen: Plan.Background?
        switch background {
        case .color(let color):
            seen = try output.lay(over: color, covers: placement.covers(frame), for: Self.name).map { .color($0) }
        case .ofPicture(let kind):
            seen = placement.covers(frame) && !input.hasAlpha ? nil : .ofPicture(kind)
            output.hasAlpha = false
            if seen != nil {
                intermediates = [input.resized(to: placement.drawn)]
                if kind == .blur { intermediates += [output] + Blur.held(output, sigma: Self.blur(of: frame)) }
            }
        }
        output.hasAlpha = !opaque && (output.hasAlpha || alpha < 1)
        return Plan(
            gainMapEffect: alpha < 1 && !opaque ? .spoils : .follows, output: output, placement: placement,
            input: input.size,
            anchor: mode == .aspectFill ? anchor.point(in: input.size) : nil, background: seen,
            intermediates: intermediates)
    }

    /// The standard deviation of the blur behind a picture, in pixels.
    private static func blur(of frame: PixelSize) -> Double {
        min(Double(min(frame.width, frame.height)) * 0.04, Blur.mostSigma)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let frame = plan.output.size
        let scaled = try picture.scaled(to: plan.placement.drawn)
        let place = plan.placement.offset
        let result: Picture
        switch plan.background {
        case nil: result = try scaled.visible(at: place, in: frame).part
        case .color(let ink):
            let (part, offset) = try scaled.visible(at: place, in: frame)
            result = try part.promoted(to: plan.output.colour).laid(over: ink, in: frame, at: offset)
        case .ofPicture(let kind):
            // Held, since it is needed all at once before its first row is drawn.
            let held = try scaled.inMemory()
            let (part, offset) = try held.visible(at: place, in: frame)
            result = try part.laid(
                over: held.background(kind, of: frame, sigma: Self.blur(of: frame)), at: offset)
        }
        return opaque ? result : try result.multiplyingAlpha(by: alpha)
    }
}

/// The background that a frame shows around a picture: `white`, or `blur`.
package enum FrameBackground: ParameterValue, Hashable {
    /// Made of the picture.
    package enum OfPicture: String, ParameterWord { case blur, average, edge }

    case color(Color)
    case ofPicture(OfPicture)

    package static var expectation: String { "\(Color.expectation), or blur, average or edge" }
    package static var schema: JSONValue { ["anyOf": [OfPicture.schema, Color.schema]] }
    package static var placeholder: FrameBackground { .color(.placeholder) }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> FrameBackground? {
        if let word = node.text.flatMap({ OfPicture(word: $0) }) { return .ofPicture(word) }
        return Color.read(node, &log).map { .color($0) }
    }

    package var written: String {
        switch self {
        case .color(let color): color.written
        case .ofPicture(let word): word.rawValue
        }
    }
}

extension Picture {
    /// An opaque background made of this picture, which is in memory.
    fileprivate func background(_ kind: FrameBackground.OfPicture, of frame: PixelSize, sigma: Double) throws -> Picture
    {
        switch kind {
        case .average: return try filled(withAverageOf: self, size: frame)
        case .edge:
            let rows = [0, height - 1].map { PixelBox(PixelOffset(0, $0), PixelSize(width, 1)) }
            let columns = [0, width - 1].map { PixelBox(PixelOffset($0, 0), PixelSize(1, height)) }
            let edges = try rows.map { try cropped(to: $0).image } + columns.map { try cropped(to: $0).image.rot(.d90) }
            let line = try edges.dropFirst().reduce(edges[0]) { try $0.join($1, .horizontal) }
            return try filled(withAverageOf: with(line), size: frame)
        case .blur:
            let seen = ScalingMode.aspectFit.size(of: frame, in: size)
            let part = try cropped(to: PixelBox(Anchor.center.offset(of: seen, in: size), seen))
            let fill = try part.flattened(ontoAverageOf: self).scaled(to: frame)
            return sigma < 0.2 ? fill : try fill.with(fill.image.blurred(sigma: sigma))
        }
    }

    /// This picture on an opaque one of the same colors.
    fileprivate func laid(over background: Picture, at offset: PixelOffset) throws -> Picture {
        guard hasAlpha else { return try background.inserting(self, at: offset) }
        let under = try background.image.cast(.float).bandjoin(constants: [white])
        let laid = try onCanvas(background.size, at: offset).composited(over: under)
        return try laid.droppingAlpha()
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
