// Scaling with the project's own inner loops: libvips 8.14 scales rows in scalar code, see
// docs/decisions/0007-our-own-resampler.md.
import CResample
import CVips
package import Kernels

/// A size in pixels to scale to, and how.
package struct ResamplingTarget: Sendable {
    package let width: Int
    package let height: Int
    package let kernel: ScalingKernel
    /// Before it is scaled, a picture is reduced to means of `shrink` × `shrink` pixels, as decoders do that shrink.
    package let shrink: Int

    package init(width: Int, height: Int, kernel: ScalingKernel = .lanczos3, shrink: Int = 1) {
        self.width = width
        self.height = height
        self.kernel = kernel
        self.shrink = shrink
    }

    fileprivate func averaging(atMost most: Int) -> ResamplingTarget {
        ResamplingTarget(width: width, height: height, kernel: kernel, shrink: min(shrink, most))
    }
}

extension Image {
    /// Scales to an exact size. Reads the rows once, from top to bottom; the result is in memory.
    ///
    /// Alpha is taken into account, so that transparent pixels lend no colour to their neighbours.
    package func resampled(to target: ResamplingTarget) throws(VipsError) -> Image {
        try resampled(to: [target])[0]
    }

    /// The means of `shrink` × `shrink` pixels, as decoders make them that shrink while they load.
    /// - Parameter shrink: 1, 2, 4 or 8.
    package func averaged(by shrink: Int) throws(VipsError) -> Image {
        guard shrink > 1 else { return self }
        if shrink > mostAveraged { return try averaged(by: mostAveraged).averaged(by: shrink / mostAveraged) }
        // The linear filter leaves a picture of the same size as it is.
        let target = ResamplingTarget(
            width: (width + shrink - 1) / shrink, height: (height + shrink - 1) / shrink, kernel: .linear,
            shrink: shrink)
        return try resampled(to: [target], extent: (Double(target.width * shrink), Double(target.height * shrink)))[0]
    }

    /// By how much pixels are averaged at once: the means of five bands by 8 are no whole vectors in a strip. The filter
    /// does the rest.
    private var mostAveraged: Int { bands == 5 ? 4 : 8 }

    /// Scales to several sizes at once, while the rows are read a single time. Each comes out as it would alone.
    /// - Parameters:
    ///   - extent: how many pixels wide and high the picture really is, if its last column and row are not whole ones.
    ///   - frames: how many pictures of one size are stacked below each other; the results are stacked in the same way.
    package func resampled(
        to targets: [ResamplingTarget], extent: (width: Double, height: Double)? = nil, frames: Int = 1
    ) throws(VipsError) -> [Image] {
        try resampled(to: targets, extent: extent, frames: frames, instructions: cinstructions_best())
    }

    /// The same with chosen instructions, so that a test can compare them.
    func resampled(
        to targets: [ResamplingTarget], extent: (width: Double, height: Double)? = nil, frames: Int = 1,
        instructions: CInstructions
    ) throws(VipsError) -> [Image] {
        precondition(height % frames == 0, "the frames are not of one size")
        let targets = targets.map { $0.averaging(atMost: mostAveraged) }
        let takesWholePixels = targets.allSatisfy { $0.kernel == .nearest }
        let layout = try RowLayout(self, weighsAlpha: hasAlpha && !takesWholePixels, instructions)
        let frameHeight = height / frames
        let sides = Sides(width: width, height: frameHeight, extent: extent)
        let results = try targets.map { target throws(VipsError) in
            try ScaledImage(like: self, sides: sides, layout: layout, target: target, frames: frames)
        }
        let strips = Strips(targets.lazy.map(\.shrink), layout)
        let region = try Region(of: self)
        let asked = layout.rowsAskedFor(width: width)
        for frame in 0..<frames {
            for result in results { result.begin(frame: frame) }
            let top = frame * frameHeight
            for first in stride(from: 0, to: frameHeight, by: Strip.capacity) {
                let range = first..<min(frameHeight, first + Strip.capacity)
                if first % asked == 0 { try region.prepare(rows: top + first..<top + min(frameHeight, first + asked)) }
                for columns in layout.parts(ofWidth: width) {
                    for y in range { layout.widen(region.row(top + y), columns, into: strips.full.row(y - first)) }
                    strips.average(rows: range.count, floats: columns.count)
                    for result in results { result.add(strips, rows: range, columns: columns) }
                }
                for result in results { result.finish(range) { region.row(top + $0) } }
            }
        }
        return results.map(\.image)
    }
}

