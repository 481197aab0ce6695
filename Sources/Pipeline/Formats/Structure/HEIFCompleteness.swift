// Whether all of a HEIF or an AVIF is there. Boxes alone do not say: a file may end between two of them.

enum HEIFCompleteness {
    /// The boxes must end with the file, with all bytes of the pictures inside.
    static func walk(_ source: ByteSource) throws(StructureError) {
        var start = ForwardReader(source, in: 4..<8)
        try start.expect(Array("ftyp".utf8))
        var boxes = ISOBoxes(in: source)
        var meta: ISOBox?
        var hasTracks = false
        var hasMediaData = false
        while let box = try boxes.next() {
            if box.type == "meta" { meta = meta ?? box }
            if box.type == "moov" { hasTracks = true }
            if box.type == "mdat" { hasMediaData = true }
        }
        guard meta != nil || hasTracks, hasMediaData || !hasTracks else { throw .endsEarly }
        if let meta { try HEIFItemLocations.walk(source, meta: meta) }
    }
}
