import Kernels
package import Pipeline
import Vips

/// Resizes with cap insets, as an app stretches a button: the corners stay, the edges grow in one direction, the middle
/// in both.
package struct NineSlice: Stage {
    package static let name = "nine-slice"
    package static let summary =
        "Resizes with cap insets, as an app stretches a button: corners stay, edges and middle stretch or repeat."
    package static let example = """
        - nine-slice: { width: 200, height: 44, cap-insets: { all: 12 } }
        """

    package enum Mode: String, ParameterWord { case stretch, tile }

    let width: PositiveLength?
    let height: PositiveLength?
    let caps: EdgeInsets
    let mode: Mode

    package init(_ p: inout Parameters) {
        width = p.optional("width", "Width of the result; default the picture's natural width.")
        height = p.optional("height", "Height of the result; default the picture's natural height.")
        caps = p.required(
            "cap-insets",
            "What stays as it is on each side. A percentage is of the picture's width at the sides, of its height else."
        )
        mode = p.optional(
            "mode", .stretch,
            "stretch: edges and middle are scaled; tile: they repeat from the top left, the last one cut.")
        p.problem(withoutAnyOf: ["width", "height"], "stage 'nine-slice' needs 'width' or 'height'")
    }

    package var sizesInPoints: Bool { width?.isPoints == true || height?.isPoints == true }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        /// The picture as it would be drawn, of which the caps are a part.
        let natural: PixelSize
        let caps: PixelInsets
        let input: PixelSize

        package var footprint: Footprint {
            let map = AffineMap(to: input, drawnAt: natural)
            let (width, height) = (Double(natural.width), Double(natural.height))
            let columns = [caps.left, natural.width - caps.right].map(Double.init).filter { $0 > 0 && $0 < width }
            let rows = [caps.top, natural.height - caps.bottom].map(Double.init).filter { $0 > 0 && $0 < height }
            let lines =
                columns.map { Footprint.Line(map(PlanePoint($0, 0)), map(PlanePoint($0, height))) }
                + rows.map { Footprint.Line(map(PlanePoint(0, $0)), map(PlanePoint(width, $0))) }
            return Footprint(scattered: "keeps the caps outside of the lines as they are", lines: lines)
        }
        package var note: String {
            "caps top \(caps.top), leading \(caps.left), bottom \(caps.bottom), trailing \(caps.right)"
        }
        package var isStreaming: Bool { false }
        /// All pieces at their natural size, and all of them grown.
        package var intermediates: [PictureInfo] { [output.resized(to: natural), output] }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        let picture = input.natural(forWidth: width, height: height, scale: context.scale)
        let (natural, scale) = (picture.size, picture.pixelsPerPoint)
        let size = PixelSize(
            try width?.pixels(of: natural.width, scale: scale, "width", in: Self.name) ?? natural.width,
            try height?.pixels(of: natural.height, scale: scale, "height", in: Self.name) ?? natural.height)
        let caps = try caps.pixels(of: natural, scale: scale, "cap-insets", in: Self.name)
        let unit = scale == 1 ? "pixels" : "pixels (\(writtenNumber(scale)) to a point)"
        func check(
            _ caps: (first: Int, last: Int), in drawn: Int, _ result: Int, _ words: (sides: String, extent: String)
        )
            throws(PlanFailure)
        {
            let found = "the \(words.sides) caps of \(caps.first) and \(caps.last) \(unit)"
            let both = caps.first + caps.last
            guard both <= result else {
                let message = "\(found) do not fit a result \(result) pixels \(words.extent)"
                throw PlanFailure(.emptyResult, stage: Self.name, message)
            }
            guard both < drawn || (both == drawn && result == drawn) else {
                let message = "\(found) leave nothing between them of a picture \(drawn) pixels \(words.extent)"
                throw PlanFailure(.emptyResult, stage: Self.name, message)
            }
        }
        try check((caps.left, caps.right), in: natural.width, size.width, ("leading and trailing", "wide"))
        try check((caps.top, caps.bottom), in: natural.height, size.height, ("top and bottom", "high"))
        let output = picture.drawn(at: size, width: width, height: height)
        return Plan(output: output, natural: natural, caps: caps, input: input.size)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let size = plan.output.size
        let caps = plan.caps
        let columns = Self.spans(
            before: caps.left, after: caps.right, of: picture.width, drawn: plan.natural.width, in: size.width)
        let rows = Self.spans(
            before: caps.top, after: caps.bottom, of: picture.height, drawn: plan.natural.height, in: size.height)
        var result = try picture.with(
            Image.black(width: size.width, height: size.height, bands: picture.image.bands).cast(picture.image.format)
                .copy(interpretation: picture.pixels.interpretation))
        for row in rows {
            for column in columns {
                // Each piece is scaled alone, so that no cap runs into what is stretched.
                let corner = PixelOffset(column.source.lowerBound, row.source.lowerBound)
                let part = try picture.cropped(to: PixelBox(corner, PixelSize(column.source.count, row.source.count)))
                let piece = try part.scaled(to: PixelSize(column.drawn, row.drawn))
                let grown = try grown(piece, to: PixelSize(column.target.count, row.target.count))
                result = try result.inserting(grown, at: PixelOffset(column.target.lowerBound, row.target.lowerBound))
            }
        }
        return result
    }

    /// A cap, or what is between two, along one side.
    private struct Span {
        /// Pixels of the picture as it is.
        let source: Range<Int>
        /// How many pixels it has as the picture is drawn.
        let drawn: Int
        /// Pixels of the result.
        let target: Range<Int>
    }

    /// The caps and what is between them along one side, without empty ones.
    private static func spans(before first: Int, after last: Int, of source: Int, drawn: Int, in result: Int) -> [Span]
    {
        // Points need not be whole pixels of the picture; a piece of some pixels has at least one there.
        func place(_ pixel: Int) -> Int { rounded(Double(pixel) * Double(source) / Double(drawn)) }
        let start = first == 0 ? 0 : max(1, place(first))
        let end = last == 0 ? source : min(source - 1, place(drawn - last))
        let middle = start < end ? start..<end : min(start, source - 1)..<min(start, source - 1) + 1
        return [
            Span(source: 0..<start, drawn: first, target: 0..<first),
            Span(source: middle, drawn: drawn - first - last, target: first..<result - last),
            Span(source: end..<source, drawn: last, target: result - last..<result),
        ].filter { !$0.source.isEmpty && $0.drawn > 0 && !$0.target.isEmpty }
    }

    private func grown(_ piece: Picture, to size: PixelSize) throws -> Picture {
        guard piece.size != size else { return piece }
        switch mode {
        // A curve that overshoots would draw lines beside the caps.
        case .stretch: return try piece.scaled(to: size, kernel: .linear)
        case .tile: return try piece.repeated(from: PixelOffset(0, 0), over: size)
        }
    }
}
