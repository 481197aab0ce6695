// WebP by libwebp itself. libvips, which decodes by it too, keeps every frame of it twice and passes the rows on
// through a cache that costs as much as half of an animation's decoding. libvips reads the header and the metadata of
// all, and the pixels of what has a fault.
import CWebP
import Pipeline
import Vips

/// Decodes one file that is without a fault. All else is left to libvips, which says what is wrong and saves what can
/// be saved.
struct WebPDecoder {
    private let file: [UInt8]
    private let features: WebPBitstreamFeatures

    /// - Returns: nil if libvips has to read it.
    init?(_ source: ByteSource) {
        file = source.read(0, source.count)
        var features = WebPBitstreamFeatures()
        guard file.count == source.count, WebPGetFeatures(file, file.count, &features) == VP8_STATUS_OK else {
            return nil
        }
        self.features = features
    }

    /// The same picture with its pixels decoded.
    /// - Parameters:
    ///   - opened: what libvips made of the header: all frames of an animation, its first one, or the only picture. An
    ///     animation's frames decide whether it has alpha.
    ///   - shrink: means of so many by so many pixels are wanted.
    /// - Returns: nil if libvips has to read it.
    func decoded(_ opened: Image, shrink: Int) throws -> Image? {
        guard opened.width == Int(features.width), opened.format == .uchar, (3...4).contains(opened.bands) else {
            return nil
        }
        if features.has_animation != 0 {
            guard shrink == 1 || opened.height == Int(features.height) else { return nil }
            return try opened.withPixels { frames(opened, to: $0) }?.averaged(by: shrink)
        }
        let bands = features.has_alpha != 0 ? 4 : 3
        guard opened.height == Int(features.height), opened.bands == bands else { return nil }
        // Planes of colours are half as large as they would be in RGB, and already shrunk once.
        let isLossy = features.format == 1
        if shrink > 1 && isLossy && bands == 3 {
            let (width, height) = ((opened.width + shrink - 1) / shrink, (opened.height + shrink - 1) / shrink)
            return try opened.withPixels(width: width, height: height) { planes(shrink: shrink, to: $0) }
        }
        return try opened.withPixels { picture(rowBytes: opened.width * bands, to: $0) }?.averaged(by: shrink)
    }

    /// - Returns: false if there is a fault.
    private func picture(rowBytes: Int, to pixels: UnsafeMutableRawBufferPointer) -> Bool {
        decode { output in
            output.colorspace = features.has_alpha != 0 ? MODE_RGBA : MODE_RGB
            output.is_external_memory = 1
            output.u.RGBA = WebPRGBABuffer(
                rgba: pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), stride: CInt(rowBytes),
                size: pixels.count)
        } then: { _ in
            true
        }
    }

    /// - Returns: false if there is a fault.
    private func planes(shrink: Int, to pixels: UnsafeMutableRawBufferPointer) -> Bool {
        decode { output in
            output.colorspace = MODE_YUV
        } then: { output in
            let rgb = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return cwebp_shrink_planes(&output.u.YUVA, features.width, features.height, CInt(shrink), rgb) == 0
        }
    }

    private func decode(into prepare: (inout WebPDecBuffer) -> Void, then use: (inout WebPDecBuffer) -> Bool) -> Bool {
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else { return false }
        prepare(&config.output)
        defer { WebPFreeDecBuffer(&config.output) }
        guard WebPDecode(file, file.count, &config) == VP8_STATUS_OK else { return false }
        return use(&config.output)
    }

    /// All frames as they are shown, each drawn on the one before, below each other; or the first one.
    /// - Returns: false if there is a fault, or not as many frames as the header promised.
    private func frames(_ opened: Image, to pixels: UnsafeMutableRawBufferPointer) -> Bool {
        file.withUnsafeBufferPointer { file in
            var options = WebPAnimDecoderOptions()
            var data = WebPData(bytes: file.baseAddress, size: file.count)
            guard WebPAnimDecoderOptionsInit(&options) != 0, let decoder = WebPAnimDecoderNew(&data, &options) else {
                return false
            }
            defer { WebPAnimDecoderDelete(decoder) }
            var info = WebPAnimInfo()
            let frameBytes = Int(features.width) * Int(features.height) * opened.bands
            guard WebPAnimDecoderGetInfo(decoder, &info) != 0, info.canvas_width == features.width,
                info.canvas_height == features.height,
                [frameBytes, Int(info.frame_count) * frameBytes].contains(pixels.count)
            else { return false }
            for frame in 0..<pixels.count / frameBytes {
                var shown: UnsafeMutablePointer<UInt8>?
                var time: CInt = 0
                guard WebPAnimDecoderGetNext(decoder, &shown, &time) != 0, let shown else { return false }
                copy(
                    shown, bands: opened.bands,
                    to: UnsafeMutableRawBufferPointer(rebasing: pixels[frame * frameBytes..<(frame + 1) * frameBytes]))
            }
            return true
        }
    }

    /// Copies RGBA, or the colours of it alone.
    private func copy(_ shown: UnsafePointer<UInt8>, bands: Int, to pixels: UnsafeMutableRawBufferPointer) {
        guard bands == 3 else {
            return pixels.copyMemory(from: UnsafeRawBufferPointer(start: shown, count: pixels.count))
        }
        for pixel in 0..<pixels.count / 3 {
            for band in 0..<3 { pixels[3 * pixel + band] = shown[4 * pixel + band] }
        }
    }
}
