// The first two directories of EXIF, which describe the picture and a small one of it, a JPEG. JEITA CP-3451, §4.5 and §4.6.

/// The fields of EXIF that say where its small picture is, and the orientations of both.
struct EXIFDirectories {
    /// Nil if it is not said.
    let orientation: Int?
    /// The range of the small picture in the file; nil if there is none.
    private(set) var thumbnail: Range<Int>?
    /// Said for the small picture alone.
    private(set) var thumbnailOrientation: Int?

    /// - Parameter exif: the TIFF in a file.
    init?(in source: ByteSource, _ exif: Range<Int>) {
        let tiff = source.part(exif)
        guard let layout = try? TIFFLayout(of: tiff), let first = try? layout.firstDirectory(in: tiff),
            let picture = try? TIFFDirectory(at: first, in: tiff, layout)
        else { return nil }
        orientation = picture.number(.orientation, in: tiff)
        guard picture.next > 0, let second = try? TIFFDirectory(at: picture.next, in: tiff, layout),
            let offset = second.number(.thumbnailOffset, in: tiff),
            let bytes = second.number(.thumbnailBytes, in: tiff), offset > 0, bytes > 0,
            offset <= tiff.count, bytes <= tiff.count - offset
        else { return }
        thumbnail = exif.lowerBound + offset..<exif.lowerBound + offset + bytes
        thumbnailOrientation = second.number(.orientation, in: tiff)
    }
}
