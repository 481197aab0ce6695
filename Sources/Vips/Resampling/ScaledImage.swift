// A picture that is scaled while the rows of its source come in, and those that are made from it.
import CResample
import CVips

/// One size of several.
final class ScaledImage {
    let image: Image
    private let layout: RowLayout
    private let target: ResamplingTarget
    /// Nil if the size stays: the rows are then copied, so that not a single number changes.
    private var resampler: Resampler?
    /// Smaller pictures that are made from this one.
    private var derived: [ScaledImage] = []
    /// Rows of this picture that wait to be passed on to the smaller ones.
    private var strip: Strip?
    private var waiting = 0..<0
    /// The first row of the frame that is under way.
    private var top = 0

    /// - Parameter frames: how many pictures are stacked below each other.
    init(like source: Image, _ layout: RowLayout, _ target: ResamplingTarget, frames: Int) throws(VipsError) {
        guard let memory = cvips_memory_image_like(source.pointer, CInt(target.width), CInt(target.height * frames)) else {
            throw VipsError.failed(operation: "resample")
        }
        image = Image(owning: memory)
        self.layout = layout
        self.target = target
    }

    /// Makes another picture from this one.
    func derive(_ smaller: ScaledImage) { derived.append(smaller) }

    /// Gets ready for the rows of a picture of some size.
    func begin(from source: Sides) {
        if (source.width, source.height) != (target.width, target.height) {
            resampler = Resampler(from: source, bands: image.bands, to: target, instructions: layout.instructions)
        }
        if !derived.isEmpty { strip = Strip(rowLength: target.width * image.bands) }
        for smaller in derived { smaller.begin(from: Sides(width: target.width, height: target.height)) }
    }

    /// Gets ready for the rows of a frame.
    func begin(frame: Int) {
        top = frame * target.height
        waiting = 0..<0
        resampler?.restart()
        for smaller in derived { smaller.begin(frame: frame) }
    }

    /// Takes the next rows of the picture itself, as stored and as floats.
    /// - Parameter firstRow: the first row of the frame they belong to.
    func take(_ region: Region, _ rows: UnsafePointer<Float>, _ range: Range<Int>, firstRow: Int) throws(VipsError) {
        let own = range.lowerBound - firstRow..<range.upperBound - firstRow
        guard resampler == nil else { return try take(rows, own) }
        for y in range { row(y - firstRow).copyMemory(from: region.row(y), byteCount: cvips_line_size(image.pointer)) }
    }

    private func take(_ rows: UnsafePointer<Float>, _ range: Range<Int>) throws(VipsError) {
        try resampler?.take(rows, range) { (floats, y) throws(VipsError) in
            try passOn(floats, y)
            cresample_narrow(layout.instructions, layout.row(target.width), floats, row(y))
        }
    }

    private func passOn(_ floats: UnsafePointer<Float>, _ y: Int) throws(VipsError) {
        guard let strip else { return }
        strip.row(waiting.count).update(from: floats, count: target.width * image.bands)
        waiting = waiting.lowerBound..<y + 1
        guard waiting.count == strip.capacity || waiting.upperBound == target.height else { return }
        for smaller in derived { try smaller.take(strip.row(0), waiting) }
        waiting = waiting.upperBound..<waiting.upperBound
    }

    /// Nobody else sees the picture before all of its rows are written.
    private func row(_ y: Int) -> UnsafeMutableRawPointer { cvips_image_row(image.pointer, CInt(top + y)) }
}
