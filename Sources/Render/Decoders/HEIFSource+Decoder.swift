import Pipeline
import Vips

extension SourceDecoder where Self: HEIFSource {
    static var operation: String { "heifload_source" }

    /// libvips before 8.14.6 frees what a HEIF says of itself with the picture that was opened, even if copies of it are
    /// still there: https://github.com/libvips/libvips/pull/3725.
    static func corrected(_ opened: Image, of file: ReceivedFile, page: Int, tolerance: Tolerance) throws -> Image {
        try namingXMP(of: opened.copyingBlobs())
    }

    /// libvips recognises XMP in HEIC and AVIF only if it begins with its element, without the instructions that most
    /// programs write around it.
    private static func namingXMP(of image: Image) throws(VipsError) -> Image {
        let packet = image.fields.lazy.filter { $0.hasPrefix("heif-mime-") }.compactMap(image.blob).first {
            $0.starts(with: "<?xpacket".utf8)
        }
        guard let packet, !image.has("xmp-data") else { return image }
        return try image.editingMetadata { $0.set("xmp-data", blob: packet) }
    }

    static var turnsPicture: Bool { true }

    /// libheif looks past the end of a good file to learn its size.
    static var leavesMessages: Bool { true }
}
