// The selection of a source's metadata for a rendition, and the losses on the way. Knows nothing of libvips.

/// The metadata of a source, block by block.
package struct MetadataBlocks: Sendable {
    package var blocks: [MetadataBlock: [UInt8]]
    /// Blocks that say something about the picture.
    package var telling: Set<MetadataBlock>
    package var texts: [PNGText]
    /// The statements outside of the blocks, in tags or texts of the format.
    package var own: Statements
    /// ImageDescription of a TIFF, of any length.
    package var description: String?
    /// Tags of EXIF that libvips cannot write as they are, by their names.
    package var unwritable: [String]

    /// The statements of all blocks and of the file together.
    package let statements: Statements
    private let stated: [MetadataBlock?: Statements]

    package init(
        _ blocks: [MetadataBlock: [UInt8]], telling: Set<MetadataBlock>, texts: [PNGText], own: Statements,
        description: String? = nil, unwritable: [String]
    ) {
        (self.blocks, self.telling, self.texts) = (blocks, telling, texts)
        (self.own, self.description, self.unwritable) = (own, description, unwritable)
        stated = Self.stated(in: blocks, own)
        statements = Statements(stated)
    }

    private static func stated(
        in blocks: [MetadataBlock: [UInt8]], _ own: Statements
    ) -> [MetadataBlock?: Statements] {
        var stated: [MetadataBlock?: Statements] = [nil: own]
        for (block, bytes) in blocks { stated[block] = block.statements(bytes) }
        return stated
    }

    /// The rights where EXIF counts, which keeps its own words.
    private var exifRights: Rights { stated[.exif]?.rights.merged(over: statements.rights) ?? statements.rights }

    /// IPTC names another owner than the blocks that count more. EXIF keeps its own words.
    package var isContradicted: Bool {
        let iptc = stated[.iptc]?.rights ?? Rights()
        return ![statements.rights, exifRights].contains { iptc.merged(over: $0) == $0 }
    }

    /// The blocks that have more than the rights that stay by default, as far as is known.
    package var blocksWithMore: Set<MetadataBlock> {
        telling.filter { block in
            block != .xmp || blocks[.xmp] != Statements(rights: stated[.xmp]?.rights ?? Rights()).xmpPacket()
        }
    }
}

/// The metadata that a rendition has.
package struct MetadataSelection: Sendable {
    package fileprivate(set) var blocks: [MetadataBlock: [UInt8]] = [:]
    /// For a PNG.
    package fileprivate(set) var texts: [PNGText] = []
    /// For a TIFF: its ImageDescription.
    package fileprivate(set) var description: String?
    /// Tags of EXIF that must not be written, by their names.
    package fileprivate(set) var unwritable: [String] = []
    /// Names the metadata that the policy keeps and the file cannot have, for a message; nil if nothing is missing.
    package fileprivate(set) var loss: String?

    package var isEmpty: Bool { blocks.isEmpty && texts.isEmpty && description == nil }

    /// Blocks that are there, but only as far as they are understood.
    fileprivate var reduced: Set<MetadataBlock> = []

    /// The statements in all of it.
    fileprivate var statements: Statements { Statements(stated) }

    fileprivate var stated: [MetadataBlock?: Statements] {
        var stated: [MetadataBlock?: Statements] = [:]
        for (block, bytes) in blocks { stated[block] = block.statements(bytes) }
        if unwritable.contains("ImageDescription") { stated[.exif]?.caption = nil }
        if unwritable.contains("Artist") { stated[.exif]?.rights.creator = [] }
        if unwritable.contains("Copyright") { stated[.exif]?.rights.copyright = nil }
        stated[nil] = Statements(pngTexts: texts.compactMap { text in text.text.map { (text.keyword, $0) } })
        if let description { stated[nil]?.caption = Rights.cleaned(description) }
        return stated
    }
}

