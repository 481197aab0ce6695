// Scaling with the project's own inner loops: libvips 8.14 scales rows in scalar code, see docs/decisions/0007-our-own-resampler.md.
import CResample
import CVips

/// A size in pixels to scale to, and how.
package struct ResamplingTarget: Sendable {
    package let width: Int
    package let height: Int
    package let kernel: ResamplingKernel

    package init(width: Int, height: Int, kernel: ResamplingKernel = .lanczos3) {
        self.width = width
        self.height = height
        self.kernel = kernel
    }
}

extension Image {
    /// Scales to an exact size. Reads the rows once, from top to bottom; the result is in memory.
    ///
    /// Alpha is taken into account, so that transparent pixels lend no colour to their neighbours.
    package func resampled(to target: ResamplingTarget) throws(VipsError) -> Image {
        try resampled(to: [target])[0]
    }

    /// Scales to several sizes at once, while the rows are read a single time; a small size is made from a larger one where that shows in
    /// no pixel.
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
        to targets: [ResamplingTarget], extent: (width: Double, height: Double)? = nil, frames: Int = 1, instructions: CResampleInstructions
    ) throws(VipsError) -> [Image] {
        precondition(height % frames == 0, "the frames are not of one size")
        guard let layout = RowLayout(self, instructions) else { return try resampledByVips(to: targets, frames: frames) }
        let frameHeight = height / frames
        let results = try targets.map { target throws(VipsError) in try ScaledImage(like: self, layout, target, frames: frames) }
        var direct: [ScaledImage] = []
        for (index, parent) in derivations(of: targets, frameHeight: frameHeight).enumerated() {
            if let parent { results[parent].derive(results[index]) } else { direct.append(results[index]) }
        }
        let sides = Sides(width: width, height: frameHeight, extent: extent)
        for result in direct { result.begin(from: sides) }
        let strip = Strip(rowLength: width * bands)
        let region = try Region(of: self)
        for frame in 0..<frames {
            for result in direct { result.begin(frame: frame) }
            try read(frame * frameHeight..<(frame + 1) * frameHeight, region, strip, layout) { (range) throws(VipsError) in
                for result in direct { try result.take(region, strip.row(0), range, firstRow: frame * frameHeight) }
            }
        }
        return results.map(\.image)
    }

    /// From which other target each is made; nil if from the picture itself.
    ///
    /// A detour by a picture of at least twice the size is not seen: 49 dB and more to the direct way on stripes, zone plates and noise. By one that
    /// is larger by a third, stripes of two pixels would differ by 31 dB.
    private func derivations(of targets: [ResamplingTarget], frameHeight: Int) -> [Int?] {
        targets.map { target in
            let larger = targets.indices.filter { index in
                let other = targets[index]
                return target.kernel == .lanczos3 && other.kernel == .lanczos3
                    && other.width < width && other.height < frameHeight
                    && other.width >= target.width * 2 && other.height >= target.height * 2
            }
            return larger.min { targets[$0].width * targets[$0].height < targets[$1].width * targets[$1].height }
        }
    }

    /// Reads rows, a few at a time: as libvips holds them, and as floats.
    private func read(
        _ rows: Range<Int>, _ region: Region, _ strip: Strip, _ layout: RowLayout, _ body: (_ range: Range<Int>) throws(VipsError) -> Void
    ) throws(VipsError) {
        var top = rows.lowerBound
        while top < rows.upperBound {
            let range = top..<min(rows.upperBound, top + strip.capacity)
            try region.prepare(rows: range)
            for y in range { cresample_widen(layout.instructions, layout.row(width), region.row(y), strip.row(y - top)) }
            try body(range)
            top = range.upperBound
        }
    }

    /// Transparent pixels lend no colour to their neighbours.
    private func premultipliedByVips(to targets: [ResamplingTarget], frames: Int) throws(VipsError) -> [Image] {
        let maximum = format == .ushort ? 65_535.0 : 255
        // As bands without a meaning, so that alpha is scaled as the others are.
        let covered = try premultiply(maximumAlpha: maximum).copy(interpretation: "multiband")
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
            let scaled = try (0..<frames).map { frame throws(VipsError) in
                try source.extractArea(left: 0, top: frame * frameHeight, width: width, height: frameHeight)
                    .resize(width: target.width, height: target.height, kernel: target.kernel.rawValue)
            }
            return frames > 1 ? try Image.arrayjoin(scaled) : scaled[0]
        }
    }
}

/// How large a picture is: in whole pixels, and really.
struct Sides {
    let width, height: Int
    let extent: (width: Double, height: Double)

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
    private let bands: Int
    private let hasAlpha: Bool

    /// Nil for what the inner loops do not know.
    init?(_ image: Image, _ instructions: CResampleInstructions) {
        guard (1...4).contains(image.bands) else { return nil }
        switch image.format {
        case .uchar: format = CRESAMPLE_UCHAR
        case .ushort: format = CRESAMPLE_USHORT
        case .float: format = CRESAMPLE_FLOAT
        case .double, .char, .short, .uint, .int, .other: return nil
        }
        self.instructions = instructions
        bands = image.bands
        hasAlpha = image.hasAlpha && image.format != .float
    }

    func row(_ width: Int) -> CResampleRow {
        CResampleRow(format: format, width: CInt(width), bands: CInt(bands), has_alpha: hasAlpha ? 1 : 0)
    }
}

/// A few rows of floats below each other.
final class Strip {
    /// Rows that it holds: as many as the processor's cache does, besides the sums.
    let capacity: Int
    private let stride: Int
    private let floats: UnsafeMutableBufferPointer<Float>

    init(rowLength: Int) {
        stride = paddedLength(rowLength)
        capacity = max(2, min(16, (256 << 10) / (stride * MemoryLayout<Float>.size)))
        floats = zeroed(capacity * stride)
    }

    deinit { floats.deallocate() }

    func row(_ index: Int) -> UnsafeMutablePointer<Float> { floats.baseAddress! + index * stride }
}
