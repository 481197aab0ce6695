// Other pictures of a HEIF or an AVIF than the one that is shown. ISO/IEC 23008-12 §6.4 (thmb, auxl), §6.5.

extension HEIFItems {
    /// The thumbnails of the primary item that are in its colors and turned as it is.
    static func previews(in source: ByteSource) throws(StructureError) -> [EmbeddedPreview] {
        let meta = try ISOBoxes.first("meta", in: source).fullContent()
        let primary = try primaryItem(in: source)
        let references = (try? HEIFItemReferences(in: source, meta)) ?? HEIFItemReferences()
        func boxes(_ types: [FourCC], of item: Int?) throws(StructureError) -> [[UInt8]] {
            var boxes: [[UInt8]] = []
            for box in try properties(of: item, in: source) where types.contains(box.type) {
                boxes.append(box.type.bytes + source.read(box.content.lowerBound, box.content.count))
            }
            return boxes
        }
        let (turns, colors): ([FourCC], [FourCC]) = (["irot", "imir"], ["colr"])
        let (own, ownColors) = (try boxes(turns, of: nil), try boxes(colors, of: nil))
        let profiles = [FourCC("prof"), "rICC"].map { FourCC("colr").bytes + $0.bytes }
        let hasProfile = ownColors.contains { box in profiles.contains { box.starts(with: $0) } }
        let stated = try statedColor(in: source)
        let isStandard = !hasProfile && stated?.color.isStandard != false
        var previews: [EmbeddedPreview] = []
        for reference in references.all where reference.type == "thmb" && reference.to.contains(primary) {
            guard let found = try? boxes(turns, of: reference.from), found == own,
                let colors = try? boxes(colors, of: reference.from),
                colors == ownColors || colors.isEmpty && isStandard,
                let (width, height) = try? size(of: reference.from, in: source), width > 0, height > 0
            else { continue }
            previews.append(EmbeddedPreview(size: PixelSize(width, height), place: reference.from, bytes: 0))
        }
        return previews
    }

    /// The file with another item as its primary one, which nothing hides and nobody calls auxiliary: decoders give
    /// that.
    static func file(withPrimary item: Int, in source: ByteSource) throws(StructureError) -> [UInt8] {
        let meta = try ISOBoxes.first("meta", in: source).fullContent()
        var bytes = source.read(0, source.count)
        guard bytes.count == source.count else { throw .endsEarly }
        let primary = try ISOBoxes.first("pitm", in: source, meta).content
        let idBytes = source.read(primary.lowerBound, 1) == [0] ? 2 : 4
        guard primary.count >= 4 + idBytes, primary.upperBound <= bytes.count else { throw .malformed }
        for place in 0..<idBytes {
            bytes[primary.lowerBound + 4 + place] = UInt8(truncatingIfNeeded: item >> (8 * (idBytes - 1 - place)))
        }
        for entry in try HEIFItemTypes.items(in: source, meta, of: HEIFItemTypes.pictures) where entry.id == item {
            // The last bit of a full box's flags.
            bytes[entry.place.lowerBound + 3] &= 0xFE
        }
        if let references = try? ISOBoxes.first("iref", in: source, meta) {
            var boxes = ISOBoxes(in: source, try references.fullContent())
            while let box = try boxes.next() {
                guard ["auxl", "thmb"].contains(box.type) else { continue }
                let name = box.content.lowerBound - 4
                if bytes[name..<name + 4].elementsEqual(box.type.bytes) {
                    bytes.replaceSubrange(name..<name + 4, with: FourCC("free").bytes)
                }
            }
        }
        return bytes
    }
}