extension MetadataBlocks {
    /// - Parameter new: what is stated anew, whatever the source says.
    package func selection(
        _ policy: KeptMetadata, stating new: Statements, for format: any OutputFormatDeclaration.Type
    ) -> MetadataSelection {
        var selection: MetadataSelection
        let wanted: Statements
        switch policy {
        case .none, .copyright:
            wanted = policy == .none ? new : new.merged(over: Statements(rights: statements.rights))
            selection = owner(policy == .none ? new.rights : new.rights.merged(over: exifRights), wanted, format)
        case .all, .allButLocation:
            wanted = new.merged(over: statements)
            let edit = MetadataEdit(stating: new, removesLocation: policy == .allButLocation)
            selection = kept(edit, wanted, format)
        }
        selection.loss = loss(selection, policy, wanted, new, format)
        return selection
    }

    /// Nothing but statements: in XMP, which most formats can hold, and the owner in EXIF for programs that read nothing
    /// else.
    private func owner(
        _ rights: Rights, _ wanted: Statements, _ format: any OutputFormatDeclaration.Type
    ) -> MetadataSelection {
        var selection = MetadataSelection()
        guard !wanted.isEmpty else { return selection }
        if format.metadata.contains(.exif) { selection.blocks[.exif] = rights.exif }
        if format.metadata.contains(.xmp) { selection.blocks[.xmp] = wanted.xmpPacket(atMost: format.largest(.xmp)) }
        return selection
    }

    /// Everything that the format can hold, after an edit.
    private func kept(
        _ edit: MetadataEdit, _ wanted: Statements, _ format: any OutputFormatDeclaration.Type
    ) -> MetadataSelection {
        var selection = MetadataSelection()
        for block in [MetadataBlock.exif, .iptc, .photoshop] where format.metadata.contains(block) {
            guard let bytes = blocks[block] else { continue }
            let edited = edit.edited(bytes, block, most: format.largest(block))
            guard let edited, !edited.bytes.isEmpty else { continue }
            selection.blocks[block] = edited.bytes
            if !edited.isWhole { selection.reduced.insert(block) }
        }
        selection.unwritable = unwritable.filter { !edit.replaces(tag: $0) }
        restate(in: &selection, atMost: format.largest(.exif))
        if format.keepsTexts { selection.texts = texts.filter(edit.keeps) }
        if format.keepsDescription, edit.statements.caption == nil { selection.description = description }
        guard format.metadata.contains(.xmp) else { return selection }
        if let (packet, isWhole) = blocks[.xmp].map(xmpOfOnePicture) {
            if !isWhole { selection.reduced.insert(.xmp) }
            let edited = edit.edited(packet, .xmp, most: format.largest(.xmp))
            selection.blocks[.xmp] = edited?.bytes
            if edited?.isWhole == false { selection.reduced.insert(.xmp) }
        }
        // The statements of blocks that the format cannot hold, and new ones, go into XMP.
        if selection.statements != wanted || (!edit.statements.isEmpty && selection.blocks[.xmp] == nil) {
            let most = format.largest(.xmp)
            if let packet = selection.blocks[.xmp] {
                selection.blocks[.xmp] = wanted.added(toXMP: packet, most: most) ?? packet
            } else {
                selection.blocks[.xmp] = wanted.xmpPacket(atMost: most)
            }
        }
        return selection
    }

    /// Writes the texts of EXIF anew, in UTF-8, that libvips could not write as they were in Latin-1.
    private func restate(in selection: inout MetadataSelection, atMost most: Int) {
        guard let bytes = selection.blocks[.exif], let old = stated[.exif] else { return }
        let wanted: [(tag: TIFFTag, name: String)] = [
            (.imageDescription, "ImageDescription"), (.artist, "Artist"), (.copyright, "Copyright"),
        ]
        let lost = wanted.filter { selection.unwritable.contains($0.name) && old.exifTexts[$0.tag] != nil }
        let texts = old.exifTexts.filter { tag, _ in lost.contains { $0.tag == tag } }
        guard !texts.isEmpty, var block = EXIFBlock(bytes), block.state(texts), block.marked.count <= most else {
            return
        }
        selection.blocks[.exif] = block.marked
        selection.unwritable.removeAll { name in lost.contains { $0.name == name } }
    }

    // MARK: - Losses

