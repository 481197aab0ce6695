/// The structure of HEIC and AVIF.
enum HEIFStructure: FileStructure {
    static func size(in source: ByteSource) throws(StructureError) -> (width: Int, height: Int) {
        try HEIFItems.size(in: source)
    }

    /// The boxes must end with the file, with all bytes of the pictures inside. Boxes alone do not say whether all is
    /// there: a file may end between two of them.
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

    static func statedColor(of page: Int, in source: ByteSource) throws(StructureError) -> StatedColor? {
        try HEIFItems.statedColor(of: HEIFItems.item(ofPage: page, in: source), in: source)
    }

    /// Only the primary item has one here.
    static func gainMap(of page: Int, in source: ByteSource) throws(StructureError) -> GainMapFacts? {
        guard try HEIFItems.item(ofPage: page, in: source) == nil else { return nil }
        return try HEIFGainMap(in: source)?.facts
    }

    static func gainMapFile(
        in source: ByteSource, of format: SourceFormat
    ) throws(StructureError) -> GainMapFile? {
        try HEIFGainMap(in: source)?.file(as: format)
    }

    static func previews(in source: ByteSource) throws(StructureError) -> [EmbeddedPreview] {
        try HEIFItems.previews(in: source)
    }

    static func file(of preview: EmbeddedPreview, in source: ByteSource) throws(StructureError) -> [UInt8] {
        guard case .item(let item) = preview.place else { throw .malformed }
        return try HEIFItems.file(withPrimary: item, in: source)
    }

    /// Older versions of libheif follow references in a circle until their stack is full.
    static func refusal(of page: Int, in source: ByteSource) throws(StructureError) -> Failure? {
        try HEIFReferences(in: source).haveCircle
            ? Failure(.corrupt, stage: "read", "expected a picture, found one that is made of itself") : nil
    }

    /// Single pictures are items in `meta`, which a decoder may read beside a sequence: a track, as in a film.
    static func hasHiddenFrames(_ source: ByteSource) -> Bool { (try? ISOBoxes.first("moov", in: source)) != nil }

    static func unsupportedFeature(in source: ByteSource) -> String? {
        if hasHiddenFrames(source) { return "a sequence of pictures" }
        return (try? HEIFItems.turnsOrCrops(in: source)) == true
            ? "a picture that its container turns, mirrors or crops" : nil
    }
}
