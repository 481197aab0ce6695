// Scales one picture while its rows come in from top to bottom: rows are weighted and summed first, then each sum along its length.
import CResample

/// Scaling from one size to another in a few rows of memory, whatever the factor.
///
/// Rows of a picture that becomes lower are *scattered*: each is added to the few sums that it counts for, and is not kept. Rows of a picture that
/// becomes higher are *gathered*: the last few are kept, and each sum is made of them at once, since a row counts for any number of sums.
/// Either way the numbers are added in the same order.
final class Resampler {
    private let rows: Taps
    private let bands: Int
    private let instructions: CResampleInstructions
    /// Floats in a row of the source.
    private let length: Int
    private let gathers: Bool

    private let starts: UnsafeMutableBufferPointer<Int32>
    private let weights: UnsafeMutableBufferPointer<Float>
    private let vectors: Int
    private let newWidth: Int

    /// Sums of rows that wait to be scaled along their length; the row of the result at `index` has its sum at `index % sumCount`.
    private let sums: UnsafeMutableBufferPointer<Float>
    private let stride: Int
    private let sumCount: Int
    /// The last rows of the source, for gathering; the row at `index` is at `index % keptCount`.
    private let kept: UnsafeMutableBufferPointer<Float>
    private let keptCount: Int
    /// Rows of the result before they are taken, one after the other.
    private let results: UnsafeMutableBufferPointer<Float>
    private let resultStride: Int
    /// The first row of the result that was not handed out.
    private var next = 0
    /// The first row of the result whose sum is not complete; for gathering.
    private var nextSum = 0

    /// - Parameters:
    ///   - bands: 1 to 4.
    ///   - gathers: whether rows are kept and sums are made at once; default if the picture becomes higher.
    init(from source: Sides, bands: Int, to target: ResamplingTarget, instructions: CResampleInstructions, gathers: Bool? = nil) {
        precondition((1...4).contains(bands), "the inner loops know 1 to 4 bands")
        self.bands = bands
        self.instructions = instructions
        newWidth = target.width
        length = source.width * bands
        stride = paddedLength(length)
        rows = .recent(from: source.height, extent: source.extent.height, to: target.height, kernel: target.kernel)
        self.gathers = gathers ?? (target.height > source.height)
        keptCount = self.gathers ? rows.longest : 0
        kept = zeroed(keptCount * stride)
        sumCount = self.gathers ? Self.together : rows.overlap + Self.together
        sums = zeroed(sumCount * stride)
        resultStride = paddedLength(newWidth * bands)
        results = zeroed(Self.together * resultStride)

        let columns = Taps.recent(from: source.width, extent: source.extent.width, to: newWidth, kernel: target.kernel)
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
        kept.deallocate()
        results.deallocate()
    }

    /// Floats in rows of the source and of the result that are held.
    var heldFloats: Int { sums.count + kept.count + results.count }

    /// Begins with another picture of the same size.
    func restart() { (next, nextSum) = (0, 0) }

    /// Takes the next rows of the source.
    /// - Parameters:
    ///   - strip: the rows as floats, `stride` floats apart.
    ///   - range: which rows these are; each row comes once, in order.
    ///   - finished: is given each row of the result with its place, in order. The floats are for it to change.
    func take(
        _ strip: UnsafePointer<Float>, _ range: Range<Int>, finished: (_ row: UnsafeMutablePointer<Float>, _ y: Int) throws(VipsError) -> Void
    ) throws(VipsError) {
        if gathers { try gather(strip, range, finished) } else { try scatter(strip, range, finished) }
    }

    private func sum(_ y: Int) -> UnsafeMutablePointer<Float> { sums.baseAddress! + (y % sumCount) * stride }

    // MARK: - Scattering

    private func scatter(
        _ strip: UnsafePointer<Float>, _ range: Range<Int>, _ finished: (_ row: UnsafeMutablePointer<Float>, _ y: Int) throws(VipsError) -> Void
    ) throws(VipsError) {
        var y = next
        while y < rows.count, rows.starts[y] < range.upperBound {
            add(strip, range, to: y)
            y += 1
            // Complete sums are scaled a few at a time, before more are begun than there is room for: at most `overlap` are incomplete, and
            // fewer than `together` wait.
            while next < y, rows.end(next) <= range.upperBound, next + Self.together <= y || isLast(y, range) {
                let complete = next..<min(y, next + Self.together)
                try scale(complete.prefix { rows.end($0) <= range.upperBound }, finished)
            }
        }
    }

