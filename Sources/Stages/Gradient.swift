import Glibc
package import Pipeline
import Vips

/// Draws a gradient over the picture, or lets the picture fade out along one.
package struct Gradient: Stage {
    package static let name = "gradient"
    package static let summary = "Draws a gradient over the picture, or lets the picture fade out along one."
    package static let example = """
        - gradient: { angle: 180, stops: [ { color: transparent, at: 50% }, "#000000c0" ] }
        """
    package static let parts = [StagePart(name: "stop", type: GradientStop.self)]

    package enum Kind: String, ParameterWord { case linear, radial }

    let kind: Kind
    let angle: Double
    let center: PointAnchor
    let stops: [GradientStop]
    let fades: Bool

    package init(_ p: inout Parameters) {
        kind = p.optional(
            "kind", .linear,
            "linear: along a line through the middle; radial: an ellipse from `center` to the farthest corner.")
        angle = p.optional(
            "angle", 180.0, in: -360...360,
            "The direction of a linear one, as in CSS: 0 is up, 90 is right, 180 is down.")
        center = p.optional("center", PointAnchor(.center), "The middle of a radial one.")
        let list: GradientStopList = p.required(
            "stops",
            "Colors along the way, two or more; in between, sRGB's numbers are mixed, multiplied by their alpha.")
        fades = p.optional(
            "fade", false, "true: nothing is drawn, and the picture becomes as transparent as the colors are.")
        stops = list.stops
        if kind == .radial && p.has("angle") {
            p.problem(at: "angle", "only a linear gradient has an 'angle'; remove it, or 'kind: radial'")
        }
        if kind == .linear && p.has("center") {
            p.problem(at: "center", "only a radial gradient has a 'center'; write 'kind: radial', or remove it")
        }
    }

    package struct Plan: StagePlan {
        package var gainMapEffect: GainMapEffect { .draws }
        package let output: PictureInfo
        /// How far along the gradient the colors are, 0…1 and beyond, in order.
        let places: [Double]
        /// Empty if nothing is drawn.
        let inks: [Ink]
        let course: GradientCourse
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        var output = input
        var inks: [Ink] = []
        if fades {
            output.hasAlpha = input.hasAlpha || stops.contains { !$0.color.isOpaque }
        } else {
            for stop in stops { inks.append(try output.ink(stop.color, for: Self.name)) }
        }
        let course: GradientCourse
        switch kind {
        case .linear: course = GradientCourse(along: angle, size: input.size)
        case .radial:
            course = GradientCourse(from: center.anchor.point(in: input.size) ?? PlanePoint(0, 0), size: input.size)
        }
        return Plan(output: output, places: GradientStop.places(of: stops), inks: inks, course: course)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let alphas = stops.map(\.color.alpha)
        if fades {
            guard plan.output.hasAlpha, alphas.contains(where: { $0 < 1 }) else { return picture }
            let mask = try plan.course.ramp(of: picture.size, at: plan.places, [alphas])
            return try picture.multiplyingAlpha(by: mask, full: 1)
        }
        let drawn = try picture.promoted(to: plan.output.colour)
        let colors = try plan.inks.map { try drawn.components(of: $0) + [drawn.white] }
        let bands = colors[0].indices.map { band in zip(colors, alphas).map { $0[band] * $1 } }
        return try drawn.composited(under: plan.course.ramp(of: drawn.size, at: plan.places, bands))
    }
}

/// How far along a gradient each pixel is.
struct GradientCourse: Sendable {
    private enum Shape {
        /// Along the gradient for each column and each row, and at the corner.
        case line(across: Double, down: Double, start: Double)
        /// In pixels: the middle, and where the gradient ends to the right of it and below it.
        case ellipse(x: Double, y: Double, width: Double, height: Double)
    }
    private let shape: Shape

    /// A line through the middle, as long as CSS has it: its ends are level with the corners.
    init(along angle: Double, size: PixelSize) {
        let (width, height) = (Double(size.width), Double(size.height))
        let (right, down) = (sin(angle * .pi / 180), -cos(angle * .pi / 180))
        let length = abs(width * right) + abs(height * down)
        let (across, below) = (right / length, down / length)
        shape = .line(across: across, down: below, start: 0.5 - (width * across + height * below) / 2)
    }

    /// An ellipse that reaches the farthest corner and is as wide for its height as the room around its middle.
    init(from center: PlanePoint, size: PixelSize) {
        let width = max(center.x, Double(size.width) - center.x) * 2.0.squareRoot()
        let height = max(center.y, Double(size.height) - center.y) * 2.0.squareRoot()
        shape = .ellipse(x: center.x, y: center.y, width: width, height: height)
    }

