// The boxes of an ISO media file, which HEIC and AVIF are: size, type, content; some hold boxes themselves.
// ISO/IEC 14496-12 §4.2.

/// A box, and where its content is in the file.
struct ISOBox {
    let type: FourCC
    let content: Range<Int>

    /// A "full box" has a version and flags before its content.
    func fullContent() throws(StructureError) -> Range<Int> {
        guard content.count >= 4 else { throw .malformed }
        return content.dropFirst(4)
    }
}

/// The boxes in a file, or in a box, in their order.
struct ISOBoxes {
    private var reader: ForwardReader

    init(in source: ByteSource, _ range: Range<Int>? = nil) {
        reader = ForwardReader(source, in: range ?? 0..<source.count)
    }

    /// Nil after the last one.
    mutating func next() throws(StructureError) -> ISOBox? {
        guard reader.remaining > 0 else { return nil }
        let start = reader.position
        let size = try reader.integer(bytes: 4)
        let type = try reader.fourCC()
        let length = try contentLength(of: size, from: start)
        let content = reader.position..<reader.position + min(length, reader.remaining)
        try reader.skip(length)
        return ISOBox(type: type, content: content)
    }

    /// The first box of a type. Not there in the whole file: it may still come.
    static func first(
        _ type: FourCC, in source: ByteSource, _ range: Range<Int>? = nil
    ) throws(StructureError) -> ISOBox {
        var boxes = ISOBoxes(in: source, range)
        while let box = try boxes.next() {
            if box.type == type { return box }
        }
        throw range == nil ? .endsEarly : .malformed
    }

    /// Size 0 is to the end of the file, 1 is a longer number after the type. It counts the header that has just been
    /// read.
    private mutating func contentLength(of size: Int, from start: Int) throws(StructureError) -> Int {
        if size == 0 { return reader.remaining }
        let total = size == 1 ? try reader.integer(bytes: 8) : size
        let header = reader.position - start
        guard total >= header else { throw .malformed }
        return total - header
    }
}
