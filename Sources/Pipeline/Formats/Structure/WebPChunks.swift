// The chunks of a WebP: type, length, data, and a byte to make it even. The whole is one RIFF chunk.
// https://developers.google.com/speed/webp/docs/riff_container

/// The chunks inside a WebP's RIFF in their order.
struct WebPChunks: FileStructure {
    private var reader: ForwardReader

    /// The end of the RIFF, as an offset in the file.
    private let end: Int

    /// The RIFF may end before the file does, but not after it.
    init(of source: ByteSource) throws(StructureError) {
        reader = ForwardReader(source)
        try reader.expect(Array("RIFF".utf8))
        let length = try reader.integer(bytes: 4, .little)
        try reader.expect(Array("WEBP".utf8))
        end = max(reader.position, 8 + length)
        reader = ForwardReader(source, in: reader.position..<end)
    }

    /// Less than the header of a chunk is left over by some writers.
    private var hasMore: Bool { reader.remaining >= 8 }

    static func size(in source: ByteSource) throws(StructureError) -> (width: Int, height: Int) {
        var chunks = try WebPChunks(of: source)
        let (type, _) = try chunks.next()
        switch type {
        case "VP8X": return try chunks.canvasSize()
        case "VP8 ": return try chunks.lossySize()
        case "VP8L": return try chunks.losslessSize()
        default: throw .malformed
        }
    }

    static func walk(_ source: ByteSource) throws(StructureError) {
        var chunks = try WebPChunks(of: source)
        guard chunks.end <= source.count, chunks.hasMore else { throw .endsEarly }
        while chunks.hasMore {
            let (_, length) = try chunks.next()
            try chunks.reader.skip(length)
            try chunks.reader.skip(min(length % 2, chunks.reader.remaining))
        }
    }

    /// The coded picture of a still; nil for an animation.
    static func codedPicture(in source: ByteSource) throws(StructureError) -> CodedPicture? {
        let (width, height) = try size(in: source)
        var picture = CodedPicture(PixelSize(width, height))
        var chunks = try WebPChunks(of: source)
        while chunks.hasMore {
            let (type, length) = try chunks.next()
            switch type {
            case "VP8 ": return picture
            case "VP8L":
                picture.hasFullChroma = true
                return picture
            case "ANMF": return nil
            default: try chunks.reader.skip(length + length % 2)
            }
        }
        return nil
    }

    static func hasPixelsOnly(_ source: ByteSource) throws(StructureError) -> Bool {
        var chunks = try WebPChunks(of: source)
        let needed: Set<FourCC> = ["VP8X", "VP8 ", "VP8L", "ALPH", "ICCP", "ANIM", "ANMF"]
        while chunks.hasMore {
            let (type, length) = try chunks.next()
            guard needed.contains(type) else { return false }
            if type == "ANMF" {
                // A broken file can say that a frame ends within its own header of 16 bytes.
                guard length >= 16 else { return false }
                let frame = chunks.reader.position + 16..<chunks.reader.position + length
                guard try hasPixelsOnly(source, frame) else { return false }
            }
            try chunks.reader.skip(length)
            try chunks.reader.skip(min(length % 2, chunks.reader.remaining))
        }
        return chunks.end == source.count
    }

    /// The same of the chunks of a frame.
    private static func hasPixelsOnly(_ source: ByteSource, _ frame: Range<Int>) throws(StructureError) -> Bool {
        var reader = ForwardReader(source, in: frame)
        while reader.remaining >= 8 {
            guard ["ALPH", "VP8 ", "VP8L"].contains(try reader.fourCC()) else { return false }
            let length = try reader.integer(bytes: 4, .little)
            try reader.skip(length)
            try reader.skip(min(length % 2, reader.remaining))
        }
        return reader.remaining == 0
    }

    /// The type and the length of the next chunk; the reader is then at its data.
    private mutating func next() throws(StructureError) -> (type: FourCC, length: Int) {
        let type = try reader.fourCC()
        return (type, try reader.integer(bytes: 4, .little))
    }

    /// Flags, then width and height less 1, three bytes each.
    private mutating func canvasSize() throws(StructureError) -> (width: Int, height: Int) {
        try reader.skip(4)
        let width = try reader.integer(bytes: 3, .little) + 1
        return (width, try reader.integer(bytes: 3, .little) + 1)
    }

    /// A frame tag, whose lowest bit is 0 in key frames; a start code; two times 14 bits with 2 bits of scaling above.
    /// RFC 6386 §9.1.
    private mutating func lossySize() throws(StructureError) -> (width: Int, height: Int) {
        guard try reader.integer(bytes: 3, .little) & 1 == 0 else { throw .malformed }
        try reader.expect([0x9D, 0x01, 0x2A])
        let width = try reader.integer(bytes: 2, .little) & 0x3FFF
        return (width, try reader.integer(bytes: 2, .little) & 0x3FFF)
    }

    /// A signature, then width and height less 1, 14 bits each.
    private mutating func losslessSize() throws(StructureError) -> (width: Int, height: Int) {
        try reader.expect([0x2F])
        let bits = try reader.integer(bytes: 4, .little)
        return ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    }
}
