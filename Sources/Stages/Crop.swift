package import Pipeline

/// Cuts a rectangle out of the picture.
package struct Crop: Stage {
    package static let name = "crop"
    package static let summary =
        "Cuts a rectangle out of the picture; one that is larger than the picture is made to fit."
    package static let example = """
        - crop: { width: 80%, height: 80%, anchor: top }
        """

    private enum Size: Sendable {
        case sides(width: PositiveLength, height: PositiveLength)
        /// The largest part of this shape.
        case ratio(Ratio)
    }

    private let size: Size
    let anchor: PartAnchor
    let corner: (x: Length, y: Length)?

    package init(_ p: inout Parameters) {
        let width: PositiveLength? = p.optional("width", "Width of the cut.")
        let height: PositiveLength? = p.optional("height", "Height of the cut.")
        let ratio: Ratio? = p.optional(
            "ratio", "Instead of `width` and `height`: the largest part of this shape, width to height.")
        anchor = p.optional("anchor", PartAnchor(.center), "Which part to keep; `attention` and `entropy` look for it.")
        let x: Length? = p.optional("x", "Left edge of the cut, instead of `anchor`.")
        let y: Length? = p.optional("y", "Top edge of the cut, instead of `anchor`.")
        corner = x == nil && y == nil ? nil : (x ?? .points(0), y ?? .points(0))
        if corner != nil && p.has("anchor") {
            p.problem(at: "anchor", "'anchor' and 'x', 'y' exclude each other; write one or the other")
        }
        size = ratio.map(Size.ratio) ?? .sides(width: width ?? .placeholder, height: height ?? .placeholder)
        p.checkSize(ratio, width, height, of: Self.name)
        if ratio != nil && corner != nil {
            p.problem(at: "ratio", "'ratio' cuts the largest part, which has no 'x' or 'y'; write 'anchor'")
        }
    }

    package struct Plan: StagePlan {
        package var gainMapEffect: GainMapEffect { .follows }
        package let output: PictureInfo
        let box: PixelBox
        /// Nil if the place was named by its corner.
        let anchor: PlanePoint?
        package var warnings: [Warning] = []

        package var note: String { "cut at \(box.offset)" }
        package var footprint: Footprint {
            Footprint(AffineMap(to: box.size, drawnAt: box.size, -box.offset), anchor: anchor)
        }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        let picture = input.size
        let scale = input.pixelsPerPoint
        let wanted =
            switch size {
            case .sides(let width, let height):
                PixelSize(
                    try width.pixels(of: picture.width, scale: scale, "width", in: Self.name),
                    try height.pixels(of: picture.height, scale: scale, "height", in: Self.name))
            case .ratio(let ratio): ratio.largest(in: picture)
            }
        let place = corner.map {
            PixelOffset($0.x.pixels(of: picture.width, scale: scale), $0.y.pixels(of: picture.height, scale: scale))
        }
        let box =
            if let place { try Self.clamped(place, wanted, in: picture) } else {
                anchored(wanted, in: picture, context.measurement)
            }
        let point = corner == nil ? anchor.anchor.resolved(by: context.measurement).point(in: picture) : nil
        var plan = Plan(output: input.resized(to: box.size), box: box, anchor: point)
        // A picture that is not measured yet may be smaller than it seems, and is then planned again.
        if reachesBeyond(picture, scale: scale), input.certainty == .exact {
            let part = place.map { "\(wanted) at \($0)" } ?? wanted.description
            plan.warnings = [
                Warning(
                    .cropBeyondEdge, "'crop' asks for \(part) of a picture of \(picture); the result is \(box.size)")
            ]
        }
        return plan
    }

    /// Whether the cut ends a pixel and more beyond an edge; not if that is due to rounding its corner and its size.
    private func reachesBeyond(_ picture: PixelSize, scale: Double) -> Bool {
        func isBeyond(_ start: Length?, _ length: PositiveLength, _ side: Int) -> Bool {
            let first = start?.exactPixels(of: side, scale: scale) ?? 0
            return first <= -1 || first + length.length.exactPixels(of: side, scale: scale) >= Double(side) + 1
        }
        guard case .sides(let width, let height) = size else { return false }
        return isBeyond(corner?.x, width, picture.width) || isBeyond(corner?.y, height, picture.height)
    }

    package var needsMeasurement: Bool { corner == nil && anchor.anchor.needsMeasurement }

    package func measure(_ frames: Frames, following plan: Plan, in context: RenderContext) throws -> Measurement? {
        try frames.pictures[0].part(of: plan.box.size, by: anchor.anchor)
    }

    private func anchored(_ wanted: PixelSize, in picture: PixelSize, _ measurement: Measurement?) -> PixelBox {
        let size = PixelSize(min(wanted.width, picture.width), min(wanted.height, picture.height))
        return PixelBox(anchor.anchor.resolved(by: measurement).offset(of: size, in: picture), size)
    }

    private static func clamped(
        _ corner: PixelOffset, _ size: PixelSize, in picture: PixelSize
    ) throws(PlanFailure) -> PixelBox {
        guard let box = PixelBox(corner, size).intersection(with: picture) else {
            let message =
                "the cut of \(size) at \(corner) lies outside the picture of \(picture); nothing would be left"
            throw PlanFailure(.emptyResult, stage: name, message)
        }
        return box
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        try picture.cropped(to: plan.box)
    }
}

extension Parameters {
    /// Notes a mistake if a stage has neither a ratio nor both sides, or has some of both.
    mutating func checkSize(_ ratio: Ratio?, _ width: PositiveLength?, _ height: PositiveLength?, of stage: String) {
        if ratio != nil {
            for key in ["width", "height"] where has(key) {
                problem(at: key, "'\(key)' and 'ratio' exclude each other; write 'width' and 'height', or 'ratio'")
            }
        } else if width == nil || height == nil, understood("width", "height", "ratio") {
            let missing = [width == nil ? "'width'" : nil, height == nil ? "'height'" : nil].compactMap(\.self)
            problem("stage '\(stage)' needs \(missing.joined(separator: " and ")), or 'ratio' alone")
        }
    }
}
