// JPEG by libjpeg itself, for pictures in memory without metadata: what libvips would write, byte by byte, without its
// threads and copies.
import CJPEG
import Pipeline
import System
import Vips

struct JPEGEncoder {
    private let picture: Image
    private let options: CJPEGOptions

    /// - Returns: nil if libvips has to save it.
    init?(_ picture: Image, _ options: JPEGOutput) {
        let kinds: [Interpretation: Int] = [.bw: 1, .srgb: 3]
        guard cjpeg_is_available() != 0, picture.isInMemory, picture.format == .uchar,
            kinds[picture.interpretation] == picture.bands,
            max(picture.width, picture.height) <= JPEGOutput.longestSide
        else { return nil }
        self.picture = picture
        self.options = CJPEGOptions(
            quality: CInt(options.quality), is_progressive: options.progressive ? 1 : 0,
            halves_colours: options.subsampling.isOff(atQuality: options.quality) ? 0 : 1)
    }

    /// Encodes the picture to the file's position.
    func save(to output: OpenFile) throws {
        let size = CJPEGSize(width: CInt(picture.width), height: CInt(picture.height), bands: CInt(picture.bands))
        let error = try picture.withPixels {
            cjpeg_encode(size, $0.baseAddress!.assumingMemoryBound(to: UInt8.self), options, output.descriptor)
        }
        if error > 0 { throw SystemError("write a rendition", code: error) }
        if error < 0 { throw Failure(.encodingFailed, stage: "save", "libjpeg cannot encode the picture") }
    }
}
