// Whole pixels, and the rounding that all sizes share.

/// A size in pixels; no side is below 1.
package struct PixelSize: Hashable, Sendable, Codable, CustomStringConvertible {
    package var width: Int
    package var height: Int

    package init(_ width: Int, _ height: Int) {
        self.width = max(1, width)
        self.height = max(1, height)
    }

    /// Pixels in all. Sides come from headers and files, so the product may be too large for an Int; then it is the
    /// largest Int.
    package var area: Int {
        let (area, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : area
    }

    package var transposed: PixelSize { PixelSize(height, width) }

    package var description: String { "\(width)×\(height)" }
}

/// A place in pixels, from the top left corner; may be negative.
package struct PixelOffset: Hashable, Sendable, CustomStringConvertible {
    package var x: Int
    package var y: Int

    package init(_ x: Int, _ y: Int) {
        self.x = x
        self.y = y
    }

    package static prefix func - (offset: PixelOffset) -> PixelOffset { PixelOffset(-offset.x, -offset.y) }

    package var description: String { "(\(x), \(y))" }
}

/// A rectangle in pixels.
package struct PixelBox: Hashable, Sendable, CustomStringConvertible {
    package var offset: PixelOffset
    package var size: PixelSize

    package init(_ offset: PixelOffset, _ size: PixelSize) {
        self.offset = offset
        self.size = size
    }

    package var description: String { "\(size) at \(offset)" }

    /// The part of the box that lies in a picture of a size; nil if that is nothing.
    package func intersection(with picture: PixelSize) -> PixelBox? {
        let left = max(0, offset.x)
        let top = max(0, offset.y)
        let right = min(picture.width, offset.x + size.width)
        let bottom = min(picture.height, offset.y + size.height)
        return left < right && top < bottom
            ? PixelBox(PixelOffset(left, top), PixelSize(right - left, bottom - top)) : nil
    }
}

/// The nearest whole number, half away from zero. Numbers too large for any picture become the largest that a picture
/// can have a use for.
package func rounded(_ value: Double) -> Int {
    Int(min(max(value, -Double(maximumCoordinate)), Double(maximumCoordinate)).rounded(.toNearestOrAwayFromZero))
}

/// A number's rest that is never negative.
package func positive(_ value: Int, modulo length: Int) -> Int { ((value % length) + length) % length }

/// value × numerator / denominator for whole numbers of zero or more, exactly, rounded half up; never below 1.
func scaledSide(_ value: Int, times numerator: Int, over denominator: Int) -> Int {
    let (product, overflow) = value.multipliedReportingOverflow(by: numerator)
    guard !overflow, product < Int.max / 4 else { return maximumCoordinate }
    return max(1, (2 * product + denominator) / (2 * denominator))
}

/// libvips' own largest coordinate; nothing larger can be a side of a picture.
package let maximumCoordinate = 10_000_000
