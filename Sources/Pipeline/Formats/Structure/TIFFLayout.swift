// The differences between the four kinds of TIFF: the byte order, and the width of counts and offsets.
// TIFF 6.0: https://www.itu.int/itudoc/itu-t/com16/tiff-fx/docs/tiff6.pdf
// BigTIFF: https://www.awaresystems.be/imaging/tiff/bigtiff.html

/// How the numbers of a TIFF are stored.
struct TIFFLayout {
    let order: ByteOrder
    let isBig: Bool

    init(of source: ByteSource) throws(StructureError) {
        var reader = ForwardReader(source, in: 0..<8)
        switch try reader.integer(bytes: 2) {
        case 0x4949: order = .little
        case 0x4D4D: order = .big
        default: throw .malformed
        }
        switch try reader.integer(bytes: 2, order) {
        case 42: isBig = false
        case 43: isBig = true
        default: throw .malformed
        }
        guard isBig else { return }
        guard try reader.integer(bytes: 2, order) == 8, try reader.integer(bytes: 2, order) == 0 else {
            throw .malformed
        }
    }

    /// The size of an offset in the file, and of the number of a field's values.
    var offsetBytes: Int { isBig ? 8 : 4 }

    /// The size of the number of a directory's fields.
    var fieldCountBytes: Int { isBig ? 8 : 2 }

    /// The size of a field: a tag, a type, a number of values, and the values or their offset.
    var fieldBytes: Int { 4 + 2 * offsetBytes }

    /// The offset of the first directory; 0 if it has not been written yet.
    func firstDirectory(in source: ByteSource) throws(StructureError) -> Int {
        guard let offset = source.integer(at: offsetBytes, bytes: offsetBytes, order) else { throw .endsEarly }
        return offset
    }
}
