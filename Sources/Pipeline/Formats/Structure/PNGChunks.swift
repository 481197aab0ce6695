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

    /// The animation control chunk counts the frames.
    static func hasHiddenFrames(_ source: ByteSource) throws(StructureError) -> Bool {
        guard var chunks = try chunks(from: "acTL", in: source) else { return false }
        return try chunks.reader.integer(bytes: 4) > 1
    }

    static func hasProfile(_ source: ByteSource) throws(StructureError) -> Bool {
        try chunks(from: "iCCP", in: source) != nil
    }

    /// What the texts before the pixels state, as far as they are not compressed. https://www.w3.org/TR/png-3/#11textinfo
    static func statements(of page: Int, in source: ByteSource) throws(StructureError) -> Statements {
        var chunks = try PNGChunks(of: source)
        var texts: [(keyword: String, text: String)] = []
        while true {
            let (type, length) = try chunks.next()
            if type == "IDAT" || type == "IEND" { return Statements(pngTexts: texts) }
            guard type == "tEXt" || type == "iTXt", length <= longestText, texts.count < mostTexts else {
                try chunks.reader.skip(length + checksumBytes)
                continue
            }
            var data: [UInt8] = []
            for _ in 0..<length { data.append(try chunks.reader.byte()) }
            try chunks.reader.skip(checksumBytes)
            guard let end = data.firstIndex(of: 0) else { continue }
            let keyword = String(decoding: data[..<end], as: UTF8.self)
            let rest = data[(end + 1)...]
            if type == "tEXt" {
                texts.append((keyword, String(utf8OrLatin1: rest)))
            } else if rest.first == 0 {
                // Whether it is compressed and how, a language, and the keyword in it.
                let parts = rest.dropFirst(2).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
                if parts.count == 3 { texts.append((keyword, String(decoding: parts[2], as: UTF8.self))) }
            }
        }
    }

    private static let longestText = 4 * Rights.longestValue + 256
    private static let mostTexts = 100

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
