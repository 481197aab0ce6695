// Scaling with the project's own inner loops: libvips 8.14 scales rows in scalar code, see
// docs/decisions/0007-our-own-resampler.md.
import CResample
import CVips

/// A size in pixels to scale to, and how.
package struct ResamplingTarget: Sendable {
    package let width: Int
    package let height: Int
    package let kernel: ResamplingKernel
    /// Before it is scaled, a picture is reduced to means of `shrink` × `shrink` pixels, as decoders do that shrink.
    package let shrink: Int

    package init(width: Int, height: Int, kernel: ResamplingKernel = .lanczos3, shrink: Int = 1) {
        self.width = width
        self.height = height
        self.kernel = kernel
        self.shrink = shrink
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
    package func averaged(by shrink: Int) throws(VipsError) -> Image {
        guard shrink > 1 else { return self }
        let target = ResamplingTarget(
            width: (width + shrink - 1) / shrink, height: (height + shrink - 1) / shrink, kernel: .mean)
        return try resampled(to: [target], extent: (Double(target.width * shrink), Double(target.height * shrink)))[0]
    }

    /// Scales to several sizes at once, while the rows are read a single time. Each comes out as it would alone.
    /// - Parameters:
    ///   - extent: how many pixels wide and high the picture really is, if its last column and row are not whole ones.
    ///   - frames: how many pictures of one size are stacked below each other; the results are stacked in the same way.
    package func resampled(
        to targets: [ResamplingTarget], extent: (width: Double, height: Double)? = nil, frames: Int = 1
    ) throws(VipsError) -> [Image] {
        try resampled(to: targets, extent: extent, frames: frames, instructions: cresample_best_instructions())
    }

    /// The same with chosen instructions, so that a test can compare them.
    func resampled(
        to targets: [ResamplingTarget], extent: (width: Double, height: Double)? = nil, frames: Int = 1,
        instructions: CResampleInstructions
    ) throws(VipsError) -> [Image] {
        precondition(height % frames == 0, "the frames are not of one size")
        guard let layout = RowLayout(self, instructions) else {
            return try resampledByVips(to: targets, frames: frames)
        }
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

    /// Transparent pixels lend no colour to their neighbours.
    private func premultipliedByVips(to targets: [ResamplingTarget], frames: Int) throws(VipsError) -> [Image] {
        let maximum = format == .ushort ? 65_535.0 : 255
        // As bands without a meaning, so that alpha is scaled as the others are.
        let covered = try premultiply(maximumAlpha: maximum).copy(interpretation: .multiband)
        return try covered.resampledByVips(to: targets, frames: frames).map { (scaled) throws(VipsError) in
            let colours = try scaled.copy(interpretation: interpretation).unpremultiply(maximumAlpha: maximum)
            return try (format == .float ? colours : colours.rint()).cast(format).copy(interpretation: interpretation)
        }
    }

    private func resampledByVips(to targets: [ResamplingTarget], frames: Int) throws(VipsError) -> [Image] {
        guard !hasAlpha else { return try premultipliedByVips(to: targets, frames: frames) }
        let source = targets.count > 1 || frames > 1 ? try inMemory() : self
        let frameHeight = height / frames
        return try targets.map { target throws(VipsError) in
            guard let kernel = Kernel(rawValue: target.kernel.rawValue) else {
                throw VipsError(
                    reason: .outOfRange, operation: "resize",
                    message: "libvips has no kernel '\(target.kernel.rawValue)'")
            }
            let scaled = try (0..<frames).map { frame throws(VipsError) in
                try source.extractArea(left: 0, top: frame * frameHeight, width: width, height: frameHeight)
                    .resize(width: target.width, height: target.height, kernel: kernel)
            }
            return frames > 1 ? try Image.arrayjoin(scaled) : scaled[0]
        }
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
    let instructions: CResampleInstructions
    private let format: CResampleFormat
    private let bytesPerNumber: Int
    private let bands: Int
    private let hasAlpha: Bool

    /// Nil for what the inner loops do not know.
    init?(_ image: Image, _ instructions: CResampleInstructions) {
        guard (1...4).contains(image.bands) else { return nil }
        switch image.format {
        case .uchar: (format, bytesPerNumber) = (CRESAMPLE_UCHAR, 1)
        case .ushort: (format, bytesPerNumber) = (CRESAMPLE_USHORT, 2)
        case .float: (format, bytesPerNumber) = (CRESAMPLE_FLOAT, 4)
        case .double, .char, .short, .uint, .int, .other: return nil
        }
        self.instructions = instructions
        bands = image.bands
        hasAlpha = image.hasAlpha && image.format != .float
    }

    func row(_ width: Int) -> CResampleRow {
        CResampleRow(format: format, width: CInt(width), bands: CInt(bands), has_alpha: hasAlpha ? 1 : 0)
    }

    /// The numbers of a row in parts that a strip has room for.
    func parts(ofWidth width: Int) -> some Sequence<Range<Int>> {
        let count = width * bands
        return stride(from: 0, to: count, by: Strip.width).lazy.map { $0..<min(count, $0 + Strip.width) }
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
