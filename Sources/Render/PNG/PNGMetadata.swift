// The chunks of a PNG besides its pixels. libvips can write them; its own PNG of a single pixel is taken apart.
import Pipeline
import Vips

/// The chunks of metadata, ready to be written.
struct PNGMetadata {
    /// Those before the pixels, and those after them.
    let first, last: [UInt8]

    /// All that libvips writes.
    /// - Parameter picture: in memory.
    init(of picture: Image) throws(VipsError) {
        let pixel = try picture.extractArea(left: 0, top: 0, width: 1, height: 1)
        let target = try Target()
        _ = try Operation("pngsave_target", [("in", .image(pixel)), ("target", .target(target))])
        let chunks = PNGChunk.all(in: target.bytes).filter { $0.type != "IHDR" && $0.type != "IEND" }.map { chunk in
            guard chunk.type == "eXIf" else { return chunk }
            // libvips 8.15 and newer write EXIF, with the size of that pixel.
            var exif = chunk.content
            PixelSize(picture.width, picture.height).write(toEXIF: &exif)
            return PNGChunk(chunk.type, exif)
        }
        let before = chunks.prefix { $0.type != "IDAT" }
        first = before.flatMap(\.bytes)
        // libpng writes EXIF once more at the end, which no PNG may have.
        last = chunks.dropFirst(before.count).filter { $0.type != "IDAT" && $0.type != "eXIf" }.flatMap(\.bytes)
    }

    /// The resolution alone, in pixels per metre.
    init(resolutionOf picture: Image) throws(VipsError) {
        let (across, down) = picture.pixelsPerMillimetre
        // A file may claim any number, or none.
        let numbers = [across, down].map { $0 > 0 ? Int(min($0 * 1000, Double(Int32.max)).rounded()) : 0 }
        first = PNGChunk("pHYs", numbers.flatMap(PNGChunk.bigEndian) + [1]).bytes
        last = []
    }
}
