package import Pipeline
package import Vips

/// Composites another picture onto this one: a badge, a watermark.
package struct Overlay: Stage {
    package static let name = "overlay"
    package static let summary = "Composites another picture onto this one: a badge, a watermark."
    package static let example = """
        - overlay: { image: assets/badge.png, anchor: top-trailing, offset: { x: 8, y: 8 }, width: 64 }
        """

    let image: AssetPath
    let anchor: Anchor
    let offset: Offset
    let width: Extent?
    let height: Extent?
    let alpha: Double
    let blend: BlendMode

    package init(_ p: inout Parameters) {
        image = p.required("image", "The picture to draw; its path is relative to the pipeline file.")
        anchor = p.optional("anchor", .center, "Where it sits.")
        offset = p.optional(
            "offset", Offset(x: .points(0), y: .points(0)), "How far it is moved from the anchored edges inwards; from the center right and down.")
        width = p.optional("width", "Its width; the height follows, or both make a box that it fits. Default: its natural size.")
        height = p.optional("height", "Its height; the width follows, or both make a box that it fits.")
        alpha = p.optional("alpha", 1.0, in: 0...1, "Multiplies its alpha.")
        blend = p.optional("blend", .over, "How it mixes with what is below.")
        // At its natural size it is as many pixels as the scale says.
        if width == nil && height == nil { p.notePoints() }
    }

    package struct Plan: StagePlan {
        package let output: Geometry
        let box: PixelBox

        package var note: String { "overlay \(box)" }
        package var largestSize: PixelSize { box.size }
        /// The asset at its size; kept for the next picture.
        package var heldBytes: Int { 4 * box.size.area }
    }

    package func plan(_ input: Geometry, in context: PlanContext) throws(PlanFailure) -> Plan {
        guard let asset = context.assets[image.path] else {
            throw PlanFailure(.internal, stage: Self.name, "the asset '\(image.path)' was not opened")
        }
        let size = drawnSize(of: asset, on: input.size, scale: context.scale)
        var place = anchor.offset(of: size, in: input.size)
        place.x += inward(anchor.horizontal) * offset.x.pixels(of: input.size.width, scale: context.scale)
        place.y += inward(anchor.vertical) * offset.y.pixels(of: input.size.height, scale: context.scale)
        var output = input
        output.hasAlpha = input.hasAlpha || blend.canClear
        output.colour = try input.colour(drawing: asset.isGrey ? [] : [Color(red: 255, green: 0, blue: 0)], stage: Self.name)
        return Plan(output: output, box: PixelBox(place, size))
    }

    private func drawnSize(of asset: AssetFacts, on picture: PixelSize, scale: Int) -> PixelSize {
        let boxWidth = width?.pixels(of: picture.width, scale: scale)
        let boxHeight = height?.pixels(of: picture.height, scale: scale)
        return switch (boxWidth, boxHeight) {
        case (let width?, let height?): ScalingMode.aspectFit.size(of: asset.size, in: PixelSize(width, height))
        case (let width?, nil): asset.size.scaled(toWidth: width)
        case (nil, let height?): asset.size.scaled(toHeight: height)
        case (nil, nil): Geometry(size: asset.size, pixelsPerPoint: asset.pixelsPerPoint).naturalSize(scale: scale)
        }
    }

    private func inward(_ edge: Anchor.Edge) -> Int {
        switch edge {
        case .start, .center: 1
        case .end: -1
        }
    }

    package func render(_ image: Image, following plan: Plan, in context: RenderContext) throws -> Image {
        let base = try image.inColour(plan.output.colour)
        let drawn = try context.assets.image(self.image, size: plan.box.size).addingAlpha().multiplyingAlpha(by: alpha)
        let composed = try base.blended(with: drawn.matching(base), by: blend, at: plan.box.offset)
        let kept = plan.output.hasAlpha ? composed : try composed.droppingAlpha()
        return try kept.rint().cast(image.format).copy(interpretation: base.interpretation)
    }
}

extension Image {
    /// The picture with the same kind of numbers as another one, so that both can be mixed. It has alpha.
    fileprivate func matching(_ other: Image) throws -> Image {
        if let profile = other.keptProfile { return try converted(toProfile: profile, depth: other.format == .ushort ? 16 : 8) }
        let coloured = isGrey && !other.isGrey ? try colourspace("srgb") : self
        guard other.format == .ushort else { return coloured }
        // libvips' own way from 8 to 16 bits makes 511 of 1, and 65280 of an alpha of 255, which is not opaque any more.
        return try coloured.linear([257], [0]).cast(.ushort).copy(interpretation: other.interpretation)
    }
}

/// How far something is moved: `{ x: 8, y: 8 }`.
package struct Offset: ParameterValue, ParameterGroup {
    let x: Length
    let y: Length

    init(x: Length, y: Length) {
        self.x = x
        self.y = y
    }

    package init(_ p: inout Parameters) {
        x = p.optional("x", .points(0), "To the side.")
        y = p.optional("y", .points(0), "Down or up.")
    }

    package static var expectation: String { "an offset such as { x: 8, y: 8 }" }
    package static var schema: JSONValue { mappingSchema() }
    package static var placeholder: Offset { Offset(x: .points(0), y: .points(0)) }
    package var written: String { "{ x: \(x.written), y: \(y.written) }" }
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Offset? {
        Parameters.read(Offset.self, from: node, owner: "'offset'", &log)
    }
}
