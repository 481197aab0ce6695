// The chunks of a PNG: length, type, data, checksum, which is left to the decoder.
// https://www.w3.org/TR/png-3/#5DataRep

/// The chunks of a PNG in their order.
struct PNGChunks: FileStructure {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let checksumBytes = 4

    private var reader: ForwardReader

    init(of source: ByteSource) throws(StructureError) {
        reader = ForwardReader(source)
        try reader.expect(Self.signature)
    }

    static func size(in source: ByteSource) throws(StructureError) -> (width: Int, height: Int) {
        var chunks = try PNGChunks(of: source)
        let (type, length) = try chunks.next()
        guard type == "IHDR", length == 13 else { throw .malformed }
        let width = try chunks.reader.integer(bytes: 4)
        return (width, try chunks.reader.integer(bytes: 4))
    }

    static func codedPicture(in source: ByteSource) throws(StructureError) -> CodedPicture? {
        let (width, height) = try size(in: source)
        var picture = CodedPicture(PixelSize(width, height))
        var chunks = try PNGChunks(of: source)
        _ = try chunks.next()
        try chunks.reader.skip(8)
        let (bits, colorType) = (try chunks.reader.byte(), try chunks.reader.byte())
        picture.depth = bits > 8 ? .sixteen : .eight
        let (palette, transparency) = (UInt8(3), try self.chunks(from: "tRNS", in: source))
        picture.isExpanded = bits < 8 || colorType == palette || transparency != nil
        return picture
    }

    /// The animation control chunk counts the frames.
    static func hasHiddenFrames(_ source: ByteSource) throws(StructureError) -> Bool {
        guard var chunks = try chunks(from: "acTL", in: source) else { return false }
        return try chunks.reader.integer(bytes: 4) > 1
    }

    static func hasProfile(_ source: ByteSource) throws(StructureError) -> Bool {
        try chunks(from: "iCCP", in: source) != nil
    }

    /// `cICP` counts most; `sRGB` and a profile more than `gAMA` and `cHRM`, which are there for older readers.
    static func statedColor(of page: Int, in source: ByteSource) throws(StructureError) -> StatedColor? {
        var chunks = try PNGChunks(of: source)
        var color = PNGColor()
        while true {
            let (type, length) = try chunks.next()
            if type == "IDAT" || type == "IEND" { return color.stated }
            let end = chunks.reader.position + length + checksumBytes
            try color.read(type, length, from: &chunks.reader)
            try chunks.reader.skip(end - chunks.reader.position)
        }
    }

    /// Reads texts and EXIF from all chunks, as far as the file goes.
    static func pngFacts(in source: ByteSource) throws(StructureError) -> PNGFacts {
        var chunks = try PNGChunks(of: source)
        var (found, bytes) = (PNGFacts(), 0)
        while found.texts.count < mostTexts, let (type, length) = try? chunks.next(), type != "IEND" {
            let isWanted = ["tEXt", "zTXt", "iTXt", "eXIf"].contains(type)
            // All short ones, which may state something, and some of the very long ones.
            guard isWanted, length <= longestStatement || bytes + length <= mostTextBytes else {
                guard (try? chunks.reader.skip(length + checksumBytes)) != nil else { break }
                continue
            }
            if length > longestStatement { bytes += length }
            var data: [UInt8] = []
            while data.count < length, let byte = try? chunks.reader.byte() { data.append(byte) }
            guard data.count == length, (try? chunks.reader.skip(checksumBytes)) != nil else { break }
            if type == "eXIf" {
                found.exif = data
            } else if let text = PNGText(type: String(decoding: type.bytes, as: UTF8.self), data: data) {
                found.texts.append(text)
            }
        }
        return found
    }

    private static let longestStatement = 4 * Rights.longestValue
    private static let (mostTexts, mostTextBytes) = (1000, 4 << 20)

    /// The chunks from one before the pixels on, with the reader at its data; nil if there is none of that type.
    private static func chunks(from wanted: FourCC, in source: ByteSource) throws(StructureError) -> PNGChunks? {
        var chunks = try PNGChunks(of: source)
        while true {
            let (type, length) = try chunks.next()
            if type == wanted { return chunks }
            if type == "IDAT" || type == "IEND" { return nil }
            try chunks.reader.skip(length + checksumBytes)
        }
    }

    static func hasPixelsOnly(_ source: ByteSource) throws(StructureError) -> Bool {
        var chunks = try PNGChunks(of: source)
        let needed: Set<FourCC> = ["IHDR", "PLTE", "IDAT", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "pHYs"]
        while true {
            let (type, length) = try chunks.next()
            try chunks.reader.skip(length + checksumBytes)
            if type == "IEND" { return length == 0 && chunks.reader.remaining == 0 }
            guard needed.contains(type) else { return false }
        }
    }

    static func walk(_ source: ByteSource) throws(StructureError) {
        var chunks = try PNGChunks(of: source)
        var isEnd = false
        while !isEnd {
            let (type, length) = try chunks.next()
            try chunks.reader.skip(length + checksumBytes)
            isEnd = type == "IEND"
        }
    }

    /// The type and the length of the next chunk; the reader is then at its data.
    private mutating func next() throws(StructureError) -> (type: FourCC, length: Int) {
        let length = try reader.integer(bytes: 4)
        let type = try reader.fourCC()
        guard type.isLetters else { throw .malformed }
        return (type, length)
    }
}