    private func loss(
        _ selection: MetadataSelection, _ policy: KeptMetadata, _ wanted: Statements, _ new: Statements,
        _ format: any OutputFormatDeclaration.Type
    ) -> String? {
        let result = selection.statements
        // The statements of the source, as far as they count.
        let (old, there) = (wanted.lacking(in: new), result.lacking(in: new))
        let gone = old.titles(besides: there)
        let isNewLost = !new.isEmpty && new.merged(over: result) != result
        let set = isNewLost ? ["what 'set' of 'metadata' states"] : []
        guard policy == .all || policy == .allButLocation else {
            return gone.isEmpty && set.isEmpty ? nil : listed(gone + set)
        }
        let blocks = telling.compactMap { block -> String? in
            if selection.reduced.contains(block) { return "\(block.title), which is damaged or too long, as a whole" }
            if selection.blocks[block] != nil { return nil }
            return format.metadata.contains(block) ? "\(block.title) of so many bytes" : block.title
        }
        let isRead = Set(["ImageDescription", "Artist", "Copyright"])
        let tags =
            selection.blocks[.exif] == nil
            ? [] : selection.unwritable.filter { !isRead.contains($0) }.map { "EXIF's \($0)" }
        let profiles = texts.filter { $0.isBlock && !$0.isXMP }.map { "the text '\($0.keyword)'" }
        let lost = blocks.sorted() + tags + profiles + set
        guard !lost.isEmpty else { return gone.isEmpty ? nil : listed(gone) }
        // The statements that would be left if nothing had been added to the XMP.
        var left = selection.stated
        left[.xmp] = selection.blocks[.xmp] == nil ? nil : stated[.xmp]
        let saved = old.titles(besides: Statements(left).lacking(in: new)).filter { !gone.contains($0) }
        let isPart = there.rights.isEmpty ? "" : "partly "
        let notes =
            (gone.isEmpty ? [] : ["\(listed(gone)) \(Self.verb(gone)) \(isPart)lost"])
            + (saved.isEmpty ? [] : ["\(listed(saved)) \(Self.verb(saved)) in its XMP"])
        return ([lost.joined(separator: ", ")] + notes).joined(separator: "; ")
    }

    private static func verb(_ titles: [String]) -> String {
        titles == ["title"] || titles == ["caption"] ? "is" : "are"
    }
}

extension MetadataBlock {
    /// The statements of a block of this kind.
    fileprivate func statements(_ bytes: [UInt8]) -> Statements {
        switch self {
        case .xmp: Statements(xmp: bytes)
        case .exif: Statements(exif: bytes)
        case .iptc, .photoshop: Statements(iptc: bytes)
        }
    }
}

extension MetadataEdit {
    /// A block after the edit.
    /// - Parameter most: bytes that the format holds of it.
    /// - Returns: nil if nothing of it fits.
    fileprivate func edited(_ bytes: [UInt8], _ block: MetadataBlock, most: Int) -> Edited? {
        let edited: Edited
        switch block {
        case .xmp where changesNothing && bytes.count <= most, .exif where changesNothing && bytes.count <= most,
            .photoshop where changesNothing:
            edited = Edited(bytes: bytes, isWhole: true)
        case .xmp: edited = xmp(bytes, most: most)
        case .exif: edited = exif(bytes, most: most)
        // In a JPEG's segment, whose name is in it.
        case .iptc: edited = Edited(bytes: iptcSegment(changesNothing ? bytes : iptc(bytes)), isWhole: true)
        case .photoshop: edited = Edited(bytes: iptc(bytes), isWhole: true)
        }
        return edited.bytes.count <= most ? edited : nil
    }

    fileprivate func keeps(_ text: PNGText) -> Bool {
        // A block would say how the picture was turned, and what it was like; a thumbnail's marks are another file's.
        if text.isBlock || text.keyword.hasPrefix("Thumb::") || statements.states(pngKeyword: text.keyword) {
            return false
        }
        return !(removesLocation && saysLocation(text.keyword))
    }

    /// Whether a tag of EXIF says what is stated anew.
    fileprivate func replaces(tag: String) -> Bool {
        switch tag {
        case "ImageDescription": statements.caption != nil
        case "Artist": !statements.rights.creator.isEmpty
        case "Copyright": statements.rights.copyright != nil
        default: false
        }
    }
}