    /// Steps of the way that are told apart.
    private static let steps = 65_535

    /// Numbers along the gradient, in floating point.
    /// - Parameters:
    ///   - places: how far along the way the numbers are, in order.
    ///   - bands: for each band a number for each place.
    func ramp(of size: PixelSize, at places: [Double], _ bands: [[Double]]) throws -> Image {
        let tables = bands.map { numbers in
            var next = 0
            return (0...Self.steps).map { step in
                let way = Double(step) / Double(Self.steps)
                while next < places.count && places[next] <= way { next += 1 }
                guard next > 0 else { return numbers[0] }
                guard next < places.count else { return numbers[places.count - 1] }
                let share = (way - places[next - 1]) / (places[next] - places[next - 1])
                return numbers[next - 1] + (numbers[next] - numbers[next - 1]) * share
            }
        }
        return try way(size).linear([Double(Self.steps)], [0]).rint().cast(.ushort).maplut(tables, .float)
    }

    /// How far each pixel is, one band in floating point.
    private func way(_ size: PixelSize) throws -> Image {
        let pixels = try Image.xyz(width: size.width, height: size.height)
        switch shape {
        case .line(let across, let down, let start):
            return try pixels.recomb([[across, down]]).linear([1], [start + (across + down) / 2])
        case .ellipse(let x, let y, let width, let height):
            let scaled = try pixels.linear([1 / width, 1 / height], [(0.5 - x) / width, (0.5 - y) / height])
            return try scaled.multiply(scaled).recomb([[1, 1]]).pow(0.5)
        }
    }
}

/// A color of a gradient and its place.
struct GradientStop: ParameterGroup {
    let color: Color
    /// 0…1 and beyond; nil: as far from the ones before and after it as all that have none.
    let place: Double?

    init(_ p: inout Parameters) {
        color = p.required("color", "The color; its own alpha counts too.")
        let at: Length? = p.optional(
            "at",
            "Its place, as a percentage of the way; default: the first begins, the last ends, the others are between.")
        if let at, case .percent(let percent) = at {
            place = percent / 100
        } else {
            if let at { p.problem(at: "at", "'at' expects a percentage, found \(at.written)") }
            place = nil
        }
    }

    init(color: Color, place: Double? = nil) { (self.color, self.place) = (color, place) }

    /// All places; none is before the one that comes before it.
    static func places(of stops: [GradientStop]) -> [Double] {
        var known = stops.map(\.place)
        known[0] = known[0] ?? 0
        known[known.count - 1] = known[known.count - 1] ?? 1
        // As in CSS.
        for index in known.indices.dropFirst() {
            if let place = known[index], let before = known[..<index].compactMap(\.self).max() {
                known[index] = max(place, before)
            }
        }
        return known.indices.map { index in
            if let place = known[index] { return place }
            let before = known[..<index].lastIndex { $0 != nil } ?? 0
            let after = known[index...].firstIndex { $0 != nil } ?? known.count - 1
            let (start, end) = (known[before] ?? 0, known[after] ?? 1)
            return start + (end - start) * Double(index - before) / Double(after - before)
        }
    }
}

/// `stops: [ red, { color: blue, at: 80% } ]`.
struct GradientStopList: ParameterValue {
    let stops: [GradientStop]

    static var expectation: String { "two colors or more, each alone or as { color: white, at: 50% }" }
    static var schema: JSONValue {
        ["type": "array", "minItems": 2, "items": ["anyOf": [Color.schema, ["$ref": "#/$defs/stop"]]]]
    }
    static var placeholder: GradientStopList {
        GradientStopList(stops: [GradientStop(color: .white), GradientStop(color: .white)])
    }
    var written: String { "[]" }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> GradientStopList? {
        guard case .list(let items) = node.content else { return nil }
        guard items.count >= 2 else {
            guard !items.isEmpty else { return nil }
            log.problem(node.position, "'stops' expects \(expectation), found \(counted(items.count, "color"))")
            return nil
        }
        let stops = items.compactMap { item -> GradientStop? in
            if case .scalar = item.content { return Color.read(item, &log).map { GradientStop(color: $0) } }
            return Parameters.read(GradientStop.self, from: item, owner: "the stop", &log)
        }
        // Stops that were not understood are noted already.
        return stops.count == items.count ? GradientStopList(stops: stops) : placeholder
    }
}
