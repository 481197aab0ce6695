// A capture as rows that can be compared with those of another one.
import Kernels
import Pipeline
import Vips

/// The rows of a capture: their lightness in places of the same width.
/// A class, so that a pair of captures is cheap to pass on.
final class CaptureRows {
    let width: Int
    /// How many rows there are.
    let count: Int
    /// In `columns` places of each row, one row after the other.
    let lightness: [UInt8]
    /// Whether the lightness changes from a place to the one on its right: a row of one colour says nothing.
    let edges: [Bool]
    /// The most frequent lightness, if a tenth of the capture has it.
    let background: UInt8?

    static let columns = 46
    /// The last places of a row are left out: a scroll bar moves there by itself.
    private static let columnsOfScrollBar = 2
    /// Steps of 255 from which there is something to see.
    static let leastContrast = 8

    init(_ image: Image) throws {
        (width, count) = (image.width, image.height)
        let columns = Self.columns
        let all = columns + Self.columnsOfScrollBar
        let grey = try image.droppingAlpha().colourspace(.bw).cast(.uchar)
        let scaled = try grey.scaled(to: PixelSize(all, image.height), kernel: .linear).pixels()
        var lightness: [UInt8] = []
        lightness.reserveCapacity(image.height * columns)
        for row in 0..<image.height { lightness += scaled[(row * all)..<(row * all + columns)] }
        var edges = [Bool](repeating: false, count: lightness.count)
        var histogram = [Int](repeating: 0, count: 256)
        for index in lightness.indices {
            histogram[Int(lightness[index])] += 1
            guard index % columns < columns - 1 else { continue }
            edges[index] = apart(lightness[index], lightness[index + 1]) >= Self.leastContrast
        }
        background = histogram.indices.max { histogram[$0] < histogram[$1] }.flatMap {
            histogram[$0] * 10 >= lightness.count ? UInt8($0) : nil
        }
        (self.lightness, self.edges) = (lightness, edges)
    }

    /// The places of a row.
    func places(_ row: Int) -> Range<Int> { (row * Self.columns)..<((row + 1) * Self.columns) }
}

/// The difference of two values of lightness.
@inline(__always) func apart(_ a: UInt8, _ b: UInt8) -> Int { abs(Int(a) - Int(b)) }
