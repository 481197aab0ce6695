// Scales one picture while its rows come in from top to bottom: rows are weighted and summed first, then each sum along
// its length.
import CResample

/// Scaling from one size to another in a few rows of memory, whatever the factor.
///
/// Rows of a picture that becomes lower are *scattered*: each is added to the few sums that it counts for, and is not
/// kept. Rows of a picture that becomes higher are *gathered*: the last few are kept, and each sum is made of them at
/// once, since a row counts for any number of sums. Either way the numbers are added in the same order.
final class Resampler {
    private let rows: Taps
    private let columns: Taps
    private let bands: Int
    private let instructions: CInstructions
    /// Floats in a row of the source.
    private let length: Int
    private let gathers: Bool

    /// Sums of rows that wait to be scaled along their length; the row of the result at `index` has its sum at `index %
    /// sumCount`.
    private let sums: UnsafeMutableBufferPointer<Float>
    private let stride: Int
    private let sumCount: Int
    /// The last rows of the source, for gathering; the row at `index` is at `index % keptCount`.
    private let kept: UnsafeMutableBufferPointer<Float>
    private let keptCount: Int
    /// Room for some columns of the sums, of so many pixels.
    private let scratch: UnsafeMutableBufferPointer<Float>
    private let scratchColumns: Int
    /// The first row of the result that was not handed out.
    private var next = 0
    /// The first row of the result whose sum is not complete; for gathering.
    private var nextSum = 0

    /// - Parameters:
    ///   - bands: 1 to 5.
    ///   - gathers: whether rows are kept and sums are made at once; default if the picture becomes higher.
    init(
        from source: Sides, bands: Int, to target: ResamplingTarget, instructions: CInstructions,
        gathers: Bool? = nil
    ) {
        precondition((1...5).contains(bands), "the inner loops know 1 to 5 bands")
        self.bands = bands
        self.instructions = instructions
        length = source.width * bands
        stride = paddedLength(length)
        rows = .recent(from: source.height, extent: source.extent.height, to: target.height, kernel: target.kernel)
        columns = .recent(from: source.width, extent: source.extent.width, to: target.width, kernel: target.kernel)
        self.gathers = gathers ?? (target.height > source.height)
        keptCount = self.gathers ? rows.longest + Strip.capacity : 0
        kept = floats(keptCount * stride)
        // Complete ones that wait for others, incomplete ones, and those that a strip begins.
        sumCount = self.gathers ? Self.together : Self.together + rows.overlap + rows.begun(byRows: Strip.capacity)
        sums = floats(sumCount * stride)
        scratchColumns = max(columns.longest, min(source.width, max(Self.columnsTogether, 4 * columns.longest)))
        scratch = floats((scratchColumns * bands + Int(CRESAMPLE_PADDING)) * Self.together)
    }

    deinit {
        sums.deallocate()
        kept.deallocate()
        scratch.deallocate()
    }

    /// Floats in rows of the source and in parts of them that are held.
    var heldFloats: Int { sums.count + kept.count + scratch.count }

    /// Begins with another picture of the same size.
    func restart() { (next, nextSum) = (0, 0) }

    /// Takes a part of the next rows of the source.
    /// - Parameters:
    ///   - range: which rows these are; each comes once, in order.
    ///   - columns: which floats of these rows are in the strip: as many as it holds, or those that are left. What is
    ///     beyond the last ones is written over.
    func add(_ strip: Strip, rows range: Range<Int>, columns: Range<Int>) {
        if gathers { return keep(strip, rows: range, columns: columns) }
        var y = next
        while y < rows.count, rows.start(y) < range.upperBound {
            let first = max(rows.start(y), range.lowerBound)
            let end = min(rows.end(y), range.upperBound)
            if first < end {
                sumUp(
                    strip.row(first - range.lowerBound), stride: Strip.stride, rows: first..<end, columns: columns,
                    for: y)
            }
            y += 1
        }
    }

