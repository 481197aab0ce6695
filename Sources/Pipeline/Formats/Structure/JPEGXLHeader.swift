// The header of a JPEG XL codestream, bare or in a container of boxes. ISO/IEC 18181-1 annex A, 18181-2.

enum JPEGXLHeader: FileStructure {
    static func size(in source: ByteSource) throws(StructureError) -> (width: Int, height: Int) {
        var bits = try header(in: source)
        return try size(&bits)
    }

    static func hasHiddenFrames(_ source: ByteSource) throws(StructureError) -> Bool {
        var bits = try header(in: source)
        _ = try size(&bits)
        let isUsual = try bits.number(1) == 1
        if isUsual { return false }
        let hasMore = try bits.number(1) == 1
        guard hasMore else { return false }
        _ = try bits.number(orientationBits)
        if try bits.number(1) == 1 { _ = try size(&bits) }
        let hasPreview = try bits.number(1) == 1
        // No encoder is known to write one, and nothing of it is drawn.
        guard !hasPreview else { return false }
        return try bits.number(1) == 1
    }

    /// EXIF and XMP are boxes, which libvips does not read.
    static func unreadMetadata(of page: Int, in source: ByteSource) throws(StructureError) -> String? {
        if source.read(0, 2) == mark { return nil }
        var boxes = ISOBoxes(in: source)
        var (hasEXIF, hasXMP) = (false, false)
        while let box = try boxes.next() {
            var content = ForwardReader(source, in: box.content)
            // Packed by Brotli, with the type of what is in it.
            let type = box.type == "brob" ? try content.fourCC() : box.type
            if type == "Exif" { hasEXIF = true }
            if type == "xml " { hasXMP = true }
        }
        let found = (hasEXIF ? ["EXIF"] : []) + (hasXMP ? ["XMP"] : [])
        return found.isEmpty ? nil : found.joined(separator: " and ")
    }

    private static let mark: [UInt8] = [0xFF, 0x0A]
    private static let orientationBits = 3
    /// Bytes of the longest header as far as it is read here: two sizes of two sides of 30 bits each, with their
    /// selectors, and a few bits.
    private static let longestHeader = 20
    private static let ratios = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]

    /// The offset of the codestream, or of its first part.
    private static func codestream(in source: ByteSource) throws(StructureError) -> Int {
        if source.read(0, 2) == mark { return 0 }
        var boxes = ISOBoxes(in: source)
        guard let first = try boxes.next(), first.type == "JXL " else { throw .malformed }
        while let box = try boxes.next() {
            if box.type == "jxlc" { return box.content.lowerBound }
            // The number of the part comes before it.
            if box.type == "jxlp" { return box.content.lowerBound + 4 }
        }
        throw .endsEarly
    }

    /// The bits after the mark.
    private static func header(in source: ByteSource) throws(StructureError) -> LowBits {
        let bytes = source.read(try codestream(in: source), mark.count + longestHeader)
        guard bytes.starts(with: mark) else { throw .malformed }
        return LowBits(bytes: Array(bytes.dropFirst(mark.count)))
    }

    private static func size(_ bits: inout LowBits) throws(StructureError) -> (width: Int, height: Int) {
        let isSmall = try bits.number(1) == 1
        let height = try side(&bits, isSmall)
        let ratio = try bits.number(3)
        if ratio == 0 { return (try side(&bits, isSmall), height) }
        let (numerator, denominator) = ratios[ratio - 1]
        return (height * numerator / denominator, height)
    }

    private static func side(_ bits: inout LowBits, _ isSmall: Bool) throws(StructureError) -> Int {
        if isSmall { return 8 * (1 + (try bits.number(5))) }
        return 1 + (try bits.number([9, 13, 18, 30][try bits.number(2)]))
    }
}

/// Numbers of single bits. The lowest bit of a byte comes first.
private struct LowBits {
    let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func number(_ count: Int) throws(StructureError) -> Int {
        guard position + count <= 8 * bytes.count else { throw .endsEarly }
        var number = 0
        for place in 0..<count {
            number |= Int(bytes[position / 8] >> (position % 8) & 1) << place
            position += 1
        }
        return number
    }
}
