import Kernels
package import Pipeline
import Vips

/// A stack of layers, drawn in order on one canvas, as an app draws into a context. A layer may be a composite itself.
package struct Composite: Stage {
    package static let name = "composite"
    package static let summary =
        "Draws a stack of layers in order on one canvas; a layer is the picture, an asset, a color, or layers of its own."
    package static let example = """
        - composite: { background: white, layers: [ { source: true }, { color: "#00000080", height: 40, anchor: bottom }, { image: assets/badge.png, width: 48 } ] }
        """

    package static var parts: [StagePart] { [StagePart(name: "layer", type: LayerDeclaration.self)] }

    let canvas: CanvasDeclaration

    package init(_ p: inout Parameters) {
        canvas = CanvasDeclaration(&p)
    }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        let canvas: CanvasPlan
        let input: PixelSize
        /// Each layer that is the picture begins with its natural size.
        package let sizeDependence: SizeDependence

        package var footprint: Footprint {
            let sources = canvas.layers.filter { if case .source = $0.content { true } else { false } }
            guard let source = sources.first, sources.count == 1, source.steps.isEmpty else {
                return Footprint(scattered: "draws layers, which are not drawn")
            }
            var footprint = Footprint(AffineMap(to: input, drawnAt: source.box.size, source.box.offset))
            footprint.drawings = canvas.layersAboveSource.map { layer in
                Footprint.Drawing(layer.content.title, Polygon(layer.box).mapped(by: footprint.map ?? .identity))
            }
            return footprint
        }
        /// The layers over the picture hide its light. A layer that mixes it with another leaves no light that is known.
        package var gainMapEffect: GainMapEffect {
            let isWhole = canvas.layers.allSatisfy { layer in
                if case .source = layer.content { layer.alpha == 1 && layer.blend == .over } else { true }
            }
            return isWhole ? .draws : .spoils
        }
        package var note: String { counted(canvas.layers.count, "layer") }
        package var isStreaming: Bool { false }
        package var intermediates: [PictureInfo] { canvas.intermediates }
        package var drawings: [PixelSize] { canvas.drawings }
        package var warnings: [Warning] { canvas.warnings }
    }

    package var drawsText: Bool { canvas.layers.contains(where: \.drawsText) }
    package var texts: [TextTemplate] { canvas.layers.flatMap(\.texts) }
    package var sizesInPoints: Bool { canvas.width?.isPoints == true || canvas.height?.isPoints == true }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        let source = input.natural(forWidth: canvas.width, height: canvas.height, scale: context.scale)
        let plan = try canvas.plan(in: source.size, context, source: source)
        var output = source.drawn(at: plan.size, width: canvas.width, height: canvas.height)
        output.hasAlpha = plan.hasAlpha
        try output.hold(plan.isGrey ? .grey : .rgb, drawnBy: Self.name)
        return Plan(
            output: output, canvas: plan, input: input.size,
            sizeDependence: .scales(to: source.size, by: .lanczos3))
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        try plan.canvas.render(source: picture, like: picture.promoted(to: plan.output.colour), in: context)
    }
}

// MARK: - The parameters as written

/// A canvas and what is drawn on it.
struct CanvasDeclaration: Sendable {
    let width: PositiveLength?
    let height: PositiveLength?
    let background: Color
    let layers: [LayerDeclaration]

    init(_ p: inout Parameters) {
        width = p.optional("width", "Width of the canvas; default that of the picture.")
        height = p.optional("height", "Height of the canvas; default that of the picture.")
        background = p.optional("background", .transparent, "What is drawn first.")
        let list: LayerList = p.required("layers", "What is drawn, the lowest first.")
        layers = list.layers
    }
}

/// `layers: [...]`.
struct LayerList: ParameterValue {
    let layers: [LayerDeclaration]

    static var expectation: String { "a list of layers, each with 'source', 'image', 'color', 'text' or 'layers'" }
    // Layers nest, so that the schema of one refers to itself.
    static var schema: JSONValue { ["type": "array", "minItems": 1, "items": ["$ref": "#/$defs/layer"]] }
    static var placeholder: LayerList { LayerList(layers: []) }
    var written: String { "[]" }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> LayerList? {
        guard case .list(let items) = node.content, !items.isEmpty else { return nil }
        return LayerList(
            layers: items.compactMap { Parameters.read(LayerDeclaration.self, from: $0, owner: "the layer", &log) })
    }
}

