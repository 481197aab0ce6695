// The size of a picture by our own reading of its header, for who does not trust the one that wrote it.

/// Width and height in pixels, of one frame. For HEIF they are those of the finished picture, cropped and turned as the
/// file says; of a GIF, those of the logical screen; of all others, those of the stored pixels, whatever EXIF says.
/// Nil if the header cannot be read, or has no pixels, and for formats whose headers only their decoder reads.
package func headerSize(of format: SourceFormat, in bytes: ByteSource) -> (width: Int, height: Int)? {
    guard let size = try? format.declaration.structure.size(in: bytes), size.width > 0, size.height > 0 else {
        return nil
    }
    return size
}
