// The pictures in a file, as the codec's headers describe them. Decoders allocate by these, whatever the boxes say.

/// The most that a decoder of HEIC, AVIF, WebP, PNG or JPEG must hold at one time.
package struct CodedPicture: Hashable, Sendable, Codable {
    package var size: PixelSize
    /// The depth of its samples, which take two bytes from nine bits on.
    package var depth = BitDepth.eight
    /// Colour is stored at the full resolution of brightness (4:4:4). A WebP without losses stores RGB.
    package var hasFullChroma = false
    /// libpng changes the pixels of a PNG while it reads them: they are indices of a palette, parts of a byte, or get
    /// their alpha channel from one color.
    package var isExpanded = false

    package init(_ size: PixelSize) { self.size = size }
}

extension HEIFStructure {
    /// The largest picture of which the codec's headers speak, by its pixels, with the finest samples of all of them.
    /// Nil if there is none that can be read.
    static func codedPicture(in source: ByteSource) throws(StructureError) -> CodedPicture? {
        let meta = try ISOBoxes.first("meta", in: source)
        let content = try meta.fullContent()
        var found = try configured(in: source, content)
        let ranges = try HEIFItemLocations.ranges(in: source, meta: meta)
        for item in try HEIFItemTypes.items(in: source, content, of: ["av01", "hvc1", "hev1"]) {
            for range in ranges[item.id] ?? [] {
                // Data that is cut off or damaged is not decoded; what was read before it counts.
                if item.type == "av01" {
                    try? AV1Sequence.walk(range, of: source, adding: &found)
                } else {
                    try? HEVCSequence.walk(range, of: source, adding: &found)
                }
            }
        }
        guard let size = found.sizes.max(by: { $0.area < $1.area }) else { return nil }
        var picture = CodedPicture(size)
        (picture.depth, picture.hasFullChroma) = (found.depth, found.hasFullChroma)
        return picture
    }

    /// The pictures that the properties of all items describe.
    private static func configured(in source: ByteSource, _ meta: Range<Int>) throws(StructureError) -> CodedPictures {
        let container = try ISOBoxes.first("iprp", in: source, meta).content
        var boxes = ISOBoxes(in: source, try ISOBoxes.first("ipco", in: source, container).content)
        var found = CodedPictures()
        while found.unitsLeft > 0, let box = try boxes.next() {
            found.unitsLeft -= 1
            if box.type == "av1C" { try? AV1Sequence.walk(configuration: box.content, of: source, adding: &found) }
            if box.type == "hvcC" { try? HEVCSequence.walk(configuration: box.content, of: source, adding: &found) }
        }
        return found
    }
}

/// The pictures found so far, and how much more is looked at.
private struct CodedPictures {
    var sizes: [PixelSize] = []
    var depth = BitDepth.eight
    var hasFullChroma = false
    var color: CodedColor?
    /// Parts of coded pictures. A grid of pictures has some three for each.
    var unitsLeft = 200_000

    mutating func beginUnit() throws(StructureError) {
        unitsLeft -= 1
        guard unitsLeft > 0 else { throw .malformed }
    }
}

/// The types of items: the box `iinf`. ISO/IEC 14496-12 §8.11.6.
enum HEIFItemTypes {
    /// Those of pictures.
    static let pictures: [FourCC] = ["av01", "hvc1", "hev1", "grid", "iovl", "iden"]

    static func items(
        in source: ByteSource, _ meta: Range<Int>, of types: [FourCC]
    ) throws(StructureError) -> [(id: Int, type: FourCC, place: Range<Int>, isHidden: Bool)] {
        let box = try ISOBoxes.first("iinf", in: source, meta)
        var head = ForwardReader(source, in: box.content)
        let countBytes = try head.byte() == 0 ? 2 : 4
        var entries = ISOBoxes(in: source, box.content.dropFirst(4 + countBytes))
        var items: [(Int, FourCC, Range<Int>, Bool)] = []
        while let entry = try entries.next() {
            var reader = ForwardReader(source, in: entry.content)
            let version = try reader.byte()
            guard entry.type == "infe", version >= 2 else { continue }
            let isHidden = try reader.integer(bytes: 3) & 1 == 1
            let id = try reader.integer(bytes: version == 2 ? 2 : 4)
            try reader.skip(2)
            let type = try reader.fourCC()
            if types.contains(type) { items.append((id, type, entry.content, isHidden)) }
        }
        return items
    }
}

