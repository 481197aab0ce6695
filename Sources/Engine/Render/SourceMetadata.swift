// What a picture says of itself, and what of that a rendition may say.
import Pipeline
import Vips

/// The metadata of a source.
struct SourceMetadata {
    private static let blocks = [
        "exif-data": "EXIF", "xmp-data": "XMP", "iptc-data": "IPTC", "photoshop-data": "Photoshop data",
    ]

    /// EXIF about how pixels are stored, which programs write into every picture. It is not worth a word when it is
    /// removed.
    private static let technical: Set = [
        "Orientation", "XResolution", "YResolution", "ResolutionUnit", "YCbCrPositioning", "ExifVersion",
        "FlashpixVersion", "FlashPixVersion",
        "ComponentsConfiguration", "ColorSpace", "PixelXDimension", "PixelYDimension",
    ]

    private let fields: [String]
    /// The fields of blocks that say something about the picture.
    private let telling: Set<String>
    private let xmp: [UInt8]?
    /// Who owns the picture, by the block that says so; those that count more come first.
    private let owners: [(block: String, rights: Rights)]
    /// Who owns the picture, wherever it says so.
    private let rights: Rights
    /// The same where EXIF counts, which keeps its own words.
    private let exifRights: Rights

    init(_ image: Image) {
        fields = image.fields
        let tags = fields.filter { $0.hasPrefix("exif-ifd") }.map { $0.dropFirst("exif-ifd0-".count) }
        // Nothing is known of EXIF that libvips could not read.
        let isTechnical = !tags.isEmpty && tags.allSatisfy { Self.technical.contains(String($0)) }
        telling = Set(Self.blocks.keys.filter(fields.contains)).subtracting(isTechnical ? ["exif-data"] : [])
        xmp = image.blob("xmp-data")
        let exif = image.blob("exif-data").map { Rights(exif: $0) } ?? Rights()
        let iptc = image.blob("iptc-data").map { Rights(iptc: $0) } ?? Rights()
        owners = [("xmp-data", xmp.map { Rights(xmp: $0) } ?? Rights()), ("exif-data", exif), ("iptc-data", iptc)]
        rights = Self.merged(owners)
        exifRights = exif.merged(over: rights)
    }

    private static func merged(_ owners: [(block: String, rights: Rights)]) -> Rights {
        owners.reduce(Rights()) { $0.merged(over: $1.rights) }
    }

    /// The blocks that libvips writes into a file of a format.
    private static func blocks(of format: OutputFormat) -> Set<String> {
        switch format {
        case .jpeg: ["exif-data", "xmp-data", "iptc-data"]
        case .png, .webp, .avif: ["exif-data", "xmp-data"]
        // It would write a quarter of IPTC.
        case .tiff: ["xmp-data", "photoshop-data"]
        case .gif: []
        }
    }

    /// The picture with the metadata that the policy lets it keep.
    /// - Returns: also whether the saver is to write none at all, whatever the picture has.
    func applied(
        to image: Image, policy: MetadataPolicy, format: OutputFormat, keepsProfile: Bool
    ) throws(VipsError) -> (image: Image, keepsNothing: Bool) {
        switch policy {
        case .keep:
            let lost = Self.blocks.keys.filter { !Self.blocks(of: format).contains($0) }
            let kept = try image.removingMetadata(lost + [Self.thumbnail])
            guard let packet = rescued(in: format) else { return (kept, false) }
            return (try kept.editingMetadata { $0.set("xmp-data", blob: packet) }, false)
        case .copyright where !rights.isEmpty: return (try stripped(image).editingMetadata(sign), false)
        case .copyright, .strip:
            // `JPEGEncoder` wants a picture in memory, which a stripped one is not. With its option `strip`, libvips
            // leaves metadata out of a JPEG too, but up to 8.14.1 not out of a WebP.
            if format == .jpeg && !keepsProfile { return (image, true) }
            return (try stripped(image), !keepsProfile)
        }
    }

    /// How many bytes of metadata a picture has.
    static func bytes(of image: Image) -> Int {
        image.fields.reduce(0) { $0 + (isText($1) || blocks.keys.contains($1) ? image.byteCount(of: $1) : 0) }
    }

    private static func isText(_ field: String) -> Bool {
        field.hasPrefix("png-comment") || field == "image-description"
    }

    /// What EXIF has of the picture at a small size. It shows the picture as it was, also what was cropped away, so
    /// that it never stays.
    private static let thumbnail = "jpeg-thumbnail-data"

    private func stripped(_ image: Image) throws(VipsError) -> Image {
        try image.removingMetadata(
            image.fields.filter {
                $0.hasPrefix("exif-") || $0 == Self.thumbnail || Self.isText($0) || Self.blocks.keys.contains($0)
            })
    }

    /// Some rights are in none of the blocks that a format can hold.
    private func losesRights(in format: OutputFormat) -> Bool {
        Self.merged(owners.filter { Self.blocks(of: format).contains($0.block) }) != rights
    }

    /// The XMP with the rights that are in blocks which a format cannot hold.
    /// - Returns: nil if there are none, or they cannot be saved.
    private func rescued(in format: OutputFormat) -> [UInt8]? {
        guard losesRights(in: format), Self.blocks(of: format).contains("xmp-data") else { return nil }
        return xmp.map { rights.added(toXMP: $0) } ?? rights.xmpPacket()
    }

    /// In XMP, which every format but GIF can hold, and in EXIF for programs that read nothing else.
    private func sign(_ editor: MetadataEditor) {
        editor.set("xmp-data", blob: rights.xmpPacket())
        if let copyright = exifRights.copyright { editor.set("exif-ifd0-Copyright", string: exifText(copyright)) }
        if !exifRights.creator.isEmpty {
            editor.set("exif-ifd0-Artist", string: exifText(exifRights.creator.joined(separator: "; ")))
        }
    }

    /// A text as libvips passes it to EXIF: it cuts off all from the last ` (` on, in which it describes a field that
    /// it has read.
    private func exifText(_ text: String) -> String { text + " (ASCII)" }

    /// That something was removed, and what.
    func warnings(for renditions: [RenditionPlan]) -> [Warning] {
        renditions.compactMap(lost) + (renditions.map(\.policy).contains(.copyright) ? removed : [])
    }

    /// The metadata that the pipeline keeps and that libvips cannot write in this format.
    private func lost(_ rendition: RenditionPlan) -> Warning? {
        guard rendition.policy == .keep else { return nil }
        let format = rendition.format
        let held = Self.blocks(of: format)
        let lost = Self.blocks.filter { telling.contains($0.key) && !held.contains($0.key) }.map(\.value).sorted()
        guard !lost.isEmpty else { return nil }
        let message = "'\(rendition.title)': \(format.rawValue) files cannot be given \(lost.joined(separator: ", "))"
        let place = rescued(in: format) == nil ? "lost" : "in its XMP"
        let owner = losesRights(in: format) ? "; copyright, artist and licence are \(place)" : ""
        return Warning(.metadataRemoved, message + owner)
    }

    /// That the default policy removed something, and what.
    private var removed: [Warning] {
        var removed = Self.blocks.filter { telling.contains($0.key) }.map(\.value).sorted()
        if fields.contains(where: { $0.hasPrefix("exif-ifd3-GPS") }) { removed.append("the GPS position") }
        guard !removed.isEmpty else { return [] }
        return [
            Warning(
                .metadataRemoved, "\(removed.joined(separator: ", ")) removed, all but copyright, artist and licence")
        ]
    }
}
