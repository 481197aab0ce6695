/// The radii of a rectangle's corners: `12`, or `{ all: 12, bottom-leading: 0 }`.
package struct CornerRadii: ParameterValue, Hashable {
    package let topLeading, topTrailing, bottomLeading, bottomTrailing: Distance

    package init(_ radius: PositiveLength) {
        let radius = Distance(radius.length)
        (topLeading, topTrailing, bottomLeading, bottomTrailing) = (radius, radius, radius, radius)
    }

    private init(_ corners: Corners) {
        (topLeading, topTrailing) = (corners.topLeading, corners.topTrailing)
        (bottomLeading, bottomTrailing) = (corners.bottomLeading, corners.bottomTrailing)
    }

    package static var expectation: String {
        PositiveLength.expectation + ", or one for each corner: { top-leading: 12 }"
    }
    package static var schema: JSONValue { ["anyOf": [PositiveLength.schema, Corners.mappingSchema()]] }
    package static var placeholder: CornerRadii { CornerRadii(.placeholder) }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> CornerRadii? {
        guard case .mapping = node.content else { return PositiveLength.read(node, &log).map { CornerRadii($0) } }
        return Parameters.read(Corners.self, from: node, owner: "the radii", &log).map { CornerRadii($0) }
    }

    package var written: String {
        let all = [
            ("top-leading", topLeading), ("top-trailing", topTrailing), ("bottom-leading", bottomLeading),
            ("bottom-trailing", bottomTrailing),
        ]
        if all.allSatisfy({ $0.1 == topLeading }) { return topLeading.written }
        return "{ " + all.map { "\($0.0): \($0.1.written)" }.joined(separator: ", ") + " }"
    }

    /// The radii in pixels. As in CSS, all become smaller by one factor if two of them do not fit on a side.
    /// - Throws: `PlanFailure` if one is below 0.
    package func pixels(
        in size: PixelSize, scale: Double, _ key: String, in stage: String
    ) throws(PlanFailure) -> PixelCorners {
        let (width, height) = (Double(size.width), Double(size.height))
        let side = min(size.width, size.height)
        let lengths = [topLeading, topTrailing, bottomLeading, bottomTrailing]
        let radii = try lengths.map { length throws(PlanFailure) in
            try length.exactPixels(of: side, scale: scale, key, in: stage)
        }
        if radii.allSatisfy({ $0 == radii[0] }) { return PixelCorners(min(radii[0], Double(side) / 2)) }
        let sums = [
            (radii[0] + radii[1], width), (radii[2] + radii[3], width), (radii[0] + radii[2], height),
            (radii[1] + radii[3], height),
        ]
        let factor = sums.map { $0 > $1 ? $1 / $0 : 1 }.min() ?? 1
        return PixelCorners(
            topLeft: radii[0] * factor, topRight: radii[1] * factor, bottomLeft: radii[2] * factor,
            bottomRight: radii[3] * factor)
    }

    private struct Corners: ParameterGroup {
        let topLeading, topTrailing, bottomLeading, bottomTrailing: Distance

        init(_ p: inout Parameters) {
            let all: Distance? = p.optional("all", "The radius of the corners that are not named; default 0.")
            let rest = all ?? .zero
            topLeading = p.optional("top-leading", "Above on the left.") ?? rest
            topTrailing = p.optional("top-trailing", "Above on the right.") ?? rest
            bottomLeading = p.optional("bottom-leading", "Below on the left.") ?? rest
            bottomTrailing = p.optional("bottom-trailing", "Below on the right.") ?? rest
        }
    }
}

/// The radii of a rectangle's corners in pixels, which need not be whole.
package struct PixelCorners: Hashable, Sendable {
    package let topLeft, topRight, bottomLeft, bottomRight: Double

    package init(topLeft: Double, topRight: Double, bottomLeft: Double, bottomRight: Double) {
        (self.topLeft, self.topRight) = (topLeft, topRight)
        (self.bottomLeft, self.bottomRight) = (bottomLeft, bottomRight)
    }

    /// All of one radius.
    package init(_ radius: Double) {
        self.init(topLeft: radius, topRight: radius, bottomLeft: radius, bottomRight: radius)
    }
}
