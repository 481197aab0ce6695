// Means of a small picture that stands for a larger one, over the pixels of another one.
import Pipeline

/// Reads between the pixels of a small picture that stands for a larger one. Outside of it there is its edge.
struct PlaneSampler {
    private let pixels: GainMapPixels
    /// How many of its pixels are in one of the large picture's, along a side.
    let across, down: Double

    /// - Parameter extent: the pixels along each side that stand for the large picture.
    init(_ pixels: GainMapPixels, _ extent: (width: Double, height: Double), of large: PixelSize) {
        self.pixels = pixels
        (across, down) = (extent.width / Double(large.width), extent.height / Double(large.height))
    }

    // MARK: - Columns and rows that are apart

    /// The pixels along a side that a mean is of.
    private struct Taps {
        let first: Int
        /// Together 1.
        let weights: [Float]

        /// - Parameter points: in pixels of the small picture, from the middle of the first one.
        init(_ points: [Double], of count: Int) {
            let points = points.map { min(max($0, 0), Double(count - 1)) }
            let first = Int(points.min() ?? 0)
            var weights = [Float](repeating: 0, count: min(Int(points.max() ?? 0) + 2, count) - first)
            for point in points {
                let (place, part) = (Int(point) - first, Float(point - point.rounded(.down)))
                weights[place] += (1 - part) / Float(points.count)
                if part > 0 { weights[place + 1] += part / Float(points.count) }
            }
            (self.first, self.weights) = (first, weights)
        }
    }

    /// A picture of means of samples.
    /// - Parameters:
    ///   - columns: for each column of the result, the samples in pixels of the large picture.
    ///   - rows: the same for each row.
    func means(columns: [[Double]], rows: [[Double]]) -> GainMapPixels {
        let columnTaps = columns.map { Taps($0.map { $0 * across - 0.5 }, of: pixels.size.width) }
        let (bands, line) = (pixels.bands, pixels.size.width * pixels.bands)
        var result = [UInt8](repeating: 0, count: columns.count * rows.count * bands)
        var sums = [Float](repeating: 0, count: line)
        var place = 0
        for row in rows {
            let taps = Taps(row.map { $0 * down - 0.5 }, of: pixels.size.height)
            for index in 0..<line { sums[index] = 0 }
            for (offset, weight) in taps.weights.enumerated() {
                let start = (taps.first + offset) * line
                for index in 0..<line { sums[index] += weight * Float(pixels.bytes[start + index]) }
            }
            for column in columnTaps {
                for band in 0..<bands {
                    var sum: Float = 0
                    for (offset, weight) in column.weights.enumerated() {
                        sum += weight * sums[(column.first + offset) * bands + band]
                    }
                    result[place] = UInt8(sum + 0.5)
                    place += 1
                }
            }
        }
        return GainMapPixels(size: PixelSize(columns.count, rows.count), bands: bands, bytes: result)
    }

    // MARK: - Turned by any angle

    /// One for each band; the others are nothing.
    private typealias Numbers = SIMD4<Float>

    /// A picture of means of samples.
    /// - Parameters:
    ///   - columns: for each column of the result, samples.
    ///   - rows: the same for each row.
    ///   - map: from a sample to a point of the large picture.
    func means(columns: [[Double]], rows: [[Double]], through map: AffineMap) -> GainMapPixels {
        var result: [UInt8] = []
        result.reserveCapacity(columns.count * rows.count * pixels.bands)
        for row in rows {
            for column in columns {
                var sum = Numbers()
                for y in row { for x in column { sum += numbers(at: map(PlanePoint(x, y))) } }
                let mean = sum / Float(row.count * column.count) + 0.5
                for band in 0..<pixels.bands { result.append(UInt8(mean[band])) }
            }
        }
        return GainMapPixels(size: PixelSize(columns.count, rows.count), bands: pixels.bands, bytes: result)
    }

    private func numbers(at point: PlanePoint) -> Numbers {
        let (width, height, bands) = (pixels.size.width, pixels.size.height, pixels.bands)
        let x = min(max(point.x * across - 0.5, 0), Double(width - 1))
        let y = min(max(point.y * down - 0.5, 0), Double(height - 1))
        let (left, top) = (Int(x), Int(y))
        let (right, bottom) = (min(left + 1, width - 1), min(top + 1, height - 1))
        let (fx, fy) = (Float(x - Double(left)), Float(y - Double(top)))
        func number(_ x: Int, _ y: Int) -> Numbers {
            let place = (y * width + x) * bands
            return bands == 1
                ? Numbers(Float(pixels.bytes[place]), 0, 0, 0)
                : Numbers(
                    Float(pixels.bytes[place]), Float(pixels.bytes[place + 1]), Float(pixels.bytes[place + 2]), 0)
        }
        let upper = number(left, top) * (1 - fx) + number(right, top) * fx
        let lower = number(left, bottom) * (1 - fx) + number(right, bottom) * fx
        return upper * (1 - fy) + lower * fy
    }
}
