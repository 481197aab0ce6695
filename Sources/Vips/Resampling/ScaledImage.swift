// A picture that is scaled while the rows of its source come in.
import CResample
import CVips

/// One size of several.
final class ScaledImage {
    let image: Image
    private let layout: RowLayout
    private let target: ResamplingTarget
    /// Nil if the size stays: the rows are then copied, so that not a single number changes.
    private let resampler: Resampler?
    /// The first row of the frame that is under way.
    private var top = 0

    /// - Parameters:
    ///   - sides: the size of a frame of the source.
    ///   - frames: how many pictures are stacked below each other.
    init(like source: Image, sides: Sides, layout: RowLayout, target: ResamplingTarget, frames: Int) throws(VipsError) {
        guard let memory = cvips_memory_image_like(source.pointer, CInt(target.width), CInt(target.height * frames))
        else {
            throw VipsError.failed(operation: "resample")
        }
        image = Image(owning: memory)
        self.layout = layout
        self.target = target
        let stays = (sides.width, sides.height) == (target.width, target.height) && target.shrink == 1
        let means = sides.shrunk(by: target.shrink)
        resampler =
            stays ? nil : Resampler(from: means, bands: image.bands, to: target, instructions: layout.instructions)
    }

    /// Gets ready for the rows of a frame.
    func begin(frame: Int) {
        top = frame * target.height
        resampler?.restart()
    }

    /// Takes a part of the next rows of the frame.
    /// - Parameter columns: which floats of these rows are in the strips.
    func add(_ strips: Strips, rows range: Range<Int>, columns: Range<Int>) {
        resampler?.add(
            strips.strip(shrink: target.shrink), rows: means(range), columns: means(columns, bands: image.bands))
    }

    /// The range of the means that rows or floats of the source contribute to.
    private func means(_ range: Range<Int>, bands: Int = 1) -> Range<Int> {
        guard target.shrink > 1 else { return range }
        let end = (range.upperBound / bands + target.shrink - 1) / target.shrink
        return range.lowerBound / bands / target.shrink * bands..<end * bands
    }

    /// Makes what can be made of the rows whose parts were all added.
    /// - Parameter stored: a row of the source as it is stored, by its place in the frame.
    func finish(_ range: Range<Int>, stored: (Int) -> UnsafeRawPointer) {
        guard let resampler else {
            for y in range { row(y).copyMemory(from: stored(y), byteCount: cvips_line_size(image.pointer)) }
            return
        }
        resampler.finish(means(range), as: layout.row(target.width), place: row)
    }

    /// Nobody else sees the picture before all of its rows are written.
    private func row(_ y: Int) -> UnsafeMutableRawPointer { cvips_image_row(image.pointer, CInt(top + y)) }
}
