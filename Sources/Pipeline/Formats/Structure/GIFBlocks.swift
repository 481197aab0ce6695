// The blocks of a GIF: a screen, then images and extensions, then the trailer.
// https://www.w3.org/Graphics/GIF/spec-gif89a.txt

/// Goes through the blocks of a GIF in their order.
struct GIFBlocks: FileStructure {
    private static let extensionIntroducer: UInt8 = 0x21
    private static let imageSeparator: UInt8 = 0x2C
    private static let trailer: UInt8 = 0x3B

    private var reader: ForwardReader

    init(of source: ByteSource) throws(StructureError) {
        reader = ForwardReader(source)
        try reader.expect(Array("GIF8".utf8))
        let version = try reader.byte()
        guard version == UInt8(ascii: "7") || version == UInt8(ascii: "9") else { throw .malformed }
        try reader.expect(Array("a".utf8))
    }

    /// The logical screen, which every frame has to fit in.
    static func size(in source: ByteSource) throws(StructureError) -> (width: Int, height: Int) {
        var blocks = try GIFBlocks(of: source)
        let width = try blocks.reader.integer(bytes: 2, .little)
        return (width, try blocks.reader.integer(bytes: 2, .little))
    }

    static func walk(_ source: ByteSource) throws(StructureError) {
        var blocks = try GIFBlocks(of: source)
        try blocks.skipDescriptor(bytesBeforeFlags: 4, bytesAfterFlags: 2)
        while try blocks.skipBlock() {}
    }

    /// False at the trailer. Zeros between blocks are passed over, as decoders do; a hole is made of them too.
    private mutating func skipBlock() throws(StructureError) -> Bool {
        switch try reader.byte() {
        case Self.imageSeparator:
            try skipDescriptor(bytesBeforeFlags: 8, bytesAfterFlags: 1)
            try skipSubBlocks()
        case Self.extensionIntroducer:
            try reader.skip(1)
            try skipSubBlocks()
        case 0: break
        case Self.trailer: return false
        default: throw .malformed
        }
        return true
    }

    /// Skips the descriptor of the screen or of an image. The flags say whether a colour table follows, and how large
    /// it is.
    private mutating func skipDescriptor(bytesBeforeFlags before: Int, bytesAfterFlags after: Int)
        throws(StructureError)
    {
        try reader.skip(before)
        let flags = try reader.byte()
        let colours = flags & 0x80 == 0 ? 0 : 2 << Int(flags & 0x07)
        try reader.skip(after + 3 * colours)
    }

    private mutating func skipSubBlocks() throws(StructureError) {
        while case let length = try reader.byte(), length > 0 { try reader.skip(Int(length)) }
    }
}
