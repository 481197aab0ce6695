// Parts of a few rows that fit the nearest cache, in which all sizes take what they need of them.
import CResample

/// Some columns of a few rows, as floats: few enough for the processor's nearest cache, so that all sizes are made of
/// them there.
final class Strip {
    /// Rows that it holds.
    static let capacity = 16
    /// Floats of a row that it holds: whole pixels of 1, 2, 3 and 4 bands, and whole vectors of them and of their
    /// means.
    static let width = Int(CRESAMPLE_MEANS)
    static let stride = paddedLength(width)
    private let memory = floats(capacity * stride)

    deinit { memory.deallocate() }

    func row(_ index: Int) -> UnsafeMutablePointer<Float> { memory.baseAddress! + index * Self.stride }
}

/// The same part of a picture in full and as means, for the sizes that are made of means.
final class Strips {
    let full = Strip()
    /// The means of 2 × 2 pixels, of 4 × 4 and of 8 × 8, as far as they are needed.
    private let means: [Strip]
    private let layout: RowLayout

    /// - Parameter shrinks: how many pixels along each side become one: 1, 2, 4 or 8.
    init(_ shrinks: some Sequence<Int>, _ layout: RowLayout) {
        means = (0..<(shrinks.max() ?? 1).trailingZeroBitCount).map { _ in Strip() }
        self.layout = layout
    }

    func strip(shrink: Int) -> Strip { shrink == 1 ? full : means[shrink.trailingZeroBitCount - 1] }

    /// Makes the means of what is in the full strip, each of four of the next finer ones.
    func average(rows: Int, floats: Int) {
        for (index, strip) in means.enumerated() {
            let shrink = 2 << index
            let finer = self.strip(shrink: shrink / 2)
            // Floats that whole means are made of; the others at the edges would not weigh alike as means.
            let whole = layout.whole(floats, by: shrink)
            for first in stride(from: 0, to: rows, by: shrink) {
                let (source, result) = (full.row(first), strip.row(first / shrink))
                guard first + shrink <= rows else {
                    layout.average(source, rows: rows - first, floats: floats, by: shrink, into: result)
                    continue
                }
                layout.average(finer.row(2 * first / shrink), rows: 2, floats: 2 * whole / shrink, by: 2, into: result)
                if whole < floats {
                    layout.average(
                        source + whole, rows: shrink, floats: floats - whole, by: shrink, into: result + whole / shrink)
                }
            }
        }
    }
}

/// The floats that a row takes, with room for whole vectors.
func paddedLength(_ length: Int) -> Int {
    let padding = Int(CRESAMPLE_PADDING)
    return (length + padding - 1) / padding * padding + padding
}

/// Room for floats. What is beyond the end of a row may be anything: what comes of it is not used.
func floats(_ count: Int) -> UnsafeMutableBufferPointer<Float> { .allocate(capacity: count) }
