// The pipeline that draws a plan over the source that it is for: everything is laid out here, and a worker paints it.

/// A plan as a picture: the source, the part of it that each rendition shows, and a legend.
package struct PlanSheet {
    private let source: PixelSize
    private let title: String
    private let outlines: [RenditionOutline]
    /// Pixels of the sheet for one of the source.
    private let zoom: Double
    /// The source's top left corner on the sheet.
    private let corner: PlanePoint
    private let picture: PixelSize
    private let size: PixelSize
    private let legendTop: Int

    /// The box that the source and all frames fit into.
    private static let room = PixelSize(1120, 800)
    private static let margin = 24.0
    private static let header = 44.0
    private static let leastWidth = 720.0
    private static let type = 14
    private static let row = 22
    /// Pixels that a character of the type takes, a little more than on average.
    private static let character = 8.0
    private static let panel: JSONValue = "#2b3038"
    private static let paper: JSONValue = "#f4f6f8"
    /// Bright, so that they are seen on the panel; on the picture a dark edge goes round them.
    private static let colors = [
        "#ff6b6b", "#45c4ff", "#ffd447", "#63e287", "#d79bff", "#ffa552", "#52e5d5", "#ff9ccd",
    ]

    /// - Parameter title: the source as the user names it.
    package init(_ plan: SourcePlan, title: String) {
        source = plan.decoded.size
        self.title = title
        outlines = plan.outlines
        let (width, height) = (Double(source.width), Double(source.height))
        // Frames may be far larger than the picture; what is further away than half of it is cut.
        let points = outlines.flatMap(\.frame.points)
        let left = max(points.map(\.x).min() ?? 0, -width / 2)
        let top = max(points.map(\.y).min() ?? 0, -height / 2)
        let right = min(points.map(\.x).max() ?? 0, width * 1.5)
        let bottom = min(points.map(\.y).max() ?? 0, height * 1.5)
        let bounds = (left: min(0, left), top: min(0, top), right: max(width, right), bottom: max(height, bottom))
        let (wide, high) = (bounds.right - bounds.left, bounds.bottom - bounds.top)
        zoom = min(Double(Self.room.width) / wide, Double(Self.room.height) / high, 16)
        let sheet = max(Self.leastWidth, wide * zoom + 2 * Self.margin)
        corner = PlanePoint(
            ((sheet - wide * zoom) / 2 - bounds.left * zoom).rounded(), (Self.header - bounds.top * zoom).rounded())
        picture = PixelSize(rounded(width * zoom), rounded(height * zoom))
        legendTop = rounded(Self.header + high * zoom + Self.margin)
        size = PixelSize(rounded(sheet), 0)
    }

    /// The pipeline as JSON, which is YAML too.
    /// - Parameter format: what the sheet is saved as.
    package func pipeline(_ format: OutputFormat) -> JSONValue {
        let legend = legend
        let height = legendTop + legend.count * Self.row + rounded(Self.margin)
        // A few pixels that become many are shown as squares.
        let kernel: JSONValue = zoom > 2 ? "nearest" : "lanczos3"
        let resize: JSONValue = [
            "width": .int(picture.width), "height": .int(picture.height), "mode": "scale-to-fill", "kernel": kernel,
        ]
        let markup: JSONValue = [
            "width": .int(size.width), "height": .int(height), "x": .int(rounded(corner.x)),
            "y": .int(rounded(corner.y)), "background": Self.panel,
            "paper": "#8c929b",
            "lines": .array([edge] + outlines.indices.flatMap(lines) + legend.flatMap(\.lines)),
            "texts": .array([header] + labels + legend.flatMap(\.texts)),
        ]
        let save: JSONValue = ["format": .string(format.rawValue)]
        return [
            "renditions": [
                "sheet": ["stages": [["resize": resize], ["markup": markup]], "save": save, "file": "sheet.{ext}"]
            ]
        ]
    }

    // MARK: - On the picture

    private func color(_ index: Int) -> JSONValue { .string(Self.colors[index % Self.colors.count]) }

    /// The edge of the source itself.
    private var edge: JSONValue { line(Polygon(source).points, "#ffffff", width: 1) }

    private var header: JSONValue { text(shortened("\(title), \(source)", mostCharacters), x: 24, y: 12) }

    /// The lines of a rendition on the picture.
    private func lines(_ index: Int) -> [JSONValue] {
        let (outline, color) = (outlines[index], color(index))
        var lines = outline.kept.points.isEmpty ? [] : [line(outline.kept.points, color)]
        if outline.isPadded { lines.append(line(outline.frame.points, color, isBroken: true)) }
        lines += outline.lines.map { line([$0.start, $0.end], color, width: 1.5, isClosed: false) }
        lines += outline.drawings.flatMap { crossed($0.area.points, color) }
        return lines + outline.anchors.flatMap { cross(at: $0, color) }
    }

    /// A box with its diagonals: the usual sign for a picture.
    private func crossed(_ points: [PlanePoint], _ color: JSONValue) -> [JSONValue] {
        let diagonals = points.count == 4 ? [[points[0], points[2]], [points[1], points[3]]] : []
        return [line(points, color, width: 1.5)] + diagonals.map { line($0, color, width: 1, isClosed: false) }
    }

    /// Two strokes through a point, which are not scaled.
    private func cross(at point: PlanePoint, _ color: JSONValue) -> [JSONValue] {
        let reach = 9 / zoom
        return [(reach, reach), (reach, -reach)].map { x, y in
            line([PlanePoint(point.x - x, point.y - y), PlanePoint(point.x + x, point.y + y)], color, isClosed: false)
        }
    }

    /// The renditions' names inside of their outlines, none over another.
    private var labels: [JSONValue] {
        var taken: [(x: Double, y: Double, width: Double)] = []
        return outlines.enumerated().map { index, outline in
            let points = (outline.kept.points.isEmpty ? outline.frame : outline.kept).points.map(onSheet)
            let names = outline.titles.map { $0.split(separator: " ").dropLast().joined(separator: " ") }
            let name = shortened(
                names.count > 3 ? "\(names[0]) and \(names.count - 1) more" : names.joined(separator: ", "), 40)
            let width = Double(name.count) * Self.character + 16
            let x = min(max(8, (points.map(\.x).min() ?? 0) + 7), Double(size.width) - width - 8)
            var y = max(Self.header, (points.map(\.y).min() ?? 0) + 7)
            while taken.contains(where: { abs($0.y - y) < 24 && $0.x < x + width && x < $0.x + $0.width }) { y += 4 }
            taken.append((x, y, width))
            return text(name, x: rounded(x), y: rounded(y), color: color(index), background: "#14171ce0")
        }
    }

    private func onSheet(_ point: PlanePoint) -> PlanePoint {
        PlanePoint(point.x * zoom + corner.x, point.y * zoom + corner.y)
    }

    // MARK: - The legend

    private typealias Row = (lines: [JSONValue], texts: [JSONValue])

    private var legend: [Row] {
        var rows: [Row] = []
        for (index, outline) in outlines.enumerated() {
            for (number, words) in wrapped(outline.titles.joined(separator: ", ")).enumerated() {
                let y = legendTop + rows.count * Self.row
                let middle = Double(y + 9)
                let swatch = sheetLine([PlanePoint(28, middle), PlanePoint(52, middle)], color(index), width: 5)
                rows.append((number == 0 ? [swatch] : [], [text(words, x: 64, y: y)]))
            }
            for words in ([extent(outline)] + drawn(outline) + outline.notes).flatMap(wrapped) {
                rows.append(([], [text(words, x: 64, y: legendTop + rows.count * Self.row, color: "#b7c0cc")]))
            }
        }
        let key =
            "Lines show the part of the picture that a rendition shows, broken lines the edge of a result with room beside it, crosses anchors"
        let isDrawnOn = outlines.contains { !$0.drawings.isEmpty }
        for words in wrapped(key + (isDrawnOn ? ", boxes with diagonals what is drawn on it." : ".")) {
            rows.append(
                ([], [text(words, x: 24, y: legendTop + rows.count * Self.row + Self.row / 2, color: "#8d98a7")]))
        }
        return rows
    }

    private func extent(_ outline: RenditionOutline) -> String {
        let points = outline.kept.points
        guard let left = points.map(\.x).min(), let top = points.map(\.y).min(), let right = points.map(\.x).max(),
            let bottom = points.map(\.y).max()
        else { return "shows no part of the picture" }
        let (x, y) = (rounded(left), rounded(top))
        let part = PixelBox(PixelOffset(x, y), PixelSize(rounded(right) - x, rounded(bottom) - y))
        let what = part.size == source ? "shows all of the picture" : "shows \(part)"
        return what + (outline.isPadded ? ", with room beside it" : "")
    }

    private func drawn(_ outline: RenditionOutline) -> [String] {
        outline.drawings.isEmpty ? [] : ["draws " + outline.drawings.map(\.name).joined(separator: ", ") + " on it"]
    }

    /// The characters that fit beside a swatch.
    private var mostCharacters: Int { rounded((Double(size.width) - 88) / Self.character) }

    /// A text in lines that fit the sheet.
    private func wrapped(_ text: String) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + word.count < mostCharacters {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.map { shortened($0, mostCharacters) }
    }

    private func shortened(_ text: String, _ most: Int) -> String {
        text.count <= most ? text : text.prefix(most - 1) + "…"
    }

    // MARK: - Parts

    private func line(
        _ points: [PlanePoint], _ color: JSONValue, width: Double = 2.5, isBroken: Bool = false, isClosed: Bool = true
    ) -> JSONValue {
        sheetLine(
            points.map(onSheet) + (isClosed ? points.prefix(1).map(onSheet) : []), color, width: width,
            isBroken: isBroken)
    }

    private func sheetLine(
        _ points: [PlanePoint], _ color: JSONValue, width: Double, isBroken: Bool = false
    ) -> JSONValue {
        let numbers = points.flatMap { [$0.x, $0.y] }.map { JSONValue.double(($0 * 10).rounded() / 10) }
        return ["points": .array(numbers), "color": color, "width": .double(width), "broken": .bool(isBroken)]
    }

    private func text(
        _ text: String, x: Int, y: Int, color: JSONValue = PlanSheet.paper, background: JSONValue? = nil
    ) -> JSONValue {
        let base: JSONValue = [
            "text": .string(text), "x": .int(x), "y": .int(y), "size": .int(Self.type), "color": color,
        ]
        return base.merging(background.map { ["background": $0] } ?? [:])
    }
}
