// A directory of a TIFF: the fields of one page, sorted by their tags.

/// The fields of one page.
struct TIFFDirectory {
    /// As many as libtiff reads.
    private static let mostFields = 65_535

    let layout: TIFFLayout
    /// Of a tag that is there twice, the first counts, as for libtiff.
    let fields: [TIFFTag: TIFFField]
    /// Bytes that the directory itself takes, without values that stand elsewhere.
    let bytes: Int
    /// The offset of the next page's directory; 0 after the last.
    let next: Int

    init(at offset: Int, in source: ByteSource, _ layout: TIFFLayout) throws(StructureError) {
        guard let count = source.integer(at: offset, bytes: layout.fieldCountBytes, layout.order) else { throw .endsEarly }
        guard count > 0 else { throw .endsEarly }
        guard count <= Self.mostFields else { throw .malformed }
        self.layout = layout
        bytes = layout.fieldCountBytes + count * layout.fieldBytes + layout.offsetBytes
        guard bytes <= source.count - offset else { throw .endsEarly }

        var reader = ForwardReader(source, in: offset + layout.fieldCountBytes..<offset + bytes)
        var fields: [TIFFTag: TIFFField] = [:]
        for _ in 0..<count {
            let tag = TIFFTag(rawValue: try reader.integer(bytes: 2, layout.order))
            let field = try TIFFField(from: &reader, layout)
            if let tag, fields[tag] == nil { fields[tag] = field }
        }
        self.fields = fields
        next = try reader.integer(bytes: layout.offsetBytes, layout.order)
    }

    /// Of the first page, as it is stored.
    static func size(in source: ByteSource) throws(StructureError) -> (width: Int, height: Int) {
        let layout = try TIFFLayout(of: source)
        let directory = try TIFFDirectory(at: layout.firstDirectory(in: source), in: source, layout)
        return (try directory.number(.imageWidth, in: source), try directory.number(.imageLength, in: source))
    }

    private func number(_ tag: TIFFTag, in source: ByteSource) throws(StructureError) -> Int {
        guard let field = fields[tag] else { throw .malformed }
        var values = try field.values(in: source)
        return try values.integer(bytes: field.valueBytes, layout.order)
    }
}

/// The tags that are read here.
enum TIFFTag: Int {
    case imageWidth = 256
    case imageLength = 257
    case stripOffsets = 273
    case stripByteCounts = 279
    case tileOffsets = 324
    case tileByteCounts = 325
    /// In DNG only.
    case digitalNegativeVersion = 50_706
}

/// A field with one or more values of a type.
struct TIFFField {
    /// Bytes of one value; 0 for types that are not whole unsigned numbers.
    let valueBytes: Int
    /// Of values.
    let count: Int
    /// Of the first value, in the file.
    private let offset: Int

    /// The reader stands after the tag. Values that fit in the place of their offset stand there.
    init(from reader: inout ForwardReader, _ layout: TIFFLayout) throws(StructureError) {
        valueBytes = Self.valueBytes(ofType: try reader.integer(bytes: 2, layout.order))
        count = try reader.integer(bytes: layout.offsetBytes, layout.order)
        let place = reader.position
        let elsewhere = try reader.integer(bytes: layout.offsetBytes, layout.order)
        offset = count <= layout.offsetBytes / max(1, valueBytes) ? place : elsewhere
    }

    /// A reader of all the values.
    func values(in source: ByteSource) throws(StructureError) -> ForwardReader {
        guard valueBytes > 0, count > 0 else { throw .malformed }
        guard offset <= source.count, count <= (source.count - offset) / valueBytes else { throw .endsEarly }
        return ForwardReader(source, in: offset..<offset + count * valueBytes)
    }

    /// BYTE, SHORT, LONG and BigTIFF's LONG8.
    private static func valueBytes(ofType type: Int) -> Int {
        switch type {
        case 1: 1
        case 3: 2
        case 4: 4
        case 16: 8
        default: 0
        }
    }
}
