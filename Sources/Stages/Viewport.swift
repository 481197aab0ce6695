package import Pipeline
package import Vips

/// The visible part of content that is larger than its frame, as a scroll view shows it.
package struct Viewport: Stage {
    package static let name = "viewport"
    package static let summary = "The visible part of content larger than its frame, as a scroll view shows it."
    package static let example = """
        - viewport: { width: 320, height: 480, content-inset: { top: 20 }, reveal: { x: 0, y: 900, width: 320, height: 44 } }
        """

    let width: Extent
    let height: Extent
    let offset: Offset?
    let inset: EdgeInsets
    let reveal: Rectangle?
    let background: Color

    package init(_ p: inout Parameters) {
        width = p.required("width", "Width of the frame.")
        height = p.required("height", "Height of the frame.")
        offset = p.optional("offset", "Which point of the content stands in the frame's top left corner; default as far up and left as it goes.")
        inset = p.optional("content-inset", .none, "Room around the content, into which it can be scrolled; a percentage is of the frame.")
        reveal = p.optional(
            "reveal", "A rectangle of the content to scroll to, by the least distance, into the part that `content-inset` leaves free.")
        background = p.optional("background", .transparent, "What is seen where there is no content.")
        // The content is drawn as many points large as it is.
        p.notePoints()
    }

    package struct Plan: StagePlan {
        package let output: Geometry
        /// The content's size.
        let content: PixelSize
        /// The point of the content in the frame's top left corner.
        let origin: PixelOffset
        package let footing: Footing

        package var note: String { "content of \(content) from \(origin)" }
        package var largestSize: PixelSize { content.area > output.size.area ? content : output.size }
    }

    package func plan(_ input: Geometry, in context: PlanContext) throws(PlanFailure) -> Plan {
        let content = input.naturalSize(scale: context.scale)
        let scale = context.scale
        let frame = PixelSize(width.pixels(of: input.size.width, scale: scale), height.pixels(of: input.size.height, scale: scale))
        let inset = inset.pixels(of: frame, scale: scale)
        let rectangle = reveal?.pixels(of: content, scale: scale)
        let horizontal = Scroll(content: content.width, frame: frame.width, before: inset.left, after: inset.right)
        let vertical = Scroll(content: content.height, frame: frame.height, before: inset.top, after: inset.bottom)
        let origin = PixelOffset(
            horizontal.offset(
                from: offset?.x.pixels(of: content.width, scale: scale), revealing: rectangle.map { ($0.offset.x, $0.size.width) }),
            vertical.offset(
                from: offset?.y.pixels(of: content.height, scale: scale), revealing: rectangle.map { ($0.offset.y, $0.size.height) }))
        let isCovered =
            origin.x >= 0 && origin.y >= 0 && origin.x + frame.width <= content.width && origin.y + frame.height <= content.height
        var output = input.drawn(at: frame, width: width, height: height)
        output.pixelsPerPoint = scale
        output.hasAlpha = input.hasAlpha || (!isCovered && !background.isOpaque)
        if !isCovered { output.colour = try input.colour(drawing: [background], stage: Self.name) }
        return Plan(output: output, content: content, origin: origin, footing: input.footing(drawnAt: content))
    }

    package func render(_ image: Image, following plan: Plan, in context: RenderContext) throws -> Image {
        let content = try image.scaled(to: plan.content).inColour(plan.output.colour)
        let frame = plan.output.size
        let left = max(0, plan.origin.x)
        let top = max(0, plan.origin.y)
        let right = min(content.width, plan.origin.x + frame.width)
        let bottom = min(content.height, plan.origin.y + frame.height)
        let visible = plan.output.hasAlpha ? try content.addingAlpha() : content
        let colour = try context.valuesWithAlpha(of: background, in: visible)
        guard left < right, top < bottom else {
            // All of the content is scrolled out of sight.
            let pixel = try visible.extractArea(left: 0, top: 0, width: 1, height: 1)
            let painted = try pixel.linear(Array(repeating: 0, count: pixel.bands), colour).rint().cast(visible.format)
            return try painted.copy(interpretation: visible.interpretation).embedded(at: PixelOffset(0, 0), in: frame, background: colour)
        }
        let part = try visible.extractArea(left: left, top: top, width: right - left, height: bottom - top)
        guard part.width != frame.width || part.height != frame.height else { return part }
        return try part.embedded(at: PixelOffset(left - plan.origin.x, top - plan.origin.y), in: frame, background: colour)
    }
}

/// Scrolling along one axis, in pixels.
struct Scroll {
    let content: Int
    let frame: Int
    /// The content's inset at its start and its end.
    let before: Int
    let after: Int

    /// The content's offset, never further than it can be scrolled.
    /// - Parameter rectangle: where something to reveal begins in the content, and how long it is.
    func offset(from wanted: Int?, revealing rectangle: (start: Int, length: Int)?) -> Int {
        let start = clamped(wanted ?? -before)
        guard let rectangle else { return start }
        let first = rectangle.start - start
        let last = first + rectangle.length
        let free = before..<max(before, frame - after)
        let isVisible = first >= free.lowerBound && last <= free.upperBound
        // One that is larger than the free part fills it already.
        let fills = first <= free.lowerBound && last >= free.upperBound
        if isVisible || fills { return start }
        let toStart = first - free.lowerBound
        let toEnd = last - free.upperBound
        return clamped(start + (abs(toStart) < abs(toEnd) ? toStart : toEnd))
    }

    private func clamped(_ offset: Int) -> Int { max(-before, min(offset, content + after - frame)) }
}

/// A rectangle: `{ x: 0, y: 100, width: 320, height: 44 }`.
package struct Rectangle: ParameterValue, ParameterGroup {
    let x, y: Length
    let width, height: Extent

    package init(_ p: inout Parameters) {
        x = p.optional("x", .points(0), "Its left edge.")
        y = p.optional("y", .points(0), "Its top edge.")
        width = p.required("width", "Its width.")
        height = p.required("height", "Its height.")
    }

    package static var expectation: String { "a rectangle such as { x: 0, y: 100, width: 320, height: 44 }" }
    package static var schema: JSONValue { mappingSchema() }
    package static var placeholder: Rectangle { Rectangle(x: .points(0), y: .points(0), width: .placeholder, height: .placeholder) }
    package var written: String { "{ x: \(x.written), y: \(y.written), width: \(width.written), height: \(height.written) }" }
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Rectangle? {
        Parameters.read(Rectangle.self, from: node, owner: "the rectangle", &log)
    }

    init(x: Length, y: Length, width: Extent, height: Extent) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }

    /// In pixels; percentages are of a picture.
    func pixels(of size: PixelSize, scale: Int) -> PixelBox {
        PixelBox(
            PixelOffset(x.pixels(of: size.width, scale: scale), y.pixels(of: size.height, scale: scale)),
            PixelSize(width.pixels(of: size.width, scale: scale), height.pixels(of: size.height, scale: scale)))
    }
}