/// One layer.
struct LayerDeclaration: ParameterGroup {
    enum Content: Sendable {
        case source
        case asset(AssetPath)
        case color(Color)
        case text(Text)
        indirect case canvas(CanvasDeclaration)
    }

    let content: Content
    let stages: NestedStages
    let place: OverlayPlace
    let alpha: Double
    let blend: BlendMode

    init(_ p: inout Parameters) {
        let isSource = p.optional("source", false, "The picture itself is drawn, as many points large as it is.")
        let image: AssetPath? = p.optional(
            "image", "An asset is drawn, which may be an SVG; its path is relative to the pipeline file.")
        let color: Color? = p.optional(
            "color", "A rectangle of one color is drawn, as large as the canvas or as `width` and `height` say.")
        let text: TextLayer? = p.optional(
            "text",
            "A text is drawn, with the parameters of the stage `text`, on nothing, as large as the canvas or as `width` and `height` say. It has the layer's `anchor` and `offset` unless it has its own `anchor` and `inset`."
        )
        let layers: LayerList? = p.optional(
            "layers", "Layers of its own are drawn on a canvas as large as this one, or as `width` and `height` say.")
        background = p.optional("background", .transparent, "What a canvas of its own begins with.")
        stages = NestedStages(&p)
        var place = OverlayPlace(&p)
        alpha = p.optional("alpha", 1.0, in: 0...1, "Multiplies its alpha.")
        blend = p.optional("blend", .over, "How it mixes with what is below.")
        let contents = [isSource, image != nil, color != nil, text != nil, layers != nil].filter { $0 }.count
        let kinds = "a layer is one of 'source: true', 'image', 'color', 'text' and 'layers'"
        if contents > 1 || contents == 0 && p.understood("source", "image", "color", "text", "layers") {
            p.problem("\(kinds); found \(contents == 0 ? "none" : String(contents)) of them")
        }
        if p.has("background") && layers == nil {
            p.problem(at: "background", "only a layer with 'layers' has a 'background'")
        }
        if text != nil, place.width == nil || place.height == nil, p.has("avoid") {
            p.problem(
                at: "avoid",
                "how large a text is, is only known when it is drawn, so that it cannot avoid anything; give the layer a 'width' and a 'height'"
            )
        }
        if let text, text.hasAnchor, p.has("anchor"), place.width == nil, place.height == nil, stages.isEmpty {
            p.problem(
                at: "anchor",
                "'anchor' is in the layer and in its text, and the layer is as large as the canvas; write one of them, or give the layer a 'width' or a 'height'"
            )
        }
        content =
            if let image {
                .asset(image)
            } else if let color {
                .color(color)
            } else if let text {
                .text(stages.isEmpty ? text.placed(&place) : text.stage)
            } else if let layers {
                .canvas(
                    CanvasDeclaration(
                        width: place.width, height: place.height, background: background, layers: layers.layers))
            } else {
                .source
            }
        self.place = place
    }

    private let background: Color

    var drawsText: Bool {
        switch content {
        case .text: true
        case .canvas(let canvas): stages.drawsText || canvas.layers.contains(where: \.drawsText)
        case .source, .asset, .color: stages.drawsText
        }
    }

    var texts: [TextTemplate] {
        switch content {
        case .text(let text): text.texts + stages.texts
        case .canvas(let canvas): canvas.layers.flatMap(\.texts) + stages.texts
        case .source, .asset, .color: stages.texts
        }
    }
}

/// `text: { text: "…" }`, a layer that is a text.
private struct TextLayer: ParameterMapping {
    let stage: Text
    /// The parameters by which the text itself says where it is.
    let hasAnchor, hasInset: Bool

    init(_ p: inout Parameters) {
        stage = Text(&p)
        (hasAnchor, hasInset) = (p.has("anchor"), p.has("inset"))
    }

    /// The text as a layer has it. How large it is, is only known when it is drawn: the layer's box is the canvas, or as
    /// large as the layer says, and the text is where in it the layer's place would have it.
    func placed(_ place: inout OverlayPlace) -> Text {
        var text = stage
        if !hasAnchor { text.anchor = place.anchor }
        if !hasInset {
            text.inset = Offset(
                x: place.width == nil ? place.offset.x : .points(0),
                y: place.height == nil ? place.offset.y : .points(0))
            place.offset = Offset(
                x: place.width == nil ? .points(0) : place.offset.x,
                y: place.height == nil ? .points(0) : place.offset.y)
        }
        return text
    }

