// JPEG by libjpeg itself. libvips, which decodes by it too, passes the rows on through a cache and locks that cost a
// tenth as much as the decoding. libvips reads the header and the metadata of all, and the pixels of what is
// progressive, in four colours or has a fault, or is streamed to a stage that is not the scaler.
import CJPEG
import System
import Vips

/// Decodes one file that is without a fault, once. All else is left to libvips, which says what is wrong and saves what
/// can be saved.
final class JPEGDecoder: RowReader {
    private let decoder: OpaquePointer
    // The decoder reads it.
    private let file: OpenFile
    private let opened: Image
    private var hasFailed = false

    /// - Parameter opened: what libvips made of the header, shrunk as much.
    /// - Returns: nil if libvips has to read it.
    init?(_ file: OpenFile, like opened: Image, shrink: Int) {
        var size = CJPEGSize()
        guard let decoder = cjpeg_decoder_open(file.descriptor, CInt(shrink), &size) else { return nil }
        (self.decoder, self.file, self.opened) = (decoder, file, opened)
        // libvips leaves out a last column or row that stands for a part of a pixel.
        guard (0...1).contains(Int(size.width) - opened.width), (0...1).contains(Int(size.height) - opened.height),
            opened.bands == size.bands,
            opened.format == .uchar
        else { return nil }
    }

    deinit { cjpeg_decoder_close(decoder) }

    /// The picture with its pixels in memory.
    /// - Returns: nil if libvips has to read it.
    func decoded() throws -> Image? {
        try opened.withPixels {
            read(
                $0.baseAddress!.assumingMemoryBound(to: UInt8.self), stride: opened.width * opened.bands,
                count: opened.height)
        }
    }

    /// The picture, to be read once and from top to bottom on one thread.
    func streamed() throws(VipsError) -> Image { try opened.withRows(of: self) }

    func read(_ rows: UnsafeMutablePointer<UInt8>, stride: Int, count: Int) -> Bool {
        hasFailed = hasFailed || cjpeg_decoder_read(decoder, CInt(opened.width), rows, stride, CInt(count)) != 0
        return !hasFailed
    }
}
