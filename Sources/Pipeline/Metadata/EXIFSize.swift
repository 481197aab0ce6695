// PixelXDimension and PixelYDimension of EXIF 2.3 §4.6.5: the size that a block says its picture has.

extension PixelSize {
    /// Puts this size into an EXIF block that was made for a picture of another size. A block that says no size, or is
    /// damaged, stays as it is.
    /// - Parameter exif: without `Exif\0\0` in front.
    package func write(toEXIF exif: inout [UInt8]) {
        let block = ByteSource(exif)
        guard let layout = try? TIFFLayout(of: block), let offset = try? layout.firstDirectory(in: block),
            let first = try? TIFFDirectory(at: offset, in: block, layout),
            var place = try? first.fields[.exifDirectory]?.numbers(in: block), let inner = try? place.next(),
            let directory = try? TIFFDirectory(at: inner, in: block, layout)
        else { return }
        for (tag, value) in [(TIFFTag.pixelXDimension, width), (.pixelYDimension, height)] {
            directory.fields[tag]?.replaceFirst(with: value, in: &exif)
        }
    }
}
