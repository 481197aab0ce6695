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
        for _ in 0..<(try locations.count()) { try locations.checkItem() }
    }

    /// Where the bytes of items are in the file, by the items' numbers; of what is in another file, nothing.
    static func ranges(in source: ByteSource, meta: ISOBox) throws(StructureError) -> [Int: [Range<Int>]] {
        let content = try meta.fullContent()
        var locations = try HEIFItemLocations(source, try ISOBoxes.first("iloc", in: source, content))
        let inside = (try? ISOBoxes.first("idat", in: source, content))?.content
        var ranges: [Int: [Range<Int>]] = [:]
        for _ in 0..<(try locations.count()) {
            let (id, extents) = try locations.item(inside: inside)
            ranges[id, default: []] += extents
        }
        return ranges
    }

    private mutating func count() throws(StructureError) -> Int { try reader.integer(bytes: version < 2 ? 2 : 4) }

    private mutating func item(inside: Range<Int>?) throws(StructureError) -> (id: Int, extents: [Range<Int>]) {
        let id = try reader.integer(bytes: version < 2 ? 2 : 4)
        let method = version == 0 ? 0 : try reader.integer(bytes: 2) & 0xF
        let isInThisFile = try reader.integer(bytes: 2) == 0
        let place: Range<Int>? =
            switch (isInThisFile, method) {
            case (true, 0): 0..<source.count
            case (true, 1): inside
            default: nil
            }
        let base = try reader.integer(bytes: baseOffsetBytes)
        let count = try reader.integer(bytes: 2)
        var extents: [Range<Int>] = []
        for _ in 0..<(indexBytes + offsetBytes + lengthBytes == 0 ? min(1, count) : count) {
            try reader.skip(indexBytes)
            let (offset, length) = (try reader.integer(bytes: offsetBytes), try reader.integer(bytes: lengthBytes))
            guard let place, base <= place.count, offset <= place.count - base else { continue }
            let start = place.lowerBound + base + offset
            // No length is all the rest.
            extents.append(start..<(length == 0 ? place.upperBound : start + min(length, place.upperBound - start)))
        }
        return (id, extents)
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
        guard version <= 2, [offsetBytes, lengthBytes, baseOffsetBytes, indexBytes].allSatisfy([0, 4, 8].contains)
        else { throw .malformed }
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
            guard !isInThisFile || reaches(from: base, offset: offset, length: length) else { throw .endsEarly }
        }
    }

    private func reaches(from base: Int, offset: Int, length: Int) -> Bool {
        base <= source.count && offset <= source.count - base && length <= source.count - base - offset
    }
}
