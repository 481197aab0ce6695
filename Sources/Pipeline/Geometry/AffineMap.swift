// Points that need not be whole pixels, maps between the pixels of pictures, and polygons of such points.

/// A place in a picture, from its top left corner, in pixels.
package struct PlanePoint: Hashable, Sendable {
    package let x, y: Double

    package init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }

    /// Whether it is in a picture.
    /// - Parameter margin: pixels around it that count too.
    package func isInside(_ size: PixelSize, margin: Double) -> Bool {
        x >= -margin && y >= -margin && x <= Double(size.width) + margin && y <= Double(size.height) + margin
    }
}

/// A map of the plane that keeps straight lines: x′ = a·x + b·y + dx, y′ = c·x + d·y + dy.
package struct AffineMap: Hashable, Sendable {
    package var a = 1.0
    package var b = 0.0
    package var c = 0.0
    package var d = 1.0
    package var dx = 0.0
    package var dy = 0.0

    package static let identity = AffineMap()

    package init(a: Double = 1, b: Double = 0, c: Double = 0, d: Double = 1, dx: Double = 0, dy: Double = 0) {
        (self.a, self.b, self.c, self.d, self.dx, self.dy) = (a, b, c, d, dx, dy)
    }

    /// From a canvas back to the picture that is drawn on it.
    /// - Parameters:
    ///   - picture: the picture's own size.
    ///   - drawn: the size at which it is drawn.
    ///   - offset: its top left corner on the canvas.
    package init(to picture: PixelSize, drawnAt drawn: PixelSize, _ offset: PixelOffset = PixelOffset(0, 0)) {
        let (x, y) = (Double(picture.width) / Double(drawn.width), Double(picture.height) / Double(drawn.height))
        self.init(a: x, d: y, dx: -Double(offset.x) * x, dy: -Double(offset.y) * y)
    }

    package func callAsFunction(_ point: PlanePoint) -> PlanePoint {
        PlanePoint(a * point.x + b * point.y + dx, c * point.x + d * point.y + dy)
    }

    /// Another map first, then this one.
    package func after(_ first: AffineMap) -> AffineMap {
        let corner = self(PlanePoint(first.dx, first.dy))
        return AffineMap(
            a: a * first.a + b * first.c, b: a * first.b + b * first.d, c: c * first.a + d * first.c,
            d: c * first.b + d * first.d, dx: corner.x,
            dy: corner.y)
    }
}

/// A polygon without dents, its corners in order.
package struct Polygon: Hashable, Sendable {
    package let points: [PlanePoint]

    package init(_ points: [PlanePoint]) { self.points = points }

    /// All of a picture.
    package init(_ size: PixelSize) {
        let (width, height) = (Double(size.width), Double(size.height))
        points = [PlanePoint(0, 0), PlanePoint(width, 0), PlanePoint(width, height), PlanePoint(0, height)]
    }

    package init(_ box: PixelBox) {
        self = Polygon(box.size).mapped(by: AffineMap(dx: Double(box.offset.x), dy: Double(box.offset.y)))
    }

    package func mapped(by map: AffineMap) -> Polygon { Polygon(points.map { map($0) }) }

    /// The part that it shares with another one; without points if there is none.
    package func clipped(to other: Polygon) -> Polygon {
        let edges = zip(other.points, other.points.dropFirst() + other.points.prefix(1))
        // A mirrored polygon has its inside on the other side of its edges.
        let turn = other.area < 0 ? -1.0 : 1.0
        let part = Polygon(edges.reduce(points) { points, edge in Self.cut(points, by: edge, turn) })
        // They may share no more than an edge.
        return abs(part.area) > 1e-6 ? part : Polygon([])
    }

    /// The points on the inner side of an edge, and where the polygon crosses it.
    private static func cut(_ points: [PlanePoint], by edge: (PlanePoint, PlanePoint), _ turn: Double) -> [PlanePoint] {
        func side(_ point: PlanePoint) -> Double {
            turn * ((edge.1.x - edge.0.x) * (point.y - edge.0.y) - (edge.1.y - edge.0.y) * (point.x - edge.0.x))
        }
        var result: [PlanePoint] = []
        for (point, next) in zip(points, points.dropFirst() + points.prefix(1)) {
            let (here, there) = (side(point), side(next))
            if here >= 0 { result.append(point) }
            guard (here > 0 && there < 0) || (here < 0 && there > 0) else { continue }
            let part = here / (here - there)
            result.append(PlanePoint(point.x + (next.x - point.x) * part, point.y + (next.y - point.y) * part))
        }
        return result
    }

    /// Pixels; below 0 if the corners go round the other way.
    package var area: Double {
        zip(points, points.dropFirst() + points.prefix(1)).reduce(0) { $0 + ($1.0.x * $1.1.y - $1.1.x * $1.0.y) / 2 }
    }
}
