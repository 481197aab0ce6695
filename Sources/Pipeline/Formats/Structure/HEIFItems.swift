// The size and the colors of a HEIF's primary item, by the properties that are associated with it.
// ISO/IEC 23008-12 §6.5 (ispe, clap, irot), §9.3 (iprp, ipco, ipma); ISO/IEC 14496-12 §8.11.4 (pitm), §12.1.5 (colr).

/// Reads the boxes of `meta` that this needs.
struct HEIFItems {
    private let source: ByteSource
    private let meta: Range<Int>

    /// - Parameter item: nil for the primary one.
    static func size(
        of item: Int? = nil, in source: ByteSource
    ) throws(StructureError) -> (width: Int, height: Int) {
        var size = (width: 0, height: 0)
        for box in try properties(of: item, in: source) { size = try HEIFProperty(box, in: source).applied(to: size) }
        return size
    }

    /// Whether the primary item is to be turned, mirrored or cropped after decoding.
    static func turnsOrCrops(in source: ByteSource) throws(StructureError) -> Bool {
        try properties(in: source).contains { ["irot", "imir", "clap"].contains($0.type) }
    }

    /// - Parameter item: nil for the primary one.
    static func statedColor(of item: Int? = nil, in source: ByteSource) throws(StructureError) -> StatedColor? {
        var (brightest, screen): (Double?, Double?)
        let boxes = try properties(of: item, in: source)
        let isStated = boxes.contains { $0.type == "colr" }
        var color = isStated ? nil : try AV1Sequence.color(of: item, boxes, in: source)
        for box in boxes {
            var reader = ForwardReader(source, in: box.content)
            switch box.type {
            case "colr":
                guard try reader.fourCC() == "nclx" else { continue }
                let primaries = try reader.integer(bytes: 2)
                color = CodedColor(primaries: primaries, transfer: try reader.integer(bytes: 2))
            case "clli":
                brightest = Double(try reader.integer(bytes: 2))
            case "mdcv":
                try reader.skip(16)
                screen = Double(try reader.integer(bytes: 4)) / 10_000
            default: break
            }
        }
        guard let color else { return nil }
        return StatedColor(
            color, by: isStated ? .nclx : .header, peak: [brightest, screen].compactMap(\.self).first { $0 > 0 })
    }

    /// The properties of an item.
    /// - Parameter item: nil for the primary one.
    static func properties(of item: Int? = nil, in source: ByteSource) throws(StructureError) -> [ISOBox] {
        let items = HEIFItems(source: source, meta: try ISOBoxes.first("meta", in: source).fullContent())
        let container = try ISOBoxes.first("iprp", in: source, items.meta).content
        let properties = try items.properties(in: container)
        let id = if let item { item } else { try items.primaryItem() }
        return try items.propertyIndices(of: id, in: container).compactMap {
            properties.indices.contains($0 - 1) ? properties[$0 - 1] : nil
        }
    }

    /// The picture that decoders give as a page, as libheif counts them: neither hidden, nor a part of another one.
    /// - Parameter page: from 1.
    /// - Returns: nil for the primary one, which the first page is too.
    static func item(ofPage page: Int, in source: ByteSource) throws(StructureError) -> Int? {
        guard page > 1 else { return nil }
        let meta = try ISOBoxes.first("meta", in: source).fullContent()
        let references = (try? HEIFItemReferences(in: source, meta)) ?? HEIFItemReferences()
        let parts = Set(references.all.filter { $0.type == "thmb" || $0.type == "auxl" }.map(\.from))
        let pictures = try HEIFItemTypes.items(in: source, meta, of: HEIFItemTypes.pictures).filter { item in
            !item.isHidden && !parts.contains(item.id)
        }
        guard pictures.indices.contains(page - 1) else { throw .malformed }
        let id = pictures[page - 1].id
        return try id == HEIFItems(source: source, meta: meta).primaryItem() ? nil : id
    }

    static func primaryItem(in source: ByteSource) throws(StructureError) -> Int {
        let meta = try ISOBoxes.first("meta", in: source).fullContent()
        return try HEIFItems(source: source, meta: meta).primaryItem()
    }

    private func primaryItem() throws(StructureError) -> Int {
        var reader = ForwardReader(source, in: try ISOBoxes.first("pitm", in: source, meta).content)
        let version = try reader.byte()
        try reader.skip(3)
        return try reader.integer(bytes: version == 0 ? 2 : 4)
    }

    /// As many as indices of 15 bits can name.
    private func properties(in container: Range<Int>) throws(StructureError) -> [ISOBox] {
        var boxes = ISOBoxes(in: source, try ISOBoxes.first("ipco", in: source, container).content)
        var properties: [ISOBox] = []
        while properties.count < 0x7FFF, let box = try boxes.next() { properties.append(box) }
        return properties
    }

    /// Counted from 1; 0 is none. In the order in which they apply.
    private func propertyIndices(of item: Int, in container: Range<Int>) throws(StructureError) -> [Int] {
        var boxes = ISOBoxes(in: source, container)
        while let box = try boxes.next() {
            guard box.type == "ipma" else { continue }
            if let indices = try propertyIndices(of: item, in: box) { return indices }
        }
        throw .malformed
    }

    /// The top bit of each index says that the property is essential.
    private func propertyIndices(of item: Int, in box: ISOBox) throws(StructureError) -> [Int]? {
        var reader = ForwardReader(source, in: box.content)
        let version = try reader.byte()
        let hasLongIndices = try reader.integer(bytes: 3) & 1 == 1
        for _ in 0..<(try reader.integer(bytes: 4)) {
            let isWanted = try reader.integer(bytes: version == 0 ? 2 : 4) == item
            var indices: [Int] = []
            for _ in 0..<(try reader.byte()) {
                indices.append(try reader.integer(bytes: hasLongIndices ? 2 : 1) & (hasLongIndices ? 0x7FFF : 0x7F))
            }
            if isWanted { return indices }
        }
        return nil
    }
}

/// The effect of a property on the size of an item.
private enum HEIFProperty {
    case extent(width: Int, height: Int)
    case crop(width: Int, height: Int)
    case quarterTurns(Int)
    case other

    init(_ box: ISOBox, in source: ByteSource) throws(StructureError) {
        var reader = ForwardReader(source, in: box.content)
        switch box.type {
        case "ispe":
            try reader.skip(4)
            self = .extent(width: try reader.integer(bytes: 4), height: try reader.integer(bytes: 4))
        case "clap":
            self = .crop(width: try reader.roundedFraction(), height: try reader.roundedFraction())
        case "irot":
            self = .quarterTurns(Int(try reader.byte()) & 3)
        default:
            self = .other
        }
    }

    func applied(to size: (width: Int, height: Int)) -> (width: Int, height: Int) {
        switch self {
        case .extent(let width, let height): (width, height)
        case .crop(let width, let height): (min(width, size.width), min(height, size.height))
        case .quarterTurns(let turns): turns % 2 == 0 ? size : (size.height, size.width)
        case .other: size
        }
    }
}

extension ForwardReader {
    /// A numerator and a denominator, as the nearest whole number.
    fileprivate mutating func roundedFraction() throws(StructureError) -> Int {
        let numerator = try integer(bytes: 4)
        let denominator = try integer(bytes: 4)
        guard denominator > 0 else { throw .malformed }
        return (numerator + denominator / 2) / denominator
    }
}
