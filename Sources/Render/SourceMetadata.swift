// The metadata of a source, and those of them that a rendition gets.
import Pipeline
import Vips

/// The metadata of a source, as libvips and the file's own structure give them.
struct SourceMetadata {
    /// EXIF about how pixels are stored, which programs write into every picture. It is not worth a word when it is
    /// removed.
    private static let technical: Set = [
        "Orientation", "XResolution", "YResolution", "ResolutionUnit", "YCbCrPositioning", "ExifVersion",
        "FlashpixVersion", "FlashPixVersion",
        "ComponentsConfiguration", "ColorSpace", "PixelXDimension", "PixelYDimension",
    ]
    /// EXIF that stays by default.
    private static let owner: Set = ["Artist", "Copyright"]

    private let blocks: MetadataBlocks
    private let hasPosition: Bool
    /// EXIF has nothing but what stays by default.
    private let isEXIFOfOwner: Bool
    /// The metadata of the file that neither libvips nor our own code reads, in words.
    private let unread: String?

    /// - Parameters:
    ///   - png: the facts that our own code reads of a PNG.
    ///   - own: the file's statements in tags of its format.
    ///   - unread: the metadata of the file that is not read, in words.
    init(_ opened: Image, png: PNGFacts, own: Statements, unread: String?) throws(VipsError) {
        // libvips reads no blocks after the pixels, where ImageMagick puts them, and none of hexadecimal digits.
        let known = Set(MetadataBlock.allCases.filter { opened.has($0.field) })
        let unpacked = Self.unpacked(opened)
        let (missing, texts) = png.blocks(without: known, unpacked: unpacked)
        let image =
            missing.isEmpty
            ? opened
            : try opened.editingMetadata { editor in
                for (block, bytes) in missing { editor.set(block.field, blob: bytes) }
            }
        let fields = image.fields.filter { $0.hasPrefix("exif-ifd") }
        let tags = Set(fields.map(Self.tag))
        // Nothing is known of EXIF that libvips could not read.
        let isTechnical = !tags.isEmpty && tags.isSubset(of: Self.technical)
        isEXIFOfOwner = !tags.isEmpty && tags.isSubset(of: Self.technical.union(Self.owner))
        hasPosition = fields.contains { $0.hasPrefix("exif-ifd3-GPS") }
        var found: [MetadataBlock: [UInt8]] = [:]
        for block in MetadataBlock.allCases { found[block] = image.blob(block.field) }
        self.unread = unread
        // Renditions are upright.
        found[.xmp] = found[.xmp].map(uprightXMP)
        let telling = Set(MetadataBlock.allCases.filter { image.has($0.field) })
        var unwritable = Set(fields.filter { Self.isUnwritable($0, of: image) }.map(Self.tag))
        // Texts in UTF-8 of EXIF 3.0, which libexif does not know.
        let exif = found[.exif].map { Statements(exif: $0) } ?? Statements()
        if exif.caption != nil, !tags.contains("ImageDescription") { unwritable.insert("ImageDescription") }
        if !exif.rights.creator.isEmpty, !tags.contains("Artist") { unwritable.insert("Artist") }
        if exif.rights.copyright != nil, !tags.contains("Copyright") { unwritable.insert("Copyright") }
        blocks = MetadataBlocks(
            found, telling: telling.subtracting(isTechnical ? [.exif] : []), texts: texts,
            own: own.merged(over: Self.statements(texts, unpacked)),
            description: Self.isUnwritable(Self.description, of: image) ? own.caption : image.string(Self.description),
            unwritable: unwritable.sorted())
    }

    /// The statements of all blocks and texts together.
    var statements: Statements { blocks.statements }

    /// The values of fields.
    func values(of fields: [MetadataField], in facts: SourceFacts) -> [MetadataValue] {
        blocks.values(of: fields, in: facts)
    }

    /// The statements in the texts of a PNG. Compressed ones are taken from libvips.
    private static func statements(
        _ texts: [PNGText], _ unpacked: [(keyword: String, text: String)]
    ) -> Statements {
        Statements(
            pngTexts: texts.compactMap { text in
                (text.text ?? unpacked.first { $0.keyword == text.keyword }?.text).map { (text.keyword, $0) }
            })
    }

    private static func unpacked(_ image: Image) -> [(keyword: String, text: String)] {
        image.fields.filter(isPNGText).map { field in
            (field.split(separator: "-", maxSplits: 3).last.map(String.init) ?? field, image.string(field) ?? "")
        }
    }

    /// The tag of a field: `Artist` of `exif-ifd0-Artist`.
    private static func tag(_ field: String) -> String { String(field.dropFirst("exif-ifd0-".count)) }

