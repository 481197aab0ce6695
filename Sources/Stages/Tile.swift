package import Pipeline
package import Vips

/// Fills a frame by repeating the picture, as an app draws a pattern.
package struct Tile: Stage {
    package static let name = "tile"
    package static let summary = "Fills a frame by repeating the picture."
    package static let example = """
        - tile: { width: 600, height: 400, offset: { x: 10, y: 0 } }
        """

    let width: Extent
    let height: Extent
    let offset: Offset

    package init(_ p: inout Parameters) {
        width = p.required("width", "Width of the frame.")
        height = p.required("height", "Height of the frame.")
        offset = p.optional("offset", .zero, "How far the pattern is moved right and down; a percentage is of one tile.")
        // A tile is drawn as many points large as it is.
        p.notePoints()
    }

    package struct Plan: StagePlan {
        package let output: Geometry
        let tile: PixelSize
        /// The pixel of the tile that stands in the frame's top left corner.
        let phase: PixelOffset
        package let footing: Footing

        package var note: String { "tiles of \(tile), the first from \(phase)" }
        package var isStreaming: Bool { false }
        package var largestSize: PixelSize { tile.area > output.size.area ? tile : output.size }
        package var heldBytes: Int { tile.area * output.bands * output.depth.bytes }
    }

    package func plan(_ input: Geometry, in context: PlanContext) throws(PlanFailure) -> Plan {
        let tile = input.naturalSize(scale: context.scale)
        let frame = PixelSize(
            width.pixels(of: input.size.width, scale: context.scale), height.pixels(of: input.size.height, scale: context.scale))
        var output = input.drawn(at: frame, width: width, height: height)
        output.pixelsPerPoint = context.scale
        let phase = PixelOffset(
            positive(-offset.x.pixels(of: tile.width, scale: context.scale), modulo: tile.width),
            positive(-offset.y.pixels(of: tile.height, scale: context.scale), modulo: tile.height))
        return Plan(output: output, tile: tile, phase: phase, footing: input.footing(drawnAt: tile))
    }

    package func render(_ image: Image, following plan: Plan, in context: RenderContext) throws -> Image {
        try image.scaled(to: plan.tile).repeated(from: plan.phase, over: plan.output.size)
    }
}

extension Image {
    /// A frame full of this picture, side by side.
    /// - Parameter phase: the pixel of the picture that stands in the frame's top left corner.
    func repeated(from phase: PixelOffset, over frame: PixelSize) throws -> Image {
        let across = (phase.x + frame.width + width - 1) / width
        let down = (phase.y + frame.height + height - 1) / height
        var tile = try inMemory()
        // libvips counts to a million: several tiles count as one.
        let (wide, high) = (across / 1_000_000 + 1, down / 1_000_000 + 1)
        if wide > 1 || high > 1 { tile = try tile.replicate(across: wide, down: high) }
        return try tile.replicate(across: (across + wide - 1) / wide, down: (down + high - 1) / high)
            .extractArea(left: phase.x, top: phase.y, width: frame.width, height: frame.height)
    }
}
