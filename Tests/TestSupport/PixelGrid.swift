// The pixels of a picture as plain numbers, for probes and for references that libvips has no part in.
package import Vips

/// Pixels as numbers: 0…255, or 0…65535 if `maximum` says so.
package struct PixelGrid: Equatable {
    package let width: Int
    package let height: Int
    package let bands: Int
    package let maximum: Int
    /// Row by row, bands interleaved.
    package var values: [Int]

    package init(width: Int, height: Int, bands: Int, maximum: Int = 255, values: [Int]) {
        self.width = width
        self.height = height
        self.bands = bands
        self.maximum = maximum
        self.values = values
    }

    /// Evaluates a picture of 8 or 16 bits.
    package init(_ image: Image) throws {
        let bytes = try image.pixels()
        let isDeep = image.format == .ushort
        precondition(isDeep || image.format == .uchar, "a picture of 8 or 16 bits was expected")
        let values =
            isDeep ? bytes.withUnsafeBytes { $0.bindMemory(to: UInt16.self).map { Int($0) } } : bytes.map { Int($0) }
        self.init(
            width: image.width, height: image.height, bands: image.bands, maximum: isDeep ? 65_535 : 255, values: values
        )
    }

    /// Width and height.
    package var sides: [Int] { [width, height] }

    package subscript(x: Int, y: Int) -> [Int] {
        let start = (y * width + x) * bands
        return Array(values[start..<start + bands])
    }

    package subscript(x: Int, y: Int, band: Int) -> Int { values[(y * width + x) * bands + band] }

    /// One band, row by row.
    package func band(_ band: Int) -> [Int] { stride(from: band, to: values.count, by: bands).map { values[$0] } }

    /// The alpha of pictures that have it, row by row.
    package var alpha: [Int] { band(bands - 1) }

    /// The smallest box that holds all pixels of which this is true: left, top, width, height; nil if there is none.
    package func boundingBox(where isInside: ([Int]) -> Bool) -> [Int]? {
        var (left, top, right, bottom) = (Int.max, Int.max, Int.min, Int.min)
        for y in 0..<height {
            for x in 0..<width where isInside(self[x, y]) {
                (left, right) = (min(left, x), max(right, x))
                (top, bottom) = (min(top, y), max(bottom, y))
            }
        }
        return left <= right ? [left, top, right - left + 1, bottom - top + 1] : nil
    }

    /// The part of the picture in a box.
    package func part(left: Int, top: Int, width: Int, height: Int) -> PixelGrid {
        let rowLength = width * bands
        var rows: [Int] = []
        for y in top..<top + height {
            let start = (y * self.width + left) * bands
            rows += values[start..<start + rowLength]
        }
        return PixelGrid(width: width, height: height, bands: bands, maximum: maximum, values: rows)
    }

    /// The largest difference of a value to that of a picture of the same shape; nil if the shapes differ.
    package func largestDifference(to other: PixelGrid) -> Int? {
        guard (width, height, bands, maximum) == (other.width, other.height, other.bands, other.maximum) else {
            return nil
        }
        var largest = 0
        for index in values.indices { largest = max(largest, abs(values[index] - other.values[index])) }
        return largest
    }
}