    private func isLast(_ y: Int, _ range: Range<Int>) -> Bool { y == rows.count || rows.starts[y] >= range.upperBound }

    private func add(_ strip: UnsafePointer<Float>, _ range: Range<Int>, to y: Int) {
        let first = max(rows.starts[y], range.lowerBound)
        let end = min(rows.end(y), range.upperBound)
        guard first < end else { return }
        sumUp(strip + (first - range.lowerBound) * stride, first..<end, for: y)
    }

    // MARK: - Gathering

    private func gather(
        _ strip: UnsafePointer<Float>, _ range: Range<Int>, _ finished: (_ row: UnsafeMutablePointer<Float>, _ y: Int) throws(VipsError) -> Void
    ) throws(VipsError) {
        for y in range {
            (kept.baseAddress! + (y % keptCount) * stride).update(from: strip + (y - range.lowerBound) * stride, count: length)
            while nextSum < rows.count, rows.end(nextSum) <= y + 1 {
                gather(nextSum)
                nextSum += 1
                if nextSum - next == Self.together || nextSum == rows.count { try scale(next..<nextSum, finished) }
            }
        }
    }

    /// Sums up the rows for one row of the result: they are kept in one piece, or in two.
    private func gather(_ y: Int) {
        var first = rows.starts[y]
        while first < rows.end(y) {
            let end = min(rows.end(y), (first / keptCount + 1) * keptCount)
            sumUp(kept.baseAddress! + (first % keptCount) * stride, first..<end, for: y)
            first = end
        }
    }

    // MARK: - Both

    /// Adds rows of the source to the sum for a row of the result, or begins it with them.
    private func sumUp(_ floats: UnsafePointer<Float>, _ source: Range<Int>, for y: Int) {
        rows.withWeights(of: y, from: source.lowerBound) { weights in
            cresample_sum_rows(
                instructions, sum(y), source.lowerBound > rows.starts[y] ? 1 : 0, floats, stride, weights, CInt(source.count), length)
        }
    }

    private static let together = Int(CRESAMPLE_ROWS)

    private func scale(
        _ complete: Range<Int>, _ finished: (_ row: UnsafeMutablePointer<Float>, _ y: Int) throws(VipsError) -> Void
    ) throws(VipsError) {
        let taps = CResampleTaps(starts: starts.baseAddress, weights: weights.baseAddress, vectors: CInt(vectors), width: CInt(newWidth))
        withUnsafeTemporaryAllocation(of: UnsafePointer<Float>?.self, capacity: Self.together) { inputs in
            withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<Float>?.self, capacity: Self.together) { outputs in
                for index in 0..<Self.together {
                    // If there are fewer, the last one fills the places of the missing.
                    inputs.initializeElement(at: index, to: UnsafePointer(sum(min(complete.lowerBound + index, complete.upperBound - 1))))
                    outputs.initializeElement(at: index, to: result(index))
                }
                cresample_scale_rows(instructions, taps, CInt(bands), inputs.baseAddress, outputs.baseAddress)
            }
        }
        for y in complete { try finished(result(y - complete.lowerBound), y) }
        next = complete.upperBound
    }

    private func result(_ index: Int) -> UnsafeMutablePointer<Float> { results.baseAddress! + index * resultStride }
}

/// The floats that a row takes, with room for whole vectors.
func paddedLength(_ length: Int) -> Int {
    let padding = Int(CRESAMPLE_PADDING)
    return (length + padding - 1) / padding * padding + padding
}

/// Floats that are zero: what is beyond the end of a row is multiplied by nothing, but must be a number.
func zeroed(_ count: Int) -> UnsafeMutableBufferPointer<Float> {
    let floats = UnsafeMutableBufferPointer<Float>.allocate(capacity: count)
    floats.initialize(repeating: 0)
    return floats
}