/// Sequence headers of AV1: bitstream specification §5.3 and §5.5; in `av1C`, AV1-ISOBMFF §2.3.
enum AV1Sequence {
    private static let sequenceHeader: UInt8 = 1

    /// The colors that the header of an item's pictures states.
    /// - Parameters:
    ///   - item: nil for the primary one.
    ///   - properties: its own.
    static func color(
        of item: Int?, _ properties: [ISOBox], in source: ByteSource
    ) throws(StructureError) -> CodedColor? {
        guard let box = properties.first(where: { $0.type == "av1C" }) else { return nil }
        var found = CodedPictures()
        try? walk(configuration: box.content, of: source, adding: &found)
        if found.color != nil { return found.color }
        // The configuration may leave the header to the data.
        let meta = try ISOBoxes.first("meta", in: source)
        let id = if let item { item } else { try HEIFItems.primaryItem(in: source) }
        for range in try HEIFItemLocations.ranges(in: source, meta: meta)[id] ?? [] where found.color == nil {
            try? walk(range, of: source, adding: &found)
        }
        return found.color
    }

    fileprivate static func walk(
        configuration: Range<Int>, of source: ByteSource, adding found: inout CodedPictures
    ) throws(StructureError) {
        var bits = BitReader(source, configuration)
        try bits.skip(8 + 8 + 1)
        if try bits.flag() { found.depth = .sixteen }
        try bits.skip(1)
        let (isMonochrome, halvesWidth) = (try bits.flag(), try bits.flag())
        if !isMonochrome && !halvesWidth { found.hasFullChroma = true }
        try walk(configuration.dropFirst(4), of: source, adding: &found)
    }

    fileprivate static func walk(
        _ range: Range<Int>, of source: ByteSource, adding found: inout CodedPictures
    ) throws(StructureError) {
        var reader = ForwardReader(source, in: range)
        while reader.remaining > 0 {
            try found.beginUnit()
            let header = try reader.byte()
            let (type, hasExtension, hasSize) = (header >> 3 & 0xF, header & 4 != 0, header & 2 != 0)
            if hasExtension { try reader.skip(1) }
            let length = hasSize ? try reader.leb128() : reader.remaining
            let start = reader.position
            if type == sequenceHeader {
                var bits = BitReader(source, start..<start + min(length, reader.remaining))
                let profile = try bits.number(3)
                let isStill = try beginHeader(&bits)
                found.sizes.append(try size(&bits))
                found.color = found.color ?? (try? color(&bits, profile: profile, isStill: isStill)) ?? nil
            }
            try reader.skip(length)
        }
    }

    /// - Returns: whether the header is the short one of a still.
    private static func beginHeader(_ bits: inout BitReader) throws(StructureError) -> Bool {
        try bits.skip(1)
        let isStill = try bits.flag()
        if isStill {
            try bits.skip(5)
        } else {
            try skipOperatingPoints(&bits)
        }
        return isStill
    }

    /// The code points after the size, and after what tools the encoder had.
    private static func color(
        _ bits: inout BitReader, profile: Int, isStill: Bool
    ) throws(StructureError) -> CodedColor? {
        if !isStill, try bits.flag() { try bits.skip(4 + 3) }
        try bits.skip(3)
        if !isStill {
            try bits.skip(4)
            let hasOrder = try bits.flag()
            if hasOrder { try bits.skip(2) }
            let isScreen = try bits.flag() ? true : try bits.flag()
            if isScreen, try !bits.flag() { try bits.skip(1) }
            if hasOrder { try bits.skip(3) }
        }
        try bits.skip(3)
        let isDeep = try bits.flag()
        if profile == 2, isDeep { try bits.skip(1) }
        if profile != 1 { try bits.skip(1) }
        guard try bits.flag() else { return nil }
        return CodedColor(primaries: try bits.number(8), transfer: try bits.number(8))
    }

