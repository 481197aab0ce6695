// What a picture says of itself, and what of that a rendition may say.
import Pipeline
import Vips

/// The metadata of a source. For one thread.
final class SourceMetadata {
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
    /// Blocks that do not fit a segment of a JPEG, so that libvips leaves them out.
    private let tooLargeForJPEG: Set<String>
    private let iptc: [UInt8]?
    /// The rights that each block of metadata states; those that count more come first.
    private let owners: [(block: String, rights: Rights)]
    /// The rights that all blocks together state.
    private let rights: Rights
    /// The same where EXIF counts, which keeps its own words.
    private let exifRights: Rights

    init(_ image: Image) {
        fields = image.fields
        let tags = fields.filter { $0.hasPrefix("exif-ifd") }.map { $0.dropFirst("exif-ifd0-".count) }
        // Nothing is known of EXIF that libvips could not read.
        let isTechnical = !tags.isEmpty && tags.allSatisfy { Self.technical.contains(String($0)) }
        telling = Set(Self.blocks.keys.filter(fields.contains)).subtracting(isTechnical ? ["exif-data"] : [])
        // Renditions are upright.
        xmp = image.blob("xmp-data").map(uprightXMP)
        let exif = image.blob("exif-data").map { Rights(exif: $0) } ?? Rights()
        iptc = image.blob("iptc-data")
        tooLargeForJPEG = Set(Self.blocks.keys.filter { image.byteCount(of: $0) > Self.largestInJPEG })
        owners = [
            ("xmp-data", xmp.map { Rights(xmp: $0) } ?? Rights()), ("exif-data", exif),
            ("iptc-data", iptc.map { Rights(iptc: $0) } ?? Rights()),
        ]
        rights = Self.merged(owners)
        exifRights = exif.merged(over: rights)
    }

    private static func merged(_ owners: [(block: String, rights: Rights)]) -> Rights {
        owners.reduce(Rights()) { $0.merged(over: $1.rights) }
    }

    /// Bytes of a block in one segment of a JPEG, without the words that announce it.
    private static let largestInJPEG = 65_000

    /// The blocks that libvips writes into a file of a format.
    private func blocks(of format: OutputFormat) -> Set<String> {
        switch format {
        case .jpeg: Set(["exif-data", "xmp-data", "iptc-data"]).subtracting(tooLargeForJPEG)
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
            let held = blocks(of: format)
            let kept = try image.removingMetadata(Self.blocks.keys.filter { !held.contains($0) } + [Self.thumbnail])
            return (
                try kept.editingMetadata { editor in
                    let packet = held.contains("xmp-data") ? xmp : nil
                    if let packet = rescued(in: format) ?? packet { editor.set("xmp-data", blob: packet) }
                    if let iptc, held.contains("iptc-data") { editor.set("iptc-data", blob: photoshopResource(iptc)) }
                }, false
            )
        case .copyright where !rights.isEmpty:
            let block = exifRights.exif
            let exif = if let block { try EXIFFields(block) } else { nil as EXIFFields? }
            return (
                try stripped(image).editingMetadata { editor in
                    // In XMP, which every format but GIF can hold, and in EXIF for programs that read nothing else.
                    editor.set("xmp-data", blob: rights.xmpPacket())
                    exif?.add(to: editor)
                }, false
            )
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

    /// The rights in the blocks that a format can hold.
    private func rightsHeld(in format: OutputFormat) -> Rights {
        let held = blocks(of: format)
        return Self.merged(owners.filter { held.contains($0.block) })
    }

    /// The source's XMP with the rights from all other blocks; nil if they cannot be added to it.
    private lazy var completedXMP = xmp.flatMap { rights.added(toXMP: $0) }

    /// The XMP with the rights that are in blocks which a format cannot hold.
    /// - Returns: nil if there are none, or they cannot be saved.
    private func rescued(in format: OutputFormat) -> [UInt8]? {
        guard rightsHeld(in: format) != rights else { return nil }
        if xmp != nil && blocks(of: format).contains("xmp-data") { return completedXMP }
        return format == .gif ? nil : rights.xmpPacket()
    }

    /// IPTC as a JPEG has it. A TIFF has it bare.
    private func photoshopResource(_ iptc: [UInt8]) -> [UInt8] {
        guard iptc.first == 0x1C else { return iptc }
        let length = (0..<4).map { UInt8(truncatingIfNeeded: iptc.count >> (24 - 8 * $0)) }
        let resource = Array("8BIM".utf8) + [4, 4, 0, 0] + length + iptc + (iptc.count % 2 == 0 ? [] : [0])
        return Array("Photoshop 3.0\0".utf8) + resource
    }

    /// IPTC names another owner than the blocks that count more. EXIF keeps its own words.
    private var isContradicted: Bool {
        let iptc = iptc.map { Rights(iptc: $0) } ?? Rights()
        return ![rights, exifRights].contains { iptc.merged(over: $0) == $0 }
    }

    /// That something was removed, and what.
    func warnings(for renditions: [RenditionPlan]) -> [Warning] {
        let bare = renditions.filter { $0.policy == .copyright }
        let names = bare.count < renditions.count ? bare.map { "'\($0.title)'" } : []
        return renditions.compactMap(lost) + (bare.isEmpty ? [] : removed(from: names))
    }

    /// The metadata that the pipeline keeps and that libvips cannot write in this format.
    private func lost(_ rendition: RenditionPlan) -> Warning? {
        let format = rendition.format
        let owner = "copyright, artist and licence"
        let message = "'\(rendition.title)': \(format.rawValue) files cannot be given "
        if rendition.policy == .copyright, format == .gif, !rights.isEmpty {
            return Warning(.metadataLost, message + owner)
        }
        guard rendition.policy == .keep else { return nil }
        let held = blocks(of: format)
        let lost = Self.blocks.filter { telling.contains($0.key) && !held.contains($0.key) }.map { block, name in
            format == .jpeg && tooLargeForJPEG.contains(block) ? "\(name) of so many bytes" : name
        }.sorted()
        guard !lost.isEmpty else { return nil }
        let (known, names) = (rightsHeld(in: format), lost.joined(separator: ", "))
        guard known != rights else { return Warning(.metadataLost, message + names) }
        let isPart = known.isEmpty ? "" : "partly "
        let place = rescued(in: format) == nil ? "\(isPart)lost" : "in its XMP"
        return Warning(.metadataLost, message + "\(names); \(owner) are \(place)")
    }

    /// That the default policy removed something, and what.
    /// - Parameter names: of the renditions, if others keep it.
    private func removed(from names: [String]) -> [Warning] {
        var removed = Self.blocks.filter { telling.contains($0.key) }.map(\.value).sorted()
        if fields.contains(where: { $0.hasPrefix("exif-ifd3-GPS") }) { removed.append("the GPS position") }
        guard !removed.isEmpty else { return [] }
        let others = isContradicted ? ", of which IPTC names others, which are not kept" : ""
        return [
            Warning(
                .metadataRemoved,
                "\(names.isEmpty ? "" : names.joined(separator: ", ") + ": ")\(removed.joined(separator: ", ")) removed, all but copyright, artist and licence\(others)"
            )
        ]
    }
}
