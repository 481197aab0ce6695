package import Pipeline
import Vips

/// Puts the picture on a canvas, and draws lines and texts over it. Only the program's own pipelines use it, for sheets
/// of plans.
package struct Markup: Stage {
    package static let name = "markup"
    package static let summary = "Puts the picture on a canvas, and draws lines and texts over it."
    package static let example = """
        - markup: { width: 600, height: 400, background: black, paper: gray, lines: [], texts: [] }
        """

    let size: PixelSize
    let offset: PixelOffset
    let background: Color
    let paper: Color
    let lines: [MarkupLine]
    let texts: [MarkupText]

    package init(_ p: inout Parameters) {
        size = PixelSize(p.required("width", "Pixels."), p.required("height", "Pixels."))
        offset = PixelOffset(
            p.optional("x", 0, "The picture's left edge."), p.optional("y", 0, "The picture's top edge."))
        background = p.required("background", "The canvas.")
        paper = p.required("paper", "What is below a picture with transparency.")
        let lines: GroupList<MarkupLine> = p.required("lines", "What is drawn first.")
        let texts: GroupList<MarkupText> = p.required("texts", "What is drawn over it.")
        (self.lines, self.texts) = (lines.items, texts.items)
    }

    package var drawsText: Bool { true }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        let background: Ink
        let paper: Ink

        package var footprint: Footprint { Footprint(scattered: "draws on a canvas") }
        package var isStreaming: Bool { false }
        /// The canvas, the same as numbers and as they are painted, and all texts.
        package var intermediates: [PictureInfo] { Array(repeating: output, count: 4) }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        var output = input.resized(to: size)
        output.pixels = PixelFormat(.rgb)
        let (background, paper) = (try output.ink(background, for: Self.name), try output.ink(paper, for: Self.name))
        return Plan(output: output, background: background, paper: paper)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let opaque = try picture.inEightBits().promoted(to: .rgb).flattened(onto: plan.paper)
        let canvas = try opaque.onCanvas(size, at: offset, background: plan.background)
        var raster = Raster(try canvas.image.pixels(), size)
        for line in lines {
            raster.stroke(line, color: Color(red: 0, green: 0, blue: 0, alpha: 0.55), width: line.width + 3)
            raster.stroke(line, color: line.color, width: line.width)
        }
        for text in texts { try draw(text, on: &raster) }
        let image = try Image(bytes: raster.bytes, width: size.width, height: size.height, bands: 3)
        return canvas.with(try image.copy(interpretation: canvas.pixels.interpretation))
    }

    private func draw(_ text: MarkupText, on raster: inout Raster) throws {
        guard let ink = try Image.text(text.text, size: text.size) else { return }
        let line = PixelSize(ink.width + text.size, text.size * 8 / 5)
        if let background = text.background { raster.fill(PixelBox(text.place, line), with: background) }
        let place = PixelOffset(text.place.x + text.size / 2, text.place.y + text.size / 6 + ink.yoffset)
        raster.paint(try ink.cast(.uchar).pixels(), of: PixelSize(ink.width, ink.height), at: place, in: text.color)
    }
}

/// A line through points, with a dark edge so that it is seen on any picture.
struct MarkupLine: ParameterGroup {
    let points: [PlanePoint]
    let color: Color
    let width: Double
    let isBroken: Bool

    init(_ p: inout Parameters) {
        let numbers: NumberList = p.required("points", "x and y of each, in pixels of the canvas.")
        points = stride(from: 0, to: numbers.numbers.count - 1, by: 2).map {
            PlanePoint(numbers.numbers[$0], numbers.numbers[$0 + 1])
        }
        color = p.required("color", "An opaque color.")
        width = p.required("width", in: 0.5...50, "Pixels.")
        isBroken = p.optional("broken", false, "Dashes instead of a line.")
    }
}

/// A line of type.
struct MarkupText: ParameterGroup {
    let text: String
    let place: PixelOffset
    let size: Int
    let color: Color
    let background: Color?

    init(_ p: inout Parameters) {
        text = p.required("text", "The words.")
        place = PixelOffset(p.required("x", "Left edge."), p.required("y", "Top edge."))
        size = p.required("size", in: 4...100, "Size of the type, in pixels.")
        color = p.required("color", "Color of the type.")
        background = p.optional("background", "A box below the type.")
    }
}

/// A list of mappings.
private struct GroupList<Item: ParameterGroup>: ParameterValue {
    let items: [Item]

    static var expectation: String { "a list of mappings" }
    static var schema: JSONValue { ["type": "array", "items": Item.mappingSchema()] }
    static var placeholder: GroupList { GroupList(items: []) }
    var written: String { "[]" }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> GroupList? {
        guard case .list(let nodes) = node.content else { return nil }
        return GroupList(items: nodes.compactMap { Parameters.read(Item.self, from: $0, owner: "the item", &log) })
    }
}

private struct NumberList: ParameterValue {
    let numbers: [Double]

    static var expectation: String { "a list of numbers" }
    static var schema: JSONValue { ["type": "array", "items": ["type": "number"]] }
    static var placeholder: NumberList { NumberList(numbers: []) }
    var written: String { "[]" }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> NumberList? {
        guard case .list(let nodes) = node.content else { return nil }
        return NumberList(
            numbers: nodes.compactMap { node in
                let number = Double.read(node, &log)
                if number == nil { log.problem(node.position, "expected a number, found \(node.found)") }
                return number
            })
    }
}
