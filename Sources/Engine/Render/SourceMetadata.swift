// What a picture says of itself, and what of that a rendition may say.
import Pipeline
import Vips

/// The metadata of a source. For one thread.
final class SourceMetadata {
    /// EXIF about how pixels are stored, which programs write into every picture. It is not worth a word when it is
    /// removed.
    private static let technical: Set = [
        "Orientation", "XResolution", "YResolution", "ResolutionUnit", "YCbCrPositioning", "ExifVersion",
        "FlashpixVersion", "FlashPixVersion",
        "ComponentsConfiguration", "ColorSpace", "PixelXDimension", "PixelYDimension",
    ]

    private let fields: [String]
    /// The fields of blocks that say something about the picture.
    private let telling: Set<MetadataBlock>
    private let xmp: [UInt8]?
    private let blockBytes: [MetadataBlock: Int]
    private let exif: [UInt8]?
    private let iptc: [UInt8]?
    private let photoshop: [UInt8]?
    /// The rights that each block of metadata states; those that count more come first.
    private let owners: [(block: MetadataBlock, rights: Rights)]
    /// The rights that all blocks together state.
    private let rights: Rights
    /// The same where EXIF counts, which keeps its own words.
    private let exifRights: Rights

    init(_ image: Image) {
        fields = image.fields
        let tags = fields.filter { $0.hasPrefix("exif-ifd") }.map { $0.dropFirst("exif-ifd0-".count) }
        // Nothing is known of EXIF that libvips could not read.
        let isTechnical = !tags.isEmpty && tags.allSatisfy { Self.technical.contains(String($0)) }
        telling = Set(MetadataBlock.allCases.filter { image.has($0.field) }).subtracting(isTechnical ? [.exif] : [])
        // Renditions are upright.
        xmp = image.blob("xmp-data").map(uprightXMP)
        exif = image.blob("exif-data")
        iptc = image.blob("iptc-data")
        photoshop = image.blob("photoshop-data")
        blockBytes = Dictionary(
            uniqueKeysWithValues: MetadataBlock.allCases.map { ($0, image.byteCount(of: $0.field)) })
        owners = [
            (.xmp, xmp.map { Rights(xmp: $0) } ?? Rights()), (.exif, exif.map { Rights(exif: $0) } ?? Rights()),
            (.iptc, iptc.map { Rights(iptc: $0) } ?? Rights()),
        ]
        rights = Self.merged(owners)
        exifRights = owners[1].rights.merged(over: rights)
    }

    private static func merged(_ owners: [(block: MetadataBlock, rights: Rights)]) -> Rights {
        owners.reduce(Rights()) { $0.merged(over: $1.rights) }
    }

    /// The blocks that libvips writes into a file of a format.
    private func blocks(of format: OutputFormat) -> Set<MetadataBlock> {
        format.declaration.metadata.filter { !isTooLarge($0, for: format) }
    }

    private func isTooLarge(_ block: MetadataBlock, for format: OutputFormat) -> Bool {
        blockBytes[block, default: 0] > format.declaration.largestMetadata
    }

    /// The picture with the metadata that a rendition keeps, and with what it states anew.
    /// - Returns: also whether the saver is to write none at all, whatever the picture has.
    func applied(
        to image: Image, _ rendition: RenditionPlan, encoder: any OutputEncoder.Type, keepsProfile: Bool
    ) throws(VipsError) -> (image: Image, keepsNothing: Bool) {
        let statements = rendition.statements
        switch rendition.keptMetadata {
        case .all:
            return (try edited(image, MetadataEdit(stating: statements, removesLocation: false), encoder.format), false)
        case .allButLocation:
            return (try edited(image, MetadataEdit(stating: statements, removesLocation: true), encoder.format), false)
        case .copyright where !rights.isEmpty || !statements.isEmpty:
            return (
                try owned(
                    image, statements.merged(over: Statements(rights: rights)),
                    statements.rights.merged(over: exifRights)),
                false
            )
        case .none where !statements.isEmpty: return (try owned(image, statements, statements.rights), false)
        case .copyright, .none:
            if encoder.leavesMetadataOut && !keepsProfile { return (image, true) }
            return (try stripped(image), !keepsProfile)
        }
    }

    /// The picture with nothing but statements: in XMP, which most formats can hold, and the owner in EXIF for programs
    /// that read nothing else.
    private func owned(_ image: Image, _ statements: Statements, _ owner: Rights) throws(VipsError) -> Image {
        let exif = if let block = owner.exif { try EXIFFields(block) } else { nil as EXIFFields? }
        return try stripped(image).editingMetadata { editor in
            editor.set(MetadataBlock.xmp.field, blob: statements.xmpPacket())
            exif?.add(to: editor)
        }
    }

