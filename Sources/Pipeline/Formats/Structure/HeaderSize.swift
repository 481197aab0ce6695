// The size of a picture by our own reading of its header, for who does not trust the one that wrote it.

/// Width and height in pixels, of one frame. For HEIF they are those of the finished picture, cropped and turned as the
/// file says; of a GIF, those of the logical screen; of all others, those of the stored pixels, whatever EXIF says.
/// Nil if the header cannot be read, or has no pixels, and for formats on request but JPEG XL.
package func headerSize(of format: SourceFormat, in bytes: ByteSource) -> (width: Int, height: Int)? {
    guard let size = try? format.readSize(in: bytes), size.width > 0, size.height > 0 else { return nil }
    return size
}

extension SourceFormat {
    /// The longest side in pixels that its decoder reads, whatever the limits are.
    package var longestReadSide: Int {
        switch self {
        // libjpeg counts a little less far than the format does.
        case .jpeg: JPEGOutput.longestSide
        // libvips' limit; its option `unlimited`, which strangers' files do not get, takes it off.
        case .heic, .avif: AVIFOutput.longestSide
        case .png, .webp, .gif, .tiff, .svg, .pdf, .jxl, .jp2: maximumCoordinate
        }
    }

    fileprivate func readSize(in bytes: ByteSource) throws(StructureError) -> (width: Int, height: Int) {
        switch self {
        case .jpeg: try JPEGMarkers.size(in: bytes)
        case .png: try PNGChunks.size(in: bytes)
        case .webp: try WebPChunks.size(in: bytes)
        case .gif: try GIFBlocks.size(in: bytes)
        case .tiff: try TIFFPages.size(in: bytes)
        case .heic, .avif: try HEIFItems.size(in: bytes)
        case .jxl: try JPEGXLHeader.size(in: bytes)
        case .svg, .pdf, .jp2: throw .malformed
        }
    }
}
