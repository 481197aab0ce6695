// Other pictures of a HEIF or an AVIF than the one that is shown. ISO/IEC 23008-12 §6.4 (thmb, auxl), §6.5.

extension HEIFItems {
    /// The thumbnails of the primary item that are in its colors and turned as it is. None if it is cropped.
    static func previews(in source: ByteSource) throws(StructureError) -> [EmbeddedPreview] {
        let meta = try ISOBoxes.first("meta", in: source).fullContent()
        let primary = try primaryItem(in: source)
        let pictures = Set(try HEIFItemTypes.items(in: source, meta, of: HEIFItemTypes.pictures).map(\.id))
        let thumbnails = try HEIFItemReferences(in: source, meta).all.filter {
            $0.type == "thmb" && $0.to.contains(primary) && pictures.contains($0.from)
        }
        guard !thumbnails.isEmpty, let own = try boxesOfLook(nil, in: source) else { return [] }
        let stated = try statedColor(in: source)
        let profiles = [FourCC("prof"), "rICC"].map { FourCC("colr").bytes + $0.bytes }
        let hasProfile = own.colors.contains { box in profiles.contains { box.starts(with: $0) } }
        let isStandard = !hasProfile && stated?.color.isStandard != false
        return thumbnails.prefix(EmbeddedPreview.most).map(\.from).compactMap { item in
            guard let found = try? boxesOfLook(item, in: source), found.turns == own.turns,
                found.colors == own.colors || found.colors.isEmpty && isStandard,
                let (width, height) = try? size(of: item, in: source)
            else { return nil }
            return EmbeddedPreview(size: PixelSize(width, height), place: .item(item))
        }
    }

    /// The properties that change how an item looks.
    /// - Returns: nil if it is cropped, or its color profile is larger than any in use.
    private static func boxesOfLook(
        _ item: Int?, in source: ByteSource
    ) throws(StructureError) -> (turns: [[UInt8]], colors: [[UInt8]])? {
        var (turns, colors): ([[UInt8]], [[UInt8]]) = ([], [])
        for box in try properties(of: item, in: source) {
            guard box.type != "clap" else { return nil }
            guard ["colr", "irot", "imir"].contains(box.type) else { continue }
            guard box.content.count <= 1 << 20, turns.count + colors.count < 8 else { return nil }
            let bytes = box.type.bytes + source.read(box.content.lowerBound, box.content.count)
            if box.type == "colr" { colors.append(bytes) } else { turns.append(bytes) }
        }
        return (turns, colors)
    }

    /// A copy of the file whose primary item is another one, neither hidden nor auxiliary, so that decoders give it.
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