    /// The picture with all metadata that the format can hold, after an edit.
    private func edited(_ image: Image, _ edit: MetadataEdit, _ format: OutputFormat) throws(VipsError) -> Image {
        let held = blocks(of: format)
        let packet = rescued(in: format) ?? (held.contains(.xmp) ? xmp : nil)
        let (iptc, photoshop) = (held.contains(.iptc) ? iptc : nil, held.contains(.photoshop) ? photoshop : nil)
        guard !edit.changesNothing else {
            let removed = MetadataBlock.allCases.filter { !held.contains($0) }.map(\.field) + [Self.thumbnail]
            return try image.removingMetadata(removed).editingMetadata { editor in
                if let packet { editor.set(MetadataBlock.xmp.field, blob: packet) }
                if let iptc { editor.set(MetadataBlock.iptc.field, blob: photoshopResource(iptc)) }
            }
        }
        // Nothing stays that is not known: libvips also gives a picture the fields of all that was drawn on it.
        let kept = fields.filter { field in
            Self.isText(field) && !Self.holdsBlock(field)
                && !(edit.removesLocation && saysLocation(Self.key(of: field)))
        }
        let texts = kept.compactMap { field in image.string(field).map { (field, $0) } }
        var exif: EXIFFields?
        if format.declaration.metadata.contains(.exif), let block = self.exif.flatMap(edit.exif) {
            exif = try EXIFFields(block)
        }
        let largest = format.declaration.largestMetadata
        return try stripped(image).editingMetadata { editor in
            for (field, text) in texts { editor.set(field, string: text) }
            if let packet {
                // libvips writes none into a JPEG that is nearly as long as a segment.
                editor.set(MetadataBlock.xmp.field, blob: edit.xmp(packet, most: largest - 5000))
            } else if !edit.statements.isEmpty, format.declaration.metadata.contains(.xmp) {
                editor.set(MetadataBlock.xmp.field, blob: edit.statements.xmpPacket())
            }
            if let iptc { editor.set(MetadataBlock.iptc.field, blob: photoshopResource(edit.iptc(iptc))) }
            if let photoshop { editor.set(MetadataBlock.photoshop.field, blob: edit.iptc(photoshop)) }
            exif?.add(to: editor, location: !edit.removesLocation)
        }
    }

    /// Whether a text of a PNG holds a whole block. ImageMagick writes such, with keys as `Raw profile type exif`, which
    /// libvips cuts at the first space.
    private static func holdsBlock(_ field: String) -> Bool {
        let key = key(of: field)
        return key.hasPrefix("Raw") || key.lowercased().contains("profile")
    }

    /// The key of a text: `City` of `png-comment-0-City`.
    private static func key(of field: String) -> String {
        field.split(separator: "-", maxSplits: 3).last.map(String.init) ?? field
    }

    /// How many bytes of metadata a picture has.
    static func bytes(of image: Image) -> Int {
        image.fields.reduce(0) { $0 + (isText($1) || isBlock($1) ? image.byteCount(of: $1) : 0) }
    }

    private static func isBlock(_ field: String) -> Bool { MetadataBlock.allCases.contains { $0.field == field } }

    private static func isText(_ field: String) -> Bool {
        field.hasPrefix("png-comment") || field == "image-description"
    }

    /// What EXIF has of the picture at a small size. It shows the picture as it was, also what was cropped away, so
    /// that it never stays.
    private static let thumbnail = "jpeg-thumbnail-data"

    private func stripped(_ image: Image) throws(VipsError) -> Image {
        try image.removingMetadata(
            image.fields.filter {
                $0.hasPrefix("exif-") || $0 == Self.thumbnail || Self.isText($0) || Self.isBlock($0)
            })
    }

    /// The rights in the blocks that a format can hold.
    private func rightsHeld(in format: OutputFormat) -> Rights {
        let held = blocks(of: format)
        return Self.merged(owners.filter { held.contains($0.block) })
    }

    /// The source's XMP with the rights from all other blocks; nil if they cannot be added to it.
    private lazy var completedXMP = xmp.flatMap { Statements(rights: rights).added(toXMP: $0) }

    /// The XMP with the rights that are in blocks which a format cannot hold.
    /// - Returns: nil if there are none, or they cannot be saved.
    private func rescued(in format: OutputFormat) -> [UInt8]? {
        guard rightsHeld(in: format) != rights else { return nil }
        if xmp != nil && blocks(of: format).contains(.xmp) { return completedXMP }
        return format.declaration.metadata.contains(.xmp) ? Statements(rights: rights).xmpPacket() : nil
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
        let bare = renditions.filter { $0.keptMetadata == .copyright }
        let names = bare.count < renditions.count ? bare.map { "'\($0.title)'" } : []
        return renditions.compactMap(lost) + (bare.isEmpty ? [] : removed(from: names))
    }

    /// The metadata that the pipeline keeps and that libvips cannot write in this format.
    private func lost(_ rendition: RenditionPlan) -> Warning? {
        let format = rendition.format
        let owner = "copyright, artist and licence"
        let message = "'\(rendition.title)': \(format.rawValue) files cannot be given "
        let stated =
            rendition.statements.isEmpty || format.declaration.metadata.contains(.xmp)
            ? [] : ["what 'set' of 'metadata' states"]
        let held = blocks(of: format)
        switch rendition.keptMetadata {
        case .copyright, .none:
            let isOwnerLost =
                rendition.keptMetadata == .copyright && !rights.isEmpty && !format.declaration.metadata.contains(.xmp)
            let lost = (isOwnerLost ? [owner] : []) + stated
            return lost.isEmpty ? nil : Warning(.metadataLost, message + listed(lost))
        case .all, .allButLocation: break
        }
        let lost =
            telling.subtracting(held).map { block in
                isTooLarge(block, for: format) ? "\(block.title) of so many bytes" : block.title
            }.sorted() + stated
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
        var removed = telling.map(\.title).sorted()
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

extension MetadataBlock {
    /// Its name among libvips' fields.
    fileprivate var field: String { rawValue + "-data" }
}
