// Parts of a few rows that fit the nearest cache, in which all sizes take what they need of them.
import CResample

/// Some columns of a few rows, as floats: few enough for the processor's nearest cache, so that all sizes are made of them there.
final class Strip {
    /// Rows that it holds.
    static let capacity = 16
    /// Floats of a row that it holds: whole pixels of 1, 2, 3 and 4 bands, and whole vectors.
    static let width = Int(CRESAMPLE_MEANS)
    static let stride = paddedLength(width)
    private let memory = floats(capacity * stride)

    deinit { memory.deallocate() }

    func row(_ index: Int) -> UnsafeMutablePointer<Float> { memory.baseAddress! + index * Self.stride }
}

/// The same part of a picture in full and as means, for the sizes that are made of means.
final class Strips {
    let full = Strip()
    private let means: [(shrink: Int, strip: Strip)]
    private let layout: RowLayout

    /// - Parameter shrinks: how many pixels along each side become one.
    init(_ shrinks: some Sequence<Int>, _ layout: RowLayout) {
        precondition(shrinks.allSatisfy { Strip.width % (16 * $0) == 0 }, "the means of a strip are whole vectors")
        means = Set(shrinks).subtracting([1]).map { ($0, Strip()) }
        self.layout = layout
    }

    func strip(shrink: Int) -> Strip { means.first { $0.shrink == shrink }?.strip ?? full }

    /// Makes the means of what is in the full strip.
    func average(rows: Int, floats: Int) {
        for (shrink, strip) in means {
            for first in stride(from: 0, to: rows, by: shrink) {
                layout.average(full.row(first), rows: min(shrink, rows - first), floats: floats, by: shrink, into: strip.row(first / shrink))
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