    /// Makes what can be made of the source's rows up to the end of `range`, all of whose parts were added.
    /// - Parameters:
    ///   - kind: how the result's rows are stored.
    ///   - place: where the row of the result at a place is to be.
    func finish(_ range: Range<Int>, as kind: CResampleRow, place: (_ y: Int) -> UnsafeMutableRawPointer) {
        if gathers { gather(range, kind, place) } else { scaleComplete(range, kind, place) }
    }

    private func sum(_ y: Int) -> UnsafeMutablePointer<Float> { sums.baseAddress! + (y % sumCount) * stride }

    /// Adds rows of the source to the sum for a row of the result, or begins it with them.
    private func sumUp(
        _ floats: UnsafePointer<Float>, stride: Int, rows source: Range<Int>, columns: Range<Int>, for y: Int
    ) {
        rows.withWeights(of: y, from: source.lowerBound) { weights in
            cresample_sum_rows(
                instructions, sum(y) + columns.lowerBound, source.lowerBound > rows.start(y) ? 1 : 0, floats, stride,
                weights,
                CInt(source.count), columns.count)
        }
    }

    // MARK: - Scattering

    /// Scales complete sums along their length, as many at a time as there are lanes.
    private func scaleComplete(_ range: Range<Int>, _ kind: CResampleRow, _ place: (Int) -> UnsafeMutableRawPointer) {
        while next < rows.count {
            let complete = (next..<min(next + Self.together, rows.count)).prefix { rows.end($0) <= range.upperBound }
            guard complete.count == Self.together || complete.upperBound == rows.count else { return }
            scale(complete, kind, place)
        }
    }

    // MARK: - Gathering

    private func keep(_ strip: Strip, rows range: Range<Int>, columns: Range<Int>) {
        for y in range {
            let row = kept.baseAddress! + (y % keptCount) * stride + columns.lowerBound
            row.update(from: strip.row(y - range.lowerBound), count: columns.count)
        }
    }

    private func gather(_ range: Range<Int>, _ kind: CResampleRow, _ place: (Int) -> UnsafeMutableRawPointer) {
        while nextSum < rows.count, rows.end(nextSum) <= range.upperBound {
            gather(nextSum)
            nextSum += 1
            if nextSum - next == Self.together || nextSum == rows.count { scale(next..<nextSum, kind, place) }
        }
    }

    /// Sums up the rows for one row of the result: they are kept in one piece, or in two.
    private func gather(_ y: Int) {
        var first = rows.start(y)
        while first < rows.end(y) {
            let end = min(rows.end(y), (first / keptCount + 1) * keptCount)
            sumUp(
                kept.baseAddress! + (first % keptCount) * stride, stride: stride, rows: first..<end,
                columns: 0..<length, for: y)
            first = end
        }
    }

    // MARK: - Both

    private static let together = Int(CRESAMPLE_ROWS)
    /// Pixels of the source whose columns the processor's cache has room for. If a pixel of the result needs most of
    /// them, more are taken, since what two neighbouring parts share is turned twice.
    private static let columnsTogether = 192

    private func scale(_ complete: Range<Int>, _ kind: CResampleRow, _ place: (Int) -> UnsafeMutableRawPointer) {
        columns.withPointers(columns: scratchColumns) { taps in
            withUnsafeTemporaryAllocation(of: UnsafePointer<Float>?.self, capacity: Self.together) { inputs in
                withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer?.self, capacity: Self.together) { outputs in
                    for index in 0..<Self.together {
                        // If there are fewer, the last one fills the places of the missing.
                        let y = min(complete.lowerBound + index, complete.upperBound - 1)
                        inputs.initializeElement(at: index, to: UnsafePointer(sum(y)))
                        outputs.initializeElement(at: index, to: place(y))
                    }
                    cresample_scale_rows(
                        instructions, taps, kind, inputs.baseAddress, outputs.baseAddress, scratch.baseAddress)
                }
            }
        }
        next = complete.upperBound
    }
}