    /// libvips cuts long texts when it reads EXIF, and gives these words in place of one that is cut within a letter, or
    /// is in Latin-1. It would write them too.
    private static func isUnwritable(_ field: String, of image: Image) -> Bool {
        image.string(field) == "<invalid utf-8 string>"
    }

    // MARK: - Saving

    /// The picture with the metadata that a rendition has, and nothing of what was drawn on it.
    /// - Returns: also whether the saver is to write none at all, whatever the picture has; the texts that a PNG is to
    ///   be given after that; and what should be there and cannot.
    func applied(
        to image: Image, _ rendition: RenditionPlan, encoder: any OutputEncoder.Type, keepsProfile: Bool
    ) throws(VipsError) -> (image: Image, keepsNothing: Bool, texts: [PNGText], warnings: [Warning]) {
        let format = encoder.format
        let selection = blocks.selection(
            rendition.keptMetadata, stating: rendition.statements, for: format.declaration)
        var warnings = [selection.loss].compactMap(\.self).map { loss in
            Warning(.metadataLost, "'\(rendition.title)': \(format.rawValue) files cannot be given \(loss)")
        }
        if [.all, .allButLocation].contains(rendition.keptMetadata) {
            warnings += [unread].compactMap(\.self).map {
                Warning(.metadataLost, "'\(rendition.title)' lacks what is not read of the source: \($0)")
            }
        }
        if selection.isEmpty {
            if encoder.leavesMetadataOut && !keepsProfile { return (image, true, [], warnings) }
            return (try stripped(image), !keepsProfile, [], warnings)
        }
        // libvips adds the fields of EXIF with the block.
        let full = try stripped(image).editingMetadata { editor in
            for (block, bytes) in selection.blocks { editor.set(block.field, blob: bytes) }
            if let description = selection.description { editor.set(Self.description, string: description) }
        }
        let location = rendition.keptMetadata != .allButLocation
        let clean = try full.removingMetadata(
            full.fields.filter { field in
                // Renditions are upright. libvips takes this from EXIF.
                guard field.hasPrefix("exif-ifd") else { return [Self.thumbnail, "orientation"].contains(field) }
                return Self.tag(field) == "Orientation" || Self.isUnwritable(field, of: full)
                    || field.hasPrefix("exif-ifd1-") || !location && Self.mayLocate(field)
            })
        return (clean, false, selection.texts, warnings)
    }

    /// libvips writes no field into a file that a picture does not have, whatever its block says.
    private static func mayLocate(_ field: String) -> Bool {
        field.hasPrefix("exif-ifd3-") || saysLocation(field)
            || ["MakerNote", "XMLPacket", "IPTC", "ImageResources"].contains { field.contains($0) }
    }

    // MARK: - Fields of libvips

    /// How many bytes of metadata a picture has.
    static func bytes(of image: Image) -> Int {
        image.fields.reduce(0) { $0 + (isText($1) || isBlock($1) ? image.byteCount(of: $1) : 0) }
    }

    private static func isMetadata(_ field: String) -> Bool {
        field.hasPrefix("exif-") || field == thumbnail || isText(field) || isBlock(field)
    }

    private static func isBlock(_ field: String) -> Bool { MetadataBlock.allCases.contains { $0.field == field } }

    /// ImageDescription of a TIFF.
    private static let description = "image-description"

    private static func isText(_ field: String) -> Bool { isPNGText(field) || field == description }

    private static func isPNGText(_ field: String) -> Bool { field.hasPrefix("png-comment") }

    /// The thumbnail in EXIF. It shows the picture as it was, also what was cropped away, so that it never stays.
    private static let thumbnail = "jpeg-thumbnail-data"

    private func stripped(_ image: Image) throws(VipsError) -> Image {
        try image.removingMetadata(image.fields.filter(Self.isMetadata))
    }

    // MARK: - Warnings

    /// That the default policy removed something, and what.
    func warnings(for renditions: [RenditionPlan]) -> [Warning] {
        let bare = renditions.filter { $0.keptMetadata == .copyright }
        guard !bare.isEmpty else { return [] }
        let names = bare.count < renditions.count ? bare.map { "'\($0.title)'" } : []
        var removed = blocks.blocksWithMore.subtracting(isEXIFOfOwner ? [.exif] : []).map(\.title).sorted()
        if hasPosition { removed.append("the GPS position") }
        let words = Statements(title: blocks.own.title, caption: blocks.own.caption).titles()
        if !words.isEmpty { removed.append("\(listed(words)) of the file itself") }
        guard !removed.isEmpty else { return [] }
        let others = blocks.isContradicted ? ", of which IPTC names others, which are not kept" : ""
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
