// The features of sound TIFFs that libtiff or libvips cannot read.

extension TIFFPages {
    /// The feature of the first page. What libtiff has no codec for is not known here.
    static func unsupportedFeature(in source: ByteSource) throws(StructureError) -> String? {
        let layout = try TIFFLayout(of: source)
        let fields = try TIFFDirectory(at: layout.firstDirectory(in: source), in: source, layout).fields
        func first(_ tag: TIFFTag) throws(StructureError) -> Int? {
            guard let field = fields[tag], field.count > 0 else { return nil }
            var numbers = try field.numbers(in: source)
            return try numbers.next()
        }
        let compression = try first(.compression) ?? 1
        if compression == 6 { return "a TIFF with JPEG of the old kind inside" }
        let bits = try first(.bitsPerSample)
        if let bits, ![1, 2, 4, 8, 16, 32, 64].contains(bits) { return "a TIFF of \(bits) bits a sample" }
        let floatingPoint = 3
        if bits == 16, try first(.sampleFormat) == floatingPoint { return "a TIFF of floating point of 16 bits" }
        // JPEG inside says by itself how many bits it has.
        if fields[.tileOffsets] != nil, try first(.planarConfiguration) == 2 {
            return
                "a TIFF whose tiles hold one color each; save it in strips, or with all colors of a pixel in one tile"
        }
        return nil
    }
}
