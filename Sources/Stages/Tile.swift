import Kernels
package import Pipeline

/// Fills a frame by repeating the picture, as an app draws a pattern.
package struct Tile: Stage {
    package static let name = "tile"
    package static let summary = "Fills a frame by repeating the picture."
    package static let example = """
        - tile: { width: 600, height: 400, offset: { x: 10, y: 0 } }
        """

    let width: PositiveLength
    let height: PositiveLength
    let offset: Offset

    package init(_ p: inout Parameters) {
        width = p.required("width", "Width of the frame.")
        height = p.required("height", "Height of the frame.")
        offset = p.optional(
            "offset", .zero, "How far the pattern is moved right and down; a percentage is of one tile.")
    }

    package var sizesInPoints: Bool { width.isPoints || height.isPoints }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        let tile: PixelSize
        /// The pixel of the tile in the frame's top left corner.
        let phase: PixelOffset
        package let sizeDependence: SizeDependence

        package var footprint: Footprint { Footprint(scattered: "repeats the picture, which is not drawn") }
        package var note: String { "tiles of \(tile), the first from \(phase)" }
        package var isStreaming: Bool { false }
        package var intermediates: [PictureInfo] { [output.resized(to: tile)] }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        let natural = input.natural(forWidth: width, height: height, scale: context.scale)
        let (tile, scale) = (natural.size, natural.pixelsPerPoint)
        let frame = PixelSize(
            try width.pixels(of: tile.width, scale: scale, "width", in: Self.name),
            try height.pixels(of: tile.height, scale: scale, "height", in: Self.name))
        let output = natural.drawn(at: frame, width: width, height: height)
        let phase = PixelOffset(
            positive(-offset.x.pixels(of: tile.width, scale: scale), modulo: tile.width),
            positive(-offset.y.pixels(of: tile.height, scale: scale), modulo: tile.height))
        return Plan(output: output, tile: tile, phase: phase, sizeDependence: .scales(to: tile, by: .lanczos3))
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        try picture.scaled(to: plan.tile).repeated(from: plan.phase, over: plan.output.size)
    }
}
