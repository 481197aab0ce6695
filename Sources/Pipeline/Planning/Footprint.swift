// How a stage's result lies on the picture that the stage gets, for drawings of a plan.

/// Where a stage's result comes from. All points are pixels of the picture that the stage gets.
package struct Footprint: Hashable, Sendable {
    /// A line to draw on the picture, such as the edge of a cap.
    package struct Line: Hashable, Sendable {
        package let start, end: PlanePoint

        package init(_ start: PlanePoint, _ end: PlanePoint) { (self.start, self.end) = (start, end) }
    }

    /// Something that is drawn on the picture, such as a badge.
    package struct Drawing: Hashable, Sendable {
        /// Its title, such as the name of its file.
        package let name: String
        package let area: Polygon

        package init(_ name: String, _ area: Polygon) { (self.name, self.area) = (name, area) }
    }

    /// From the result's pixels to those of the incoming picture; nil if no single map does that.
    package var map: AffineMap?
    /// The point that the stage keeps in view.
    package var anchor: PlanePoint?
    package var lines: [Line] = []
    package var drawings: [Drawing] = []
    /// The note for a person who sees the drawing.
    package var note: String?

    /// Each pixel stays in its place.
    package static let unmoved = Footprint(.identity)

    package init(_ map: AffineMap, anchor: PlanePoint? = nil) { (self.map, self.anchor) = (map, anchor) }

    /// The result has parts of the picture in several places.
    package init(scattered note: String, lines: [Line] = []) { (map, self.note, self.lines) = (nil, note, lines) }
}

extension Anchor {
    /// The anchor as a point of a picture; nil for an anchor that is still to be measured.
    package func point(in size: PixelSize) -> PlanePoint? {
        func place(_ edge: Edge, _ side: Int) -> Double {
            switch edge {
            case .start: 0
            case .center: Double(side) / 2
            case .end: Double(side)
            }
        }
        switch kind {
        case .edges(let horizontal, let vertical):
            return PlanePoint(place(horizontal, size.width), place(vertical, size.height))
        case .focus(let x, let y): return PlanePoint(x * Double(size.width), y * Double(size.height))
        case .attention, .entropy: return nil
        }
    }
}
