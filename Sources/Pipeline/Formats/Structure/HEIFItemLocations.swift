// Where the bytes of a HEIF's items are: the box `iloc`. ISO/IEC 14496-12 §8.11.3.

/// Reads `iloc`, whose numbers have widths of their own.
struct HEIFItemLocations {
    private var reader: ForwardReader
    private let source: ByteSource
    private let version: Int
    private let offsetBytes: Int
    private let lengthBytes: Int
    private let baseOffsetBytes: Int
    private let indexBytes: Int

    /// Looks whether all the items' bytes lie inside the file.
    static func walk(_ source: ByteSource, meta: ISOBox) throws(StructureError) {
        var locations = try HEIFItemLocations(source, try ISOBoxes.first("iloc", in: source, try meta.fullContent()))
        let count = try locations.reader.integer(bytes: locations.version < 2 ? 2 : 4)
        for _ in 0..<count { try locations.checkItem() }
    }

    private init(_ source: ByteSource, _ box: ISOBox) throws(StructureError) {
        self.source = source
        reader = ForwardReader(source, in: box.content)
        version = Int(try reader.byte())
        try reader.skip(3)
        let widths = try reader.integer(bytes: 2)
        offsetBytes = widths >> 12
        lengthBytes = widths >> 8 & 0xF
        baseOffsetBytes = widths >> 4 & 0xF
        indexBytes = version == 0 ? 0 : widths & 0xF
        guard version <= 2, [offsetBytes, lengthBytes, baseOffsetBytes, indexBytes].allSatisfy([0, 4, 8].contains) else { throw .malformed }
    }

    private mutating func checkItem() throws(StructureError) {
        try reader.skip(version < 2 ? 2 : 4)
        let isInFile = version == 0 ? true : try reader.integer(bytes: 2) & 0xF == 0
        let isInThisFile = try reader.integer(bytes: 2) == 0 && isInFile
        let base = try reader.integer(bytes: baseOffsetBytes)
        let extents = try reader.integer(bytes: 2)
        // Extents of no bytes are all alike, and a small box could announce very many of them.
        let isEmpty = indexBytes + offsetBytes + lengthBytes == 0
        for _ in 0..<(isEmpty ? min(1, extents) : extents) {
            try reader.skip(indexBytes)
            let offset = try reader.integer(bytes: offsetBytes)
            let length = try reader.integer(bytes: lengthBytes)
            guard !isInThisFile || reaches(base, offset, length) else { throw .endsEarly }
        }
    }

    private func reaches(_ base: Int, _ offset: Int, _ length: Int) -> Bool {
        base <= source.count && offset <= source.count - base && length <= source.count - base - offset
    }
}
