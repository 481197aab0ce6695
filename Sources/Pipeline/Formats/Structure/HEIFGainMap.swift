// The gain map of a HEIC or an AVIF: a picture besides the one that is shown.
// ISO/IEC 23008-12 with ISO 21496-1 (tmap); Apple's auxiliary pictures (auxC, auxl).

/// Finds the map, and makes a file of it that decoders of pictures read: the same one, with another item as its primary.
struct HEIFGainMap {
    let facts: GainMapFacts
    let item: Int
    private let source: ByteSource
    private let meta: Range<Int>
    private let metadata: GainMapMetadata

    /// Bytes of metadata that are read.
    private static let longestMetadata = 60_000

    /// - Returns: nil if the file has none.
    init?(in source: ByteSource) throws(StructureError) {
        let box = try ISOBoxes.first("meta", in: source)
        self.source = source
        meta = try box.fullContent()
        let data = try HEIFItemLocations.ranges(in: source, meta: box)
        func bytes(_ item: Int) -> [UInt8] {
            let ranges = data[item] ?? []
            let count = ranges.reduce(0) { $0 + min($1.count, Self.longestMetadata) }
            guard count <= Self.longestMetadata else { return [] }
            return ranges.flatMap { source.read($0.lowerBound, $0.count) }
        }
        let references = (try? HEIFItemReferences(in: source, meta)) ?? HEIFItemReferences()
        if let mapped = try HEIFItemTypes.items(in: source, meta, of: ["tmap"]).first {
            // It is made of the picture that is shown, and of the map.
            guard let item = references.targets(of: mapped.id, "dimg").last else { return nil }
            self.item = item
            // A version of its own is in front.
            metadata = GainMapMetadata(
                packet: nil, iso: Array(bytes(mapped.id).dropFirst()),
                profile: Self.profile(of: mapped.id, in: source).map { [[1, 1] + $0] } ?? [])
            facts = metadata.described(Self.facts(.iso, item, in: source))
            return
        }
        let candidates = try HEIFItemTypes.items(in: source, meta, of: HEIFItemTypes.pictures).map(\.id)
        let found = candidates.first { id in
            ((try? HEIFItems.properties(of: id, in: source)) ?? []).contains { box in
                box.type == "auxC"
                    && source.read(box.content.lowerBound, min(box.content.count, 200))
                        .firstRange(of: Array("hdrgainmap".utf8)) != nil
            }
        }
        guard let found else { return nil }
        item = found
        let texts = try HEIFItemTypes.items(in: source, meta, of: ["mime"]).map(\.id)
        let packet = texts.lazy.filter { references.targets(of: $0, "cdsc").contains(found) }.map(bytes)
            .first { packet in
                [XMPNamespace.appleGainMap, .gainMap].contains { $0.isNamed(in: packet) }
            }
        let isAdobes = packet.map(XMPNamespace.gainMap.isNamed(in:)) ?? false
        let exif = try HEIFItemTypes.items(in: source, meta, of: ["Exif"]).first.map { bytes($0.id) }
        metadata = GainMapMetadata(
            packet: packet ?? GainMapMetadata.applePacket, iso: nil,
            appleStops: isAdobes ? nil : exif.flatMap(AppleMakerNote.stops))
        facts = metadata.described(Self.facts(isAdobes ? .ultraHDR : .apple, item, in: source))
    }

    /// The ICC profile of an item's colors, if they are stated.
    private static func profile(of item: Int, in source: ByteSource) -> [UInt8]? {
        for box in (try? HEIFItems.properties(of: item, in: source)) ?? [] where box.type == "colr" {
            guard box.content.count <= longestMetadata else { return nil }
            let content = source.read(box.content.lowerBound, box.content.count)
            let kinds: [FourCC] = ["prof", "rICC"]
            if kinds.contains(where: { content.starts(with: $0.bytes) }) {
                return Array(content.dropFirst(4))
            }
        }
        let stated = try? HEIFItems.statedColor(of: item, in: source)
        return stated.flatMap { $0 }.flatMap { ICCProfile($0.color, isGray: false, peak: $0.peak)?.bytes }
    }

    private static func facts(_ kind: GainMapFacts.Kind, _ item: Int, in source: ByteSource) -> GainMapFacts {
        let sides = 1...GainMapFacts.longestSide
        let size = (try? HEIFItems.size(of: item, in: source)).flatMap { width, height in
            // A box may say anything.
            sides.contains(width) && sides.contains(height) ? PixelSize(width, height) : nil
        }
        return GainMapFacts(kind: kind, size: size, offset: 0, bytes: source.count)
    }

    /// The map as the primary item.
    func file(as format: SourceFormat) throws(StructureError) -> GainMapFile? {
        let bytes = try HEIFItems.file(withPrimary: item, in: source)
        return GainMapFile(bytes: bytes, format: format, metadata: metadata)
    }
}
