/// A rectangle: `{ x: 0, y: 100, width: 320, height: 44 }`.
package struct Rectangle: ParameterMapping {
    package let x, y: Length
    package let width, height: PositiveLength

    package init(_ p: inout Parameters) {
        x = p.optional("x", .points(0), "Its left edge.")
        y = p.optional("y", .points(0), "Its top edge.")
        width = p.required("width", "Its width.")
        height = p.required("height", "Its height.")
    }

    package static var expectation: String { "a rectangle such as { x: 0, y: 100, width: 320, height: 44 }" }
    package static var owner: String { "the rectangle" }
    package static var placeholder: Rectangle {
        Rectangle(x: .points(0), y: .points(0), width: .placeholder, height: .placeholder)
    }
    package var written: String {
        "{ x: \(x.written), y: \(y.written), width: \(width.written), height: \(height.written) }"
    }

    package init(x: Length, y: Length, width: PositiveLength, height: PositiveLength) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }

    /// In pixels; percentages are of a picture.
    /// - Throws: `PlanFailure` if its width or height is not above 0.
    package func pixels(
        of size: PixelSize, scale: Double, _ key: String, in stage: String
    ) throws(PlanFailure) -> PixelBox {
        PixelBox(
            PixelOffset(x.pixels(of: size.width, scale: scale), y.pixels(of: size.height, scale: scale)),
            PixelSize(
                try width.pixels(of: size.width, scale: scale, "\(key).width", in: stage),
                try height.pixels(of: size.height, scale: scale, "\(key).height", in: stage)))
    }
}