    static var expectation: String { "a text such as { text: \"© {artist}\", size: 20 }" }
    static var owner: String { "the text" }
    static var placeholder: TextLayer { TextLayer(stage: Parameters.usual(Text.self)) }
    var written: String { "{ text: \(stage.text.text.written) }" }

    private init(stage: Text) { (self.stage, hasAnchor, hasInset) = (stage, false, false) }
}

extension CanvasDeclaration {
    init(width: PositiveLength?, height: PositiveLength?, background: Color, layers: [LayerDeclaration]) {
        (self.width, self.height, self.background, self.layers) = (width, height, background, layers)
    }
}

// MARK: - The plan

/// A canvas as it will be drawn.
struct CanvasPlan: Sendable {
    let size: PixelSize
    let background: Ink
    let layers: [LayerPlan]

    var hasAlpha: Bool { !background.color.isOpaque || layers.contains { $0.blend.canClear } }
    var isGrey: Bool { background.color.isGrey && layers.allSatisfy(\.isGrey) }
    var intermediates: [PictureInfo] { layers.flatMap(\.intermediates) }
    var drawings: [PixelSize] { layers.flatMap(\.drawings) }
    var warnings: [Warning] { layers.flatMap(\.warnings) }
    /// The layers over the picture; those below it are mostly hidden by it.
    var layersAboveSource: ArraySlice<LayerPlan> {
        layers.drop { if case .source = $0.content { false } else { true } }.dropFirst()
    }
}

/// A layer as it will be drawn.
struct LayerPlan: Sendable {
    enum Content: Sendable {
        case source(natural: PixelSize)
        case asset(DrawnAsset)
        case color(Ink, PixelSize)
        /// The text's step begins the layer's.
        case text(PixelSize)
        indirect case canvas(CanvasPlan)

        /// Its name in a drawing of the plan.
        var title: String {
            switch self {
            case .source: "the picture"
            case .asset(let asset): asset.path.fileName
            case .color: "a color"
            case .text: "a text"
            case .canvas: "layers"
            }
        }

        /// The pictures that it holds before it is drawn.
        var intermediates: [PictureInfo] {
            switch self {
            case .asset(let asset): asset.intermediates
            case .canvas(let canvas): canvas.intermediates
            case .source, .color, .text: []
            }
        }

        var drawings: [PixelSize] {
            switch self {
            case .asset(let asset): asset.drawings
            case .canvas(let canvas): canvas.drawings
            case .source, .color, .text: []
            }
        }

        var warnings: [Warning] {
            switch self {
            case .asset(let asset): asset.steps.flatMap(\.plan.warnings)
            case .canvas(let canvas): canvas.warnings
            case .source, .color, .text: []
            }
        }
    }

    let content: Content
    let stages: NestedStages
    /// The stages of its own. Those of an asset are in the content.
    let steps: [PlannedStage]
    let box: PixelBox
    let alpha: Double
    let blend: BlendMode
    let isGrey: Bool
    var warnings: [Warning] { content.warnings + steps.flatMap(\.plan.warnings) }
    /// The sizes in which vector assets are drawn.
    var drawings: [PixelSize] { content.drawings + steps.drawings }
    /// The pictures that it is drawn from, that its stages and the layers within it make, and that are drawn.
    let intermediates: [PictureInfo]
}

extension CanvasDeclaration {
    /// - Parameters:
    ///   - outer: what the canvas's own lengths refer to.
    ///   - source: the picture as it is drawn; all that is drawn has as many pixels in a point.
    func plan(
        in outer: PixelSize, _ context: PlanContext, source: PictureInfo
    ) throws(PlanFailure) -> CanvasPlan {
        let scale = source.pixelsPerPoint
        let size = PixelSize(
            try width?.pixels(of: outer.width, scale: scale, "width", in: Composite.name) ?? outer.width,
            try height?.pixels(of: outer.height, scale: scale, "height", in: Composite.name) ?? outer.height)
        var plans: [LayerPlan] = []
        for layer in layers { plans.append(try layer.plan(on: size, source, context)) }
        var own = source
        return CanvasPlan(size: size, background: try own.ink(background, for: Composite.name), layers: plans)
    }
}

