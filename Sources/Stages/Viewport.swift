package import Pipeline

/// The visible part of content that is larger than its frame, as a scroll view shows it.
package struct Viewport: Stage {
    package static let name = "viewport"
    package static let summary = "The visible part of content larger than its frame, as a scroll view shows it."
    package static let example = """
        - viewport: { width: 320, height: 480, content-inset: { top: 20 }, reveal: { x: 0, y: 900, width: 320, height: 44 } }
        """

    let width: PositiveLength
    let height: PositiveLength
    let offset: Offset?
    let inset: EdgeInsets
    let reveal: Rectangle?
    let background: Color

    package init(_ p: inout Parameters) {
        width = p.required("width", "Width of the frame.")
        height = p.required("height", "Height of the frame.")
        offset = p.optional(
            "offset",
            "Which point of the content is at the frame's top left corner; default as far up and left as it goes.")
        inset = p.optional(
            "content-inset", .none,
            "Room around the content, into which it can be scrolled; a percentage is of the frame.")
        reveal = p.optional(
            "reveal",
            "A rectangle of the content to scroll to, by the least distance, into the part that `content-inset` leaves free."
        )
        background = p.optional("background", .transparent, "What is seen where there is no content.")
        // The content is drawn as many points large as it is.
        p.notePoints()
    }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        let input: PixelSize
        /// The content's size.
        let content: PixelSize
        /// The point of the content in the frame's top left corner.
        let origin: PixelOffset
        package let sizeDependence: SizeDependence

        package var footprint: Footprint { Footprint(AffineMap(to: input, drawnAt: content, -origin)) }
        package var note: String { "content of \(content) from \(origin)" }
        package let intermediates: [PictureInfo]
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        let content = input.naturalSize(scale: context.scale)
        let scale = context.scale
        let frame = PixelSize(
            width.pixels(of: input.size.width, scale: scale), height.pixels(of: input.size.height, scale: scale))
        let inset = inset.pixels(of: frame, scale: scale)
        let rectangle = reveal?.pixels(of: content, scale: scale)
        let horizontal = Scroll(content: content.width, frame: frame.width, before: inset.left, after: inset.right)
        let vertical = Scroll(content: content.height, frame: frame.height, before: inset.top, after: inset.bottom)
        let origin = PixelOffset(
            horizontal.offset(
                from: offset?.x.pixels(of: content.width, scale: scale),
                revealing: rectangle.map { ($0.offset.x, $0.size.width) }),
            vertical.offset(
                from: offset?.y.pixels(of: content.height, scale: scale),
                revealing: rectangle.map { ($0.offset.y, $0.size.height) }))
        let isCovered =
            origin.x >= 0 && origin.y >= 0 && origin.x + frame.width <= content.width
            && origin.y + frame.height <= content.height
        var output = input.drawn(at: frame, width: width, height: height)
        output.pixelsPerPoint = scale
        output.hasAlpha = input.hasAlpha || (!isCovered && !background.isOpaque)
        if !isCovered { output.colour = try input.colour(drawing: [background], stage: Self.name) }
        return Plan(
            output: output, input: input.size, content: content, origin: origin,
            sizeDependence: .scales(to: content, by: .lanczos3),
            intermediates: input.scaled(to: content))
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let frame = plan.output.size
        let scaled = try picture.scaled(to: plan.content).promoted(to: plan.output.colour)
        let content = plan.output.hasAlpha ? try scaled.addingAlpha() : scaled
        guard let part = PixelBox(plan.origin, frame).intersection(with: content.size) else {
            // All of the content is scrolled out of sight.
            return try content.filled(with: background, size: frame, hasAlpha: content.hasAlpha)
        }
        let visible = try content.cropped(to: part)
        guard part.size != frame else { return visible }
        let place = PixelOffset(part.offset.x - plan.origin.x, part.offset.y - plan.origin.y)
        return try visible.onCanvas(frame, at: place, background: visible.componentsWithAlpha(of: background))
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
