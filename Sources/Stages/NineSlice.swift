package import Pipeline
package import Vips

/// Resizes with cap insets, as an app stretches a button: the corners stay, the edges grow in one direction, the middle in both.
package struct NineSlice: Stage {
    package static let name = "nine-slice"
    package static let summary = "Resizes with cap insets, as an app stretches a button: corners stay, edges and middle stretch or repeat."
    package static let example = """
        - nine-slice: { width: 200, height: 44, cap-insets: { all: 12 } }
        """

    package enum Mode: String, ParameterWord { case stretch, tile }

    let width: Extent?
    let height: Extent?
    let caps: EdgeInsets
    let mode: Mode

    package init(_ p: inout Parameters) {
        width = p.optional("width", "Width of the result; default the picture's natural width.")
        height = p.optional("height", "Height of the result; default the picture's natural height.")
        caps = p.required("cap-insets", "What stays as it is on each side. A percentage is of the picture's width at the sides, of its height else.")
        mode = p.optional("mode", .stretch, "stretch: edges and middle are scaled; tile: they repeat from the top left, the last one cut.")
        if width == nil && height == nil { p.problem("stage 'nine-slice' needs 'width' or 'height'") }
        // The picture is drawn as many points large as it is.
        p.notePoints()
    }

    package struct Plan: StagePlan {
        package let output: Geometry
        /// The picture before it is sliced.
        let natural: PixelSize
        let caps: PixelInsets
        package let footing: Footing

        package var note: String { "caps top \(caps.top), leading \(caps.left), bottom \(caps.bottom), trailing \(caps.right)" }
        package var isStreaming: Bool { false }
        package var largestSize: PixelSize { natural.area > output.size.area ? natural : output.size }
        /// The picture at its natural size, and the pieces.
        package var heldBytes: Int { (natural.area + output.size.area) * output.bands * output.depth.bytes }
    }

    package func plan(_ input: Geometry, in context: PlanContext) throws(PlanFailure) -> Plan {
        let natural = input.naturalSize(scale: context.scale)
        let size = PixelSize(
            width?.pixels(of: input.size.width, scale: context.scale) ?? natural.width,
            height?.pixels(of: input.size.height, scale: context.scale) ?? natural.height)
        let caps = caps.pixels(of: natural, scale: context.scale)
        try Self.check(caps.left, caps.right, "leading and trailing", of: natural.width, in: size.width, "wide")
        try Self.check(caps.top, caps.bottom, "top and bottom", of: natural.height, in: size.height, "high")
        var output = input.drawn(at: size, width: width, height: height)
        output.pixelsPerPoint = context.scale
        return Plan(output: output, natural: natural, caps: caps, footing: input.footing(drawnAt: natural))
    }

    private static func check(
        _ first: Int, _ last: Int, _ sides: String, of picture: Int, in result: Int, _ extent: String
    ) throws(PlanFailure) {
        guard first + last <= result else {
            let message = "the \(sides) caps of \(first) and \(last) pixels do not fit a result \(result) pixels \(extent)"
            throw PlanFailure(.emptyResult, stage: name, message)
        }
        guard first + last < picture || (first + last == picture && result == picture) else {
            let message = "the \(sides) caps of \(first) and \(last) pixels leave nothing between them of a picture \(picture) pixels \(extent)"
            throw PlanFailure(.emptyResult, stage: name, message)
        }
    }

    package func render(_ image: Image, following plan: Plan, in context: RenderContext) throws -> Image {
        let picture = try image.scaled(to: plan.natural)
        let size = plan.output.size
        let caps = plan.caps
        let columns = Self.spans(caps.left, caps.right, from: plan.natural.width, to: size.width)
        let rows = Self.spans(caps.top, caps.bottom, from: plan.natural.height, to: size.height)
        var result = try Image.black(width: size.width, height: size.height, bands: picture.bands).cast(picture.format)
            .copy(interpretation: picture.interpretation)
        for row in rows {
            for column in columns {
                let piece = try picture.extractArea(
                    left: column.source.lowerBound, top: row.source.lowerBound, width: column.source.count, height: row.source.count)
                let grown = try grown(piece, to: PixelSize(column.target.count, row.target.count))
                result = try result.insert(grown, x: column.target.lowerBound, y: row.target.lowerBound)
            }
        }
        return result
    }

    /// Where the two caps and what is between them stand along one side, in the picture and in the result. Empty ones are left out.
    private static func spans(_ first: Int, _ last: Int, from picture: Int, to result: Int) -> [(source: Range<Int>, target: Range<Int>)] {
        [
            (0..<first, 0..<first), (first..<picture - last, first..<result - last), (picture - last..<picture, result - last..<result),
        ].filter { !$0.0.isEmpty && !$0.1.isEmpty }
    }

    private func grown(_ piece: Image, to size: PixelSize) throws -> Image {
        guard (piece.width, piece.height) != (size.width, size.height) else { return piece }
        switch mode {
        // A curve that overshoots would draw lines beside the caps.
        case .stretch: return try piece.scaled(to: size, kernel: .linear)
        case .tile: return try piece.repeated(from: PixelOffset(0, 0), over: size)
        }
    }
}
