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
    /// What each block states, and the file itself outside of them.
    private let stated: [MetadataBlock?: Statements]
    /// What all of them state together.
    private let statements: Statements
    /// The rights where EXIF counts, which keeps its own words.
    private let exifRights: Rights
    /// Texts that libvips cannot write as they were.
    private let unwritable: [String]

    init(_ image: Image, stated: [MetadataBlock?: Statements]) {
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
        (self.stated, statements) = (stated, Statements(stated))
        exifRights = stated[.exif]?.rights.merged(over: statements.rights) ?? statements.rights
        unwritable = fields.filter { EXIFFields.isUnwritable($0, of: image) }
    }

    /// The blocks that libvips writes into a file of a format.
    private func blocks(of format: OutputFormat) -> Set<MetadataBlock> {
        format.declaration.metadata.filter { !isTooLarge($0, for: format) }
    }

    private func isTooLarge(_ block: MetadataBlock, for format: OutputFormat) -> Bool {
        blockBytes[block, default: 0] > format.declaration.largestMetadata
    }

    /// The picture with the metadata that a rendition keeps, and with what it states anew.
    /// - Returns: also whether the saver is to write none at all, whatever the picture has, and what did not stay as the
    ///   policy says.
    func applied(
        to image: Image, _ rendition: RenditionPlan, encoder: any OutputEncoder.Type, keepsProfile: Bool
    ) throws(VipsError) -> (image: Image, keepsNothing: Bool, warnings: [Warning]) {
        let (new, rights) = (rendition.statements, statements.rights)
        switch rendition.keptMetadata {
        case .all, .allButLocation:
            let (image, warnings) = try edited(image, rendition, encoder.format)
            return (image, false, warnings)
        case .copyright where !rights.isEmpty || !new.isEmpty:
            let owned = try owned(
                image, new.merged(over: Statements(rights: rights)), new.rights.merged(over: exifRights))
            return (owned, false, [])
        case .none where !new.isEmpty: return (try owned(image, new, new.rights), false, [])
        case .copyright, .none:
            if encoder.leavesMetadataOut && !keepsProfile { return (image, true, []) }
            return (try stripped(image), !keepsProfile, [])
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

    /// The picture with all metadata that the policy keeps and the format can hold, and with what is stated anew.
    private func edited(
        _ image: Image, _ rendition: RenditionPlan, _ format: OutputFormat
    ) throws(VipsError) -> (Image, [Warning]) {
        let edit = MetadataEdit(
            stating: rendition.statements, removesLocation: rendition.keptMetadata == .allButLocation)
        let held = blocks(of: format)
        let packet = rescued(in: format) ?? (held.contains(.xmp) ? xmp : nil)
        let (iptc, photoshop) = (held.contains(.iptc) ? iptc : nil, held.contains(.photoshop) ? photoshop : nil)
        guard !edit.changesNothing else {
            // libvips also gives a picture the fields of all that was drawn on it.
            let own = Set(fields).subtracting(unwritable)
            let removed =
                image.fields.filter { Self.isMetadata($0) && !own.contains($0) }
                + MetadataBlock.allCases.filter { !held.contains($0) }.map(\.field) + [Self.thumbnail]
            let edited = try image.removingMetadata(removed).editingMetadata { editor in
                if let packet { editor.set(MetadataBlock.xmp.field, blob: packet) }
                if let iptc { editor.set(MetadataBlock.iptc.field, blob: photoshopResource(iptc)) }
            }
            return (edited, [])
        }
        let texts = Set(
            fields.filter { field in
                Self.isText(field) && !Self.holdsBlock(field) && !unwritable.contains(field)
                    && !(edit.removesLocation && saysLocation(Self.key(of: field)))
                    && !Self.states(edit.statements, field)
            })
        var exif: MetadataEdit.Edited?
        if format.declaration.metadata.contains(.exif) { exif = self.exif.map(edit.exif) }
        let exifFields = if let exif, !exif.bytes.isEmpty { try EXIFFields(exif.bytes) } else { nil as EXIFFields? }
        var xmp: MetadataEdit.Edited?
        if let packet {
            // libvips writes none into a JPEG that is nearly as long as a segment.
            xmp = edit.xmp(packet, most: format.declaration.largestMetadata - 5000)
        } else if !edit.statements.isEmpty, format.declaration.metadata.contains(.xmp) {
            xmp = MetadataEdit.Edited(bytes: edit.statements.xmpPacket(), isWhole: true)
        }
        let edited = try stripped(image, butFor: texts).editingMetadata { editor in
            if let xmp { editor.set(MetadataBlock.xmp.field, blob: xmp.bytes) }
            if let iptc { editor.set(MetadataBlock.iptc.field, blob: photoshopResource(edit.iptc(iptc))) }
            if let photoshop { editor.set(MetadataBlock.photoshop.field, blob: edit.iptc(photoshop)) }
            exifFields?.add(to: editor, location: !edit.removesLocation)
        }
        let cut = [
            (xmp, "XMP", "copyright, artist, licence, title, caption and keywords"),
            (exif, "EXIF", "artist, copyright and caption"),
        ]
        let warnings = cut.filter { $0.0?.isWhole == false }.map { _, title, rest in
            Warning(
                .metadataLost,
                "'\(rendition.title)': the \(title) is damaged, or too long for \(format.rawValue) with what changes in it; only \(rest) stay"
            )
        }
        return (edited, warnings)
    }

    /// Whether a text says what is stated anew.
    private static func states(_ statements: Statements, _ field: String) -> Bool {
        field == description ? statements.caption != nil : statements.states(pngKeyword: key(of: field))
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

    private static func isMetadata(_ field: String) -> Bool {
        field.hasPrefix("exif-") || field == thumbnail || isText(field) || isBlock(field)
    }

    private static func isBlock(_ field: String) -> Bool { MetadataBlock.allCases.contains { $0.field == field } }

    /// ImageDescription of a TIFF.
    private static let description = "image-description"

    private static func isText(_ field: String) -> Bool { isPNGText(field) || field == description }

    private static func isPNGText(_ field: String) -> Bool { field.hasPrefix("png-comment") }

    /// What EXIF has of the picture at a small size. It shows the picture as it was, also what was cropped away, so
    /// that it never stays.
    private static let thumbnail = "jpeg-thumbnail-data"

    /// - Parameter kept: fields that stay.
    private func stripped(_ image: Image, butFor kept: Set<String> = []) throws(VipsError) -> Image {
        try image.removingMetadata(image.fields.filter { Self.isMetadata($0) && !kept.contains($0) })
    }

    /// What the blocks state that a format can hold.
    private func statementsHeld(in format: OutputFormat) -> Statements {
        let held = blocks(of: format)
        // A PNG's texts stay in a PNG, but for those that libvips cannot write.
        let keepsTexts =
            format == .png && fields.contains(where: Self.isPNGText) && !unwritable.contains(where: Self.isPNGText)
        var stated = stated.filter { block, _ in block.map(held.contains) ?? keepsTexts }
        let lost = unwritable.map(EXIFFields.tag)
        if lost.contains("ImageDescription") { stated[.exif]?.caption = nil }
        if lost.contains("Artist") { stated[.exif]?.rights.creator = [] }
        if lost.contains("Copyright") { stated[.exif]?.rights.copyright = nil }
        return Statements(stated)
    }

    /// The source's XMP with what all other blocks state, or at least with their rights; nil if these cannot be added to
    /// it.
    private lazy var completedXMP = xmp.flatMap { packet in
        [statements, Statements(rights: statements.rights)].lazy.compactMap { $0.added(toXMP: packet) }.first
    }

    /// The XMP with what is stated in blocks that a format cannot hold.
    /// - Returns: nil if there is none, or it cannot be saved.
    private func rescued(in format: OutputFormat) -> [UInt8]? {
        guard statementsHeld(in: format) != statements else { return nil }
        if xmp != nil && blocks(of: format).contains(.xmp) { return completedXMP }
        return format.declaration.metadata.contains(.xmp) ? statements.xmpPacket() : nil
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
        let iptc = stated[.iptc]?.rights ?? Rights()
        return ![statements.rights, exifRights].contains { iptc.merged(over: $0) == $0 }
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
        let message = "'\(rendition.title)': \(format.rawValue) files cannot be given "
        let new =
            rendition.statements.isEmpty || format.declaration.metadata.contains(.xmp)
            ? [] : ["what 'set' of 'metadata' states"]
        let held = blocks(of: format)
        switch rendition.keptMetadata {
        case .copyright, .none:
            let isOwnerLost = rendition.keptMetadata == .copyright && !format.declaration.metadata.contains(.xmp)
            let lost = (isOwnerLost ? Statements(rights: statements.rights).titles() : []) + new
            return lost.isEmpty ? nil : Warning(.metadataLost, message + listed(lost))
        case .all, .allButLocation: break
        }
        let lost =
            telling.subtracting(held).map { block in
                isTooLarge(block, for: format) ? "\(block.title) of so many bytes" : block.title
            }.sorted() + unwritableTitles(in: format) + new
        let known = statementsHeld(in: format)
        let packet = rescued(in: format)
        let rescued = packet.map { Statements(xmp: $0).merged(over: known) } ?? known
        let gone = statements.titles(besides: rescued)
        let names = lost.joined(separator: ", ")
        guard !lost.isEmpty else { return gone.isEmpty ? nil : Warning(.metadataLost, message + listed(gone)) }
        let saved = rescued == known ? [] : rescued.titles(besides: known)
        let isPart = known.rights.isEmpty ? "" : "partly "
        let notes =
            (gone.isEmpty ? [] : ["\(listed(gone)) \(Self.verb(gone)) \(isPart)lost"])
            + (saved.isEmpty ? [] : ["\(listed(saved)) \(Self.verb(saved)) in its XMP"])
        return Warning(.metadataLost, message + ([names] + notes).joined(separator: "; "))
    }

    private static func verb(_ titles: [String]) -> String {
        titles == ["title"] || titles == ["caption"] ? "is" : "are"
    }

    /// The texts that are lost because of what libvips can write, but for those that are read here.
    private func unwritableTitles(in format: OutputFormat) -> [String] {
        let isRead = Set(["ImageDescription", "Artist", "Copyright", "Author", "Title", "Description"])
        return unwritable.compactMap { field in
            if field.hasPrefix("exif-") {
                let tag = EXIFFields.tag(field)
                return format.declaration.metadata.contains(.exif) && !isRead.contains(tag) ? "EXIF's long \(tag)" : nil
            }
            let key = Self.key(of: field)
            return format == .png && Self.isPNGText(field) && !isRead.contains(key)
                ? "the text '\(key)' in Latin-1" : nil
        }
    }

    /// That the default policy removed something, and what.
    /// - Parameter names: of the renditions, if others keep it.
    private func removed(from names: [String]) -> [Warning] {
        var removed = telling.map(\.title).sorted()
        if fields.contains(where: { $0.hasPrefix("exif-ifd3-GPS") }) { removed.append("the GPS position") }
        let words = stated[nil].map { Statements(title: $0.title, caption: $0.caption).titles() } ?? []
        if !words.isEmpty { removed.append("\(listed(words)) of the file itself") }
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
