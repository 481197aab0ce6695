// The gain map of a HEIC or an AVIF: a picture besides the one that is shown.
// ISO/IEC 23008-12 with ISO 21496-1 (tmap); Apple's auxiliary pictures (auxC, auxl).

/// Finds the map, and makes a file of it that decoders of pictures read: the same one, with another item as its primary.
struct HEIFGainMap {
    let facts: GainMapFacts
    let item: Int
    private let source: ByteSource
    private let meta: Range<Int>
    private let metadata: GainMapMetadata

    private static let pictures: [FourCC] = ["av01", "hvc1", "hev1", "grid"]
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
            metadata = GainMapMetadata(packet: nil, iso: Array(bytes(mapped.id).dropFirst()))
            facts = Self.facts(.iso, item, in: source)
            return
        }
        let candidates = try HEIFItemTypes.items(in: source, meta, of: Self.pictures).map(\.id)
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
                [XMPNamespace.appleGainMap, .gainMap].contains {
                    packet.firstRange(of: Array($0.rawValue.utf8)) != nil
                }
            }.flatMap(xmpOfMap)
        metadata = GainMapMetadata(packet: packet, iso: nil)
        var facts = Self.facts(metadata.hasAdobePacket ? .ultraHDR : .apple, item, in: source)
        facts.needsMakerNote =
            facts.kind == .apple && packet?.firstRange(of: Array("Headroom".utf8)) == nil
        self.facts = facts
    }

    private static func facts(_ kind: GainMapFacts.Kind, _ item: Int, in source: ByteSource) -> GainMapFacts {
        let sides = 1...GainMapFacts.longestSide
        let size = (try? HEIFItems.size(of: item, in: source)).flatMap { width, height in
            // A box may say anything.
            sides.contains(width) && sides.contains(height) ? PixelSize(width, height) : nil
        }
        return GainMapFacts(kind: kind, size: size, offset: 0, bytes: source.count)
    }

    /// The file with the map as its primary item, which nothing hides and nobody calls auxiliary.
    func file(as format: SourceFormat) throws(StructureError) -> GainMapFile? {
        var bytes = source.read(0, source.count)
        guard bytes.count == source.count else { return nil }
        let primary = try ISOBoxes.first("pitm", in: source, meta).content
        let idBytes = source.read(primary.lowerBound, 1) == [0] ? 2 : 4
        guard primary.count >= 4 + idBytes, primary.upperBound <= bytes.count else { return nil }
        for place in 0..<idBytes {
            bytes[primary.lowerBound + 4 + place] = UInt8(truncatingIfNeeded: item >> (8 * (idBytes - 1 - place)))
        }
        for entry in try HEIFItemTypes.items(in: source, meta, of: Self.pictures) where entry.id == item {
            // The last bit of a full box's flags.
            bytes[entry.place.lowerBound + 3] &= 0xFE
        }
        if let references = try? ISOBoxes.first("iref", in: source, meta) {
            var boxes = ISOBoxes(in: source, try references.fullContent())
            while let box = try boxes.next() {
                guard box.type == "auxl" else { continue }
                let name = box.content.lowerBound - 4
                if bytes[name..<name + 4].elementsEqual(FourCC("auxl").bytes) {
                    bytes.replaceSubrange(name..<name + 4, with: FourCC("free").bytes)
                }
            }
        }
        return GainMapFile(bytes: bytes, format: format, metadata: metadata)
    }
}

/// The references of items to others: the box `iref`. ISO/IEC 14496-12 §8.11.12.
struct HEIFItemReferences {
    private var all: [(from: Int, type: FourCC, to: [Int])] = []

    init() {}

    init(in source: ByteSource, _ meta: Range<Int>) throws(StructureError) {
        let container = try ISOBoxes.first("iref", in: source, meta)
        var head = ForwardReader(source, in: container.content)
        let idBytes = try head.byte() == 0 ? 2 : 4
        var boxes = ISOBoxes(in: source, try container.fullContent())
        while all.count < 10_000, let box = try boxes.next() {
            var reader = ForwardReader(source, in: box.content)
            let from = try reader.integer(bytes: idBytes)
            var to: [Int] = []
            for _ in 0..<(try reader.integer(bytes: 2)) { to.append(try reader.integer(bytes: idBytes)) }
            all.append((from, box.type, to))
        }
    }

    func targets(of item: Int, _ type: FourCC) -> [Int] {
        all.filter { $0.from == item && $0.type == type }.flatMap(\.to)
    }
}
