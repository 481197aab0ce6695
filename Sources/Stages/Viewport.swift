import Kernels
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
        background = p.optional(
            "background", .transparent, "What is seen where there is no content, and through transparent content.")
    }

    package var sizesInPoints: Bool { width.isPoints || height.isPoints }

    package struct Plan: StagePlan {
        package var gainMapEffect: GainMapEffect { .follows }
        package let output: PictureInfo
        let input: PixelSize
        /// The content's size.
        let content: PixelSize
        /// The point of the content in the frame's top left corner.
        let origin: PixelOffset
        /// The background around the content and through it; nil if none is seen.
        let background: Ink?
        package let sizeDependence: SizeDependence

        package var footprint: Footprint { Footprint(AffineMap(to: input, drawnAt: content, -origin)) }
        package var note: String { "content of \(content) from \(origin)" }
        package let intermediates: [PictureInfo]
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        let natural = input.natural(forWidth: width, height: height, scale: context.scale)
        let (content, scale) = (natural.size, natural.pixelsPerPoint)
        let frame = PixelSize(
            try width.pixels(of: content.width, scale: scale, "width", in: Self.name),
            try height.pixels(of: content.height, scale: scale, "height", in: Self.name))
        let inset = try inset.pixels(of: frame, scale: scale, "content-inset", in: Self.name)
        let rectangle = try reveal?.pixels(of: content, scale: scale, "reveal", in: Self.name)
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
        var output = natural.drawn(at: frame, width: width, height: height)
        let ink = try output.lay(over: background, covers: isCovered, for: Self.name)
        return Plan(
            output: output, input: input.size, content: content, origin: origin, background: ink,
            sizeDependence: .scales(to: content, by: .lanczos3),
            intermediates: input.scaled(to: content))
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let frame = plan.output.size
        let content = try picture.scaled(to: plan.content).promoted(to: plan.output.colour)
        if let part = PixelBox(plan.origin, frame).intersection(with: content.size) {
            let place = PixelOffset(part.offset.x - plan.origin.x, part.offset.y - plan.origin.y)
            return try content.cropped(to: part).laid(over: plan.background, in: frame, at: place)
        }
        // All of the content is scrolled out of sight.
        guard let background = plan.background else { throw MismatchedPlan(stage: Self.name) }
        return try content.filled(with: background, size: frame, hasAlpha: plan.output.hasAlpha)
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
