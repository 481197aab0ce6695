// Scales one picture while its rows come in from top to bottom. Rows are summed up first, which needs no more memory than a few rows
// whatever the factor; each finished sum is scaled along its length.
import CResample

/// Scaling from one size to another. Keeps the sums of the rows that are not complete yet.
final class Resampler {
    private let rows: Taps
    private let bands: Int
    private let instructions: CResampleInstructions
    /// Floats in a row of the source.
    private let length: Int

    private let starts: UnsafeMutableBufferPointer<Int32>
    private let weights: UnsafeMutableBufferPointer<Float>
    private let vectors: Int
    private let newWidth: Int

    /// The sums of rows under way, one behind the other; the row of the result at `index` has its sum at `index % sumCount`.
    private let sums: UnsafeMutableBufferPointer<Float>
    private let stride: Int
    private let sumCount: Int
    /// Rows of the result before they are taken, one behind the other.
    private let results: UnsafeMutableBufferPointer<Float>
    private let resultStride: Int
    /// The first row of the result that is not complete.
    private var next = 0

    /// - Parameter bands: 1 to 4.
    init(from source: Sides, bands: Int, to target: ResamplingTarget, instructions: CResampleInstructions) {
        precondition((1...4).contains(bands), "the inner loops know 1 to 4 bands")
        self.bands = bands
        self.instructions = instructions
        newWidth = target.width
        length = source.width * bands
        stride = paddedLength(length)
        rows = Taps(from: source.height, extent: source.extent.height, to: target.height, kernel: target.kernel)
        sumCount = rows.overlap + Self.together
        sums = zeroed(sumCount * stride)
        resultStride = paddedLength(newWidth * bands)
        results = zeroed(Self.together * resultStride)

        let columns = Taps(from: source.width, extent: source.extent.width, to: newWidth, kernel: target.kernel)
        let pixels = Int(cresample_pixels_per_vector(CInt(bands)))
        vectors = (columns.longest + pixels - 1) / pixels
        starts = .allocate(capacity: newWidth)
        weights = zeroed(newWidth * vectors * 8)
        for x in 0..<newWidth {
            // Never past the end of the row, even where all but the first few weights are nothing.
            let start = min(columns.starts[x], max(0, source.width - vectors * pixels))
            starts[x] = Int32(start)
            for column in columns.starts[x]..<columns.end(x) {
                let (vector, place) = (column - start).quotientAndRemainder(dividingBy: pixels)
                let first = (x * vectors + vector) * 8 + place * bands
                for band in 0..<bands { weights[first + band] = columns.weight(of: column, in: x) }
            }
        }
    }

    deinit {
        starts.deallocate()
        weights.deallocate()
        sums.deallocate()
        results.deallocate()
    }

    /// Begins with another picture of the same size.
    func restart() { next = 0 }

    /// Takes the next rows of the source.
    /// - Parameters:
    ///   - strip: the rows as floats, `stride` floats apart.
    ///   - range: which rows these are; each row comes once, in order.
    ///   - finished: is given each row of the result with its place, in order. The floats are for it to change.
    func take(
        _ strip: UnsafePointer<Float>, _ range: Range<Int>, finished: (_ row: UnsafeMutablePointer<Float>, _ y: Int) throws(VipsError) -> Void
    ) throws(VipsError) {
        var y = next
        while y < rows.count, rows.starts[y] < range.upperBound {
            add(strip, range, to: y)
            y += 1
            // Complete ones are scaled along their length a few at a time; what follows them begins in the same rows.
            while next < y, rows.end(next) <= range.upperBound, next + Self.together <= y || isLast(y, range) {
                let complete = next..<min(y, next + Self.together)
                try scale(complete.prefix { rows.end($0) <= range.upperBound }, finished)
            }
        }
    }

    private func isLast(_ y: Int, _ range: Range<Int>) -> Bool { y == rows.count || rows.starts[y] >= range.upperBound }

    private func sum(_ y: Int) -> UnsafeMutablePointer<Float> { sums.baseAddress! + (y % sumCount) * stride }

    private func add(_ strip: UnsafePointer<Float>, _ range: Range<Int>, to y: Int) {
        let first = max(rows.starts[y], range.lowerBound)
        let end = min(rows.end(y), range.upperBound)
        guard first < end else { return }
        rows.withWeights(of: y, from: first) { weights in
            cresample_sum_rows(
                instructions, sum(y), first > rows.starts[y] ? 1 : 0, strip + (first - range.lowerBound) * stride, stride, weights,
                CInt(end - first), length)
        }
    }

    private static let together = Int(CRESAMPLE_ROWS)

    private func scale(
        _ complete: Range<Int>, _ finished: (_ row: UnsafeMutablePointer<Float>, _ y: Int) throws(VipsError) -> Void
    ) throws(VipsError) {
        let taps = CResampleTaps(starts: starts.baseAddress, weights: weights.baseAddress, vectors: CInt(vectors), width: CInt(newWidth))
        let outputs = (0..<Self.together).map { results.baseAddress! + $0 * resultStride }
        // Where there are fewer, the last one stands in for the missing.
        let inputs = (0..<Self.together).map { UnsafePointer(sum(min(complete.lowerBound + $0, complete.upperBound - 1))) as UnsafePointer? }
        inputs.withUnsafeBufferPointer { inputs in
            outputs.map { $0 as UnsafeMutablePointer? }.withUnsafeBufferPointer { outputs in
                cresample_scale_rows(instructions, taps, CInt(bands), inputs.baseAddress, outputs.baseAddress)
            }
        }
        for y in complete { try finished(outputs[y - complete.lowerBound], y) }
        next = complete.upperBound
    }
}

/// The floats that a row takes, with room for whole vectors.
func paddedLength(_ length: Int) -> Int {
    let padding = Int(CRESAMPLE_PADDING)
    return (length + padding - 1) / padding * padding + padding
}

func zeroed(_ count: Int) -> UnsafeMutableBufferPointer<Float> {
    let floats = UnsafeMutableBufferPointer<Float>.allocate(capacity: count)
    floats.initialize(repeating: 0)
    return floats
}
