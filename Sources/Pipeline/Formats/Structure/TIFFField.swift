// One field of a TIFF's directory: values of a type, in the field itself or elsewhere in the file.

/// A field without its tag.
struct TIFFField {
    /// Bytes of one value; 0 if the type is not known.
    let valueBytes: Int
    /// The number of values.
    let count: Int
    private let type: Int
    private let order: ByteOrder
    /// The offset of the first value in the file.
    private let offset: Int

    /// The reader is after the tag. Values that fit in the place of their offset are stored there.
    init(from reader: inout ForwardReader, _ layout: TIFFLayout) throws(StructureError) {
        type = try reader.integer(bytes: 2, layout.order)
        order = layout.order
        valueBytes = Self.valueBytes(ofType: type)
        count = try reader.integer(bytes: layout.offsetBytes, layout.order)
        let place = reader.position
        let elsewhere = try reader.integer(bytes: layout.offsetBytes, layout.order)
        offset = valueBytes == 0 || count <= layout.offsetBytes / valueBytes ? place : elsewhere
    }

    /// Whether all the values are in the file; true for types that are not known.
    func isInside(_ source: ByteSource) -> Bool {
        valueBytes == 0 || offset <= source.count && count <= (source.count - offset) / valueBytes
    }

    /// The values, from the first on. They must be unsigned whole numbers.
    func numbers(in source: ByteSource) throws(StructureError) -> TIFFNumbers {
        guard [1, 3, 4, 13, 16, 18].contains(type) else { throw .malformed }
        guard isInside(source) else { throw .endsEarly }
        let range = offset..<offset + count * valueBytes
        return TIFFNumbers(count: count, reader: ForwardReader(source, in: range), bytes: valueBytes, order: order)
    }

    /// Two values, whole numbers or fractions, which are rounded down; nil if there are others, or a fraction is none.
    func pair(in source: ByteSource) -> (Int, Int)? {
        guard count == 2, isInside(source) else { return nil }
        let fraction = 5
        guard type == fraction else {
            guard var numbers = try? numbers(in: source), let first = try? numbers.next(),
                let second = try? numbers.next()
            else { return nil }
            return (first, second)
        }
        let parts = (0..<4).compactMap { source.integer(at: offset + 4 * $0, bytes: 4, order) }
        guard parts.count == 4, parts[1] > 0, parts[3] > 0 else { return nil }
        return (parts[0] / parts[1], parts[2] / parts[3])
    }

    /// Returns true if it is a crop that leaves the whole picture: top 0, left 0, bottom 1, right 1.
    func isWholePicture(in source: ByteSource) -> Bool {
        guard type == 5, count == 4, isInside(source) else { return false }
        let parts = (0..<8).compactMap { source.integer(at: offset + 4 * $0, bytes: 4, order) }
        return parts.count == 8 && parts[0] == 0 && parts[2] == 0 && parts[4] == parts[5] && parts[6] == parts[7]
    }

    /// Replaces the first value, a SHORT or a LONG, in the file that this field is of. One too large for its type loses
    /// its high bits.
    func replaceFirst(with value: Int, in file: inout [UInt8]) {
        guard [3, 4].contains(type), count > 0, isInside(ByteSource(file)) else { return }
        let bytes = (0..<valueBytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        file.replaceSubrange(offset..<offset + valueBytes, with: order == .little ? bytes : bytes.reversed())
    }

    /// The bytes of a text (type 2, ASCII, which in practice is often UTF-8), with its NULs; nil for other types.
    /// - Parameter limit: a longer text is cut.
    func text(in source: ByteSource, limit: Int) -> [UInt8]? {
        guard type == 2 || type == Self.utf8, isInside(source) else { return nil }
        return source.read(offset, min(count, limit))
    }

    /// Values of single bytes; nil for other types.
    func bytes(in source: ByteSource, limit: Int) -> [UInt8]? {
        guard valueBytes == 1, isInside(source) else { return nil }
        return source.read(offset, min(count, limit))
    }

    /// Text in EXIF 3.0.
    private static let utf8 = 129

    /// TIFF 6.0 §2, then the technical note 1 for 13 (IFD), then BigTIFF for 16 to 18 (LONG8, SLONG8, IFD8).
    static func valueBytes(ofType type: Int) -> Int {
        switch type {
        case 1, 2, 6, 7, utf8: 1
        case 3, 8: 2
        case 4, 9, 11, 13: 4
        case 5, 10, 12, 16, 17, 18: 8
        default: 0
        }
    }
}

/// The unsigned whole numbers of a field, one after the other.
struct TIFFNumbers {
    let count: Int
    fileprivate var reader: ForwardReader
    fileprivate let bytes: Int
    fileprivate let order: ByteOrder

    /// One too large for an `Int` becomes the largest.
    mutating func next() throws(StructureError) -> Int {
        try reader.integer(bytes: bytes, order)
    }
}
