// The small picture in EXIF: a JPEG that the second directory of its TIFF points to. JEITA CP-3451, §4.5.

enum EXIFThumbnail {
    /// - Parameter exif: the TIFF in a file.
    /// - Returns: where the picture is in the file; nil if there is none, or it is no JPEG.
    static func place(in source: ByteSource, of exif: Range<Int>) -> Range<Int>? {
        let tiff = source.part(exif)
        guard let layout = try? TIFFLayout(of: tiff), let first = try? layout.firstDirectory(in: tiff),
            let picture = try? TIFFDirectory(at: first, in: tiff, layout), picture.next > 0,
            let thumbnail = try? TIFFDirectory(at: picture.next, in: tiff, layout),
            let offset = thumbnail.number(.thumbnailOffset, in: tiff),
            let bytes = thumbnail.number(.thumbnailBytes, in: tiff), offset > 0, bytes > 0,
            offset <= tiff.count, bytes <= tiff.count - offset
        else { return nil }
        return exif.lowerBound + offset..<exif.lowerBound + offset + bytes
    }
}
