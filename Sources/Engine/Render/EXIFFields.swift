// An EXIF block on its way into a picture.
import Pipeline
import Vips

/// An EXIF block and its fields as libvips reads them. A text that is set on a picture it translates to ASCII ("Müller"
/// to "Muller"); those that it finds in the block as it has read them it leaves alone.
struct EXIFFields {
    private let picture: Image

    /// - Parameter block: with `Exif\0\0` in front.
    /// - Returns: nil if it is too long for a JPEG.
    init?(_ block: [UInt8]) throws(VipsError) {
        guard block.count <= MetadataEdit.longestEXIF else { return nil }
        let length = block.count + 2
        // All of a JPEG of one gray pixel that is read before pixels are decoded.
        let head: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)]
        let frame: [UInt8] = [0xFF, 0xC0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0]
        let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0xFF, 0xD9]
        let source = try Source(bytes: head + block + frame + scan)
        picture = try Operation(JPEGSource.operation, [("source", .source(source))]).image()
    }

    /// - Parameter location: fields that say, or may say, where the picture was taken are added too.
    func add(to editor: MetadataEditor, location: Bool = true) {
        // The block itself, with which libvips adds all fields.
        for field in picture.fields where field.hasPrefix("exif-") {
            if let bytes = picture.blob(field) { editor.set(field, blob: bytes) }
        }
        for field in picture.fields where field.hasPrefix("exif-") {
            // Renditions are upright.
            if field == "exif-ifd0-Orientation" || Self.isUnwritable(field, of: picture)
                || (!location && Self.mayLocate(field))
            {
                editor.remove(field)
            } else if let text = picture.string(field) {
                editor.set(field, string: text)
            }
        }
    }

    /// libvips gives these words in place of texts in Latin-1, and of those of EXIF that it has cut within a letter. It
    /// would write them too.
    static func isUnwritable(_ field: String, of image: Image) -> Bool {
        image.string(field) == "<invalid utf-8 string>"
    }

    /// The tag of a field: `Artist` of `exif-ifd0-Artist`.
    static func tag(_ field: String) -> String { String(field.dropFirst("exif-ifd0-".count)) }

    /// libvips writes no field into a file that a picture does not have, whatever its block says.
    private static func mayLocate(_ field: String) -> Bool {
        field.hasPrefix("exif-ifd1-") || field.hasPrefix("exif-ifd3-") || saysLocation(field)
            || ["MakerNote", "XMLPacket", "IPTC", "ImageResources"].contains { field.contains($0) }
    }
}