    private static func size(_ bits: inout BitReader) throws(StructureError) -> PixelSize {
        let (widthBits, heightBits) = (try bits.number(4) + 1, try bits.number(4) + 1)
        return PixelSize(try bits.number(widthBits) + 1, try bits.number(heightBits) + 1)
    }

    private static func skipOperatingPoints(_ bits: inout BitReader) throws(StructureError) {
        var delayBits: Int?
        if try bits.flag() {
            try bits.skip(64)
            if try bits.flag() { _ = try bits.golomb() }
            if try bits.flag() {
                delayBits = try bits.number(5) + 1
                try bits.skip(42)
            }
        }
        let hasDelays = try bits.flag()
        for _ in 0...(try bits.number(5)) {
            try bits.skip(12)
            if try bits.number(5) > 7 { try bits.skip(1) }
            if let delayBits, try bits.flag() { try bits.skip(2 * delayBits + 1) }
            if hasDelays, try bits.flag() { try bits.skip(4) }
        }
    }
}

/// Sequence parameter sets of HEVC: ITU-T H.265 §7.3.1 and §7.3.2.2; in `hvcC`, ISO/IEC 14496-15 §8.3.3.
private enum HEVCSequence {
    private static let parameterSet: UInt8 = 33
    /// Bytes of a configuration before its arrays, and before what it says of samples.
    private static let configurationHead = 22
    private static let samplesOffset = 16

    static func walk(
        configuration: Range<Int>, of source: ByteSource, adding found: inout CodedPictures
    ) throws(StructureError) {
        var reader = ForwardReader(source, in: configuration)
        try reader.skip(samplesOffset)
        let fullChroma = 3
        if Int(try reader.byte()) & 3 == fullChroma { found.hasFullChroma = true }
        // The bits of brightness and of colour beyond eight.
        if (try reader.integer(bytes: 2)) & 0x0707 != 0 { found.depth = .sixteen }
        try reader.skip(configurationHead - samplesOffset - 3)
        for _ in 0..<(try reader.byte()) {
            try reader.skip(1)
            for _ in 0..<(try reader.integer(bytes: 2)) {
                try unit(&reader, of: source, lengthBytes: 2, adding: &found)
            }
        }
    }

    static func walk(_ range: Range<Int>, of source: ByteSource, adding found: inout CodedPictures)
        throws(StructureError)
    {
        var reader = ForwardReader(source, in: range)
        while reader.remaining > 0 { try unit(&reader, of: source, lengthBytes: 4, adding: &found) }
    }

    private static func unit(
        _ reader: inout ForwardReader, of source: ByteSource, lengthBytes: Int, adding found: inout CodedPictures
    ) throws(StructureError) {
        try found.beginUnit()
        let length = try reader.integer(bytes: lengthBytes)
        let start = reader.position
        if length > 2, try reader.byte() >> 1 & 0x3F == parameterSet {
            found.sizes.append(
                try size(in: BitReader(source, start + 2..<start + min(length, reader.remaining + 1), isEscaped: true)))
        }
        try reader.skip(length - (reader.position - start))
    }

    private static func size(in bits: BitReader) throws(StructureError) -> PixelSize {
        var bits = bits
        try bits.skip(4)
        let subLayers = try bits.number(3)
        try bits.skip(1 + 96)
        let present = try (0..<subLayers).map { _ throws(StructureError) in
            (profile: try bits.flag(), level: try bits.flag())
        }
        if subLayers > 0 { try bits.skip(2 * (8 - subLayers)) }
        for (profile, level) in present { try bits.skip((profile ? 88 : 0) + (level ? 8 : 0)) }
        _ = try bits.golomb()
        let separatePlanes = 3
        if try bits.golomb() == separatePlanes { try bits.skip(1) }
        return PixelSize(min(maximumCoordinate, try bits.golomb()), min(maximumCoordinate, try bits.golomb()))
    }
}