extension LayerDeclaration {
    func plan(on canvas: PixelSize, _ source: PictureInfo, _ context: PlanContext) throws(PlanFailure) -> LayerPlan {
        let (content, start) = try begin(on: canvas, source, context)
        let scale = source.pixelsPerPoint
        let steps = try steps(from: start, in: context, scale: scale)
        let drawn = steps.last?.output ?? start
        let size =
            isMadeInItsSize
            ? drawn.size : try place.size(of: drawn, on: canvas, scale: scale, stage: Composite.name)
        let box = try place.box(of: size, on: canvas, scale: scale, stage: Composite.name)
        let kept = drawn.resized(to: box.size)
        let isStart = start == kept
        return LayerPlan(
            content: content, stages: stages, steps: steps, box: box, alpha: alpha, blend: blend,
            isGrey: drawn.colour == .grey,
            intermediates: content.intermediates + (isStart ? [] : [start]) + steps.intermediates
                + [kept] + blend.mixed(over: box.size, frames: source.frames))
    }

    /// The stages of its own. An asset comes as they have made it.
    private func steps(
        from start: PictureInfo, in context: PlanContext, scale: Double
    ) throws(PlanFailure) -> [PlannedStage] {
        switch content {
        case .asset: return []
        case .text(let text):
            let text = try PlannedStage.plan(text, start, in: context.drawn(at: scale))
            return [text] + (try stages.plan(text.output, in: context, scale: scale))
        case .source, .color, .canvas: return try stages.plan(start, in: context, scale: scale)
        }
    }

    /// The content that is drawn, before its stages.
    private func begin(
        on canvas: PixelSize, _ source: PictureInfo, _ context: PlanContext
    ) throws(PlanFailure) -> (LayerPlan.Content, PictureInfo) {
        let scale = source.pixelsPerPoint
        var geometry = source
        geometry.hasAlpha = true
        switch content {
        case .source: return (.source(natural: source.size), geometry)
        case .asset(let path):
            let asset = try DrawnAsset(path, stages, on: source, in: context, stage: Composite.name) {
                drawn throws(PlanFailure) in
                try place.size(of: drawn, on: canvas, scale: scale, stage: Composite.name)
            }
            return (.asset(asset), asset.result)
        case .color, .text:
            let size = PixelSize(
                try place.width?.pixels(of: canvas.width, scale: scale, "width", in: Composite.name) ?? canvas.width,
                try place.height?.pixels(of: canvas.height, scale: scale, "height", in: Composite.name) ?? canvas.height
            )
            var own = PictureInfo(size: size, hasAlpha: true, colour: .grey, pixelsPerPoint: scale)
            guard case .color(let color) = content else { return (.text(size), own) }
            return (.color(try own.ink(color, for: Composite.name), size), own)
        case .canvas(let declaration):
            // Lengths of a nested canvas refer to the one it is drawn on.
            let plan = try declaration.plan(in: canvas, context, source: source)
            geometry.size = plan.size
            geometry.colour = plan.isGrey ? .grey : .rgb
            return (.canvas(plan), geometry)
        }
    }

    /// All but the picture have their size from the beginning.
    private var isMadeInItsSize: Bool {
        switch content {
        case .asset, .color, .text, .canvas: true
        case .source: false
        }
    }
}

// MARK: - The pixels

extension CanvasPlan {
    /// - Parameters:
    ///   - source: the picture, as the composite gets it.
    ///   - model: a picture with the format of the result, except for alpha.
    func render(source: Picture, like model: Picture, in context: RenderContext) throws -> Picture {
        var canvas = try model.filled(with: background, size: size, hasAlpha: hasAlpha)
        for layer in layers {
            let drawn = try layer.picture(of: source, like: model, in: context).addingAlpha()
            // A picture that is drawn several times is computed once.
            canvas = try canvas.drawing(
                drawn.inMemory(), alpha: layer.alpha, at: layer.box.offset, by: layer.blend, keepsAlpha: hasAlpha)
        }
        return canvas
    }
}

extension LayerPlan {
    fileprivate func picture(of source: Picture, like model: Picture, in context: RenderContext) throws -> Picture {
        switch content {
        case .source(let natural):
            return try steps.render(source.scaled(to: natural).addingAlpha(), in: context).scaled(to: box.size)
        case .asset(let asset): return try asset.picture(in: context)
        case .color(let ink, let size):
            return try stages.sameForAllFrames(context) {
                try steps.render(Picture(ink, size: size), in: context)
            }
        case .text(let size):
            return try stages.sameForAllFrames(context) {
                try steps.render(Picture(clear: size), in: context)
            }
        case .canvas(let canvas):
            return try steps.render(canvas.render(source: source, like: model, in: context).addingAlpha(), in: context)
        }
    }
}
