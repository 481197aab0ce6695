// Lines and masks painted into pixels.
import Glibc
import Pipeline

/// Opaque pixels of three bands of 8 bits, to be painted on. What is outside is not painted.
struct Raster {
    private(set) var bytes: [UInt8]
    private let size: PixelSize

    init(_ bytes: [UInt8], _ size: PixelSize) { (self.bytes, self.size) = (bytes, size) }

    /// Mixes a color into a pixel.
    private mutating func mix(_ color: Color, coverage: Double, x: Int, y: Int) {
        let place = (y * size.width + x) * 3
        let share = coverage * color.alpha
        for (band, value) in [color.red, color.green, color.blue].enumerated() {
            let old = Double(bytes[place + band])
            bytes[place + band] = UInt8((old + (Double(value) - old) * share).rounded())
        }
    }

    mutating func fill(_ box: PixelBox, with color: Color) {
        guard let part = box.intersection(with: size) else { return }
        for y in part.offset.y..<part.offset.y + part.size.height {
            for x in part.offset.x..<part.offset.x + part.size.width { mix(color, coverage: 1, x: x, y: y) }
        }
    }

    /// Paints where a mask is.
    /// - Parameter mask: a byte for each pixel, 255 where all of it is covered.
    mutating func paint(_ mask: [UInt8], of shape: PixelSize, at offset: PixelOffset, in color: Color) {
        guard let part = PixelBox(offset, shape).intersection(with: size) else { return }
        for y in part.offset.y..<part.offset.y + part.size.height {
            for x in part.offset.x..<part.offset.x + part.size.width {
                let covered = mask[(y - offset.y) * shape.width + x - offset.x]
                if covered > 0 { mix(color, coverage: Double(covered) / 255, x: x, y: y) }
            }
        }
    }

    /// Pixels of a dash and of the gap after it.
    private static let dash = (length: 9.0, gap: 7.0)

    mutating func stroke(_ line: MarkupLine, color: Color, width: Double) {
        for (start, end) in zip(line.points, line.points.dropFirst()) {
            guard line.isBroken else {
                stroke(from: start, to: end, color, width)
                continue
            }
            let length = hypot(end.x - start.x, end.y - start.y)
            for place in stride(from: 0, to: length, by: Self.dash.length + Self.dash.gap) {
                let (first, last) = (place / length, min(1, (place + Self.dash.length) / length))
                stroke(
                    from: PlanePoint(start.x + (end.x - start.x) * first, start.y + (end.y - start.y) * first),
                    to: PlanePoint(start.x + (end.x - start.x) * last, start.y + (end.y - start.y) * last), color, width
                )
            }
        }
    }

    private mutating func stroke(from start: PlanePoint, to end: PlanePoint, _ color: Color, _ width: Double) {
        let reach = width / 2 + 0.5
        let (dx, dy) = (end.x - start.x, end.y - start.y)
        let length = max(hypot(dx, dy), 1e-6)
        let rows = bounded(from: min(start.y, end.y) - reach, to: max(start.y, end.y) + reach, below: size.height)
        for y in rows {
            let row = Double(y) + 0.5
            // The part of the row that the line can touch.
            var (left, right) = (min(start.x, end.x) - reach, max(start.x, end.x) + reach)
            if abs(dy) > 1e-6 {
                let (middle, half) = (start.x + (row - start.y) * dx / dy, reach * length / abs(dy))
                (left, right) = (max(left, middle - half), min(right, middle + half))
            }
            for x in bounded(from: left, to: right, below: size.width) {
                let (px, py) = (Double(x) + 0.5 - start.x, row - start.y)
                let along = min(max((px * dx + py * dy) / (length * length), 0), 1)
                let coverage = min(1, reach - hypot(px - along * dx, py - along * dy))
                if coverage > 0 { mix(color, coverage: coverage, x: x, y: y) }
            }
        }
    }

    /// The whole numbers of a range that are in a picture.
    private func bounded(from first: Double, to last: Double, below side: Int) -> Range<Int> {
        let start = min(max(0, rounded(first.rounded(.down))), side)
        return start..<max(start, min(side, rounded(last.rounded(.up)) + 1))
    }
}