/// How large a picture is: in whole pixels, and really.
struct Sides {
    let width, height: Int
    let extent: (width: Double, height: Double)

    /// Those of the means of `shrink` × `shrink` pixels.
    func shrunk(by shrink: Int) -> Sides {
        let factor = Double(shrink)
        return Sides(
            width: (width + shrink - 1) / shrink, height: (height + shrink - 1) / shrink,
            extent: (extent.width / factor, extent.height / factor))
    }

    init(width: Int, height: Int, extent: (width: Double, height: Double)? = nil) {
        self.width = width
        self.height = height
        self.extent = extent ?? (Double(width), Double(height))
    }
}

/// How the inner loops see the rows of a picture, and with which instructions they run.
struct RowLayout {
    let instructions: CInstructions
    private let format: CResampleFormat
    private let bytesPerNumber: Int
    private let bands: Int
    private let hasAlpha: Bool

    /// - Parameter weighsAlpha: whether the last band is alpha, by which the others are to be weighed. Not in floating
    ///   point: there the colours are premultiplied already.
    init(_ image: Image, weighsAlpha: Bool, _ instructions: CInstructions) throws(VipsError) {
        switch image.format {
        case .uchar: (format, bytesPerNumber) = (CRESAMPLE_UCHAR, 1)
        case .ushort: (format, bytesPerNumber) = (CRESAMPLE_USHORT, 2)
        case .float: (format, bytesPerNumber) = (CRESAMPLE_FLOAT, 4)
        case .double, .char, .short, .uint, .int, .other:
            throw VipsError(
                reason: .outOfRange, operation: "resample", message: "no numbers of format '\(image.format.rawValue)'")
        }
        guard (1...5).contains(image.bands) else {
            throw VipsError(reason: .outOfRange, operation: "resample", message: "no picture of \(image.bands) bands")
        }
        self.instructions = instructions
        bands = image.bands
        hasAlpha = weighsAlpha && image.format != .float
    }

    func row(_ width: Int) -> CResampleRow {
        CResampleRow(format: format, width: CInt(width), bands: CInt(bands), has_alpha: hasAlpha ? 1 : 0)
    }

    /// The numbers of a row in parts that a strip has room for.
    func parts(ofWidth width: Int) -> some Sequence<Range<Int>> {
        let count = width * bands
        // Whole pixels, whole means and whole vectors, also of five bands.
        let part = bands == 5 ? Strip.width / 80 * 80 : Strip.width
        return stride(from: 0, to: count, by: part).lazy.map { $0..<min(count, $0 + part) }
    }

    /// How many rows libvips is asked for at once, in whole strips: a question takes it some microseconds, and the rows
    /// are to stay in the second cache.
    func rowsAskedFor(width: Int) -> Int {
        let strip = Strip.capacity * width * bands * bytesPerNumber
        return Strip.capacity * max(1, min(4, Self.bytesAskedFor / strip))
    }

    private static let bytesAskedFor = 256 << 10

    /// Widens some numbers of a row to floats.
    func widen(_ stored: UnsafeRawPointer, _ columns: Range<Int>, into floats: UnsafeMutablePointer<Float>) {
        cresample_widen(instructions, row(columns.count / bands), stored + columns.lowerBound * bytesPerNumber, floats)
    }

    /// How many of a row's first floats make whole means.
    func whole(_ floats: Int, by shrink: Int) -> Int { floats / (shrink * bands) * shrink * bands }

    /// Makes a row of means of some rows of a strip.
    func average(
        _ first: UnsafePointer<Float>, rows: Int, floats: Int, by shrink: Int, into means: UnsafeMutablePointer<Float>
    ) {
        cresample_mean_rows(
            instructions, first, Strip.stride, CInt(rows), CInt(shrink), CInt(bands), CInt(floats / bands), means)
    }
}
