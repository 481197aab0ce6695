// What sound files may have that their decoders cannot read. Asked only after a decoder has called a file damaged.

/// What a decoder does not read in a sound file, after "found"; nil if nothing such is known of the file.
package func unsupportedFeature(of format: SourceFormat, in source: ByteSource) -> String? {
    switch format {
    case .jpeg: (try? JPEGMarkers.unsupportedFeature(in: source)) ?? nil
    case .tiff: (try? tiffFeature(source)) ?? nil
    case .heic, .avif: heifFeature(source)
    case .png, .webp, .gif, .svg, .pdf, .jxl, .jp2: nil
    }
}

/// The feature of a TIFF's first page. What libtiff has no codec for is not known here.
private func tiffFeature(_ source: ByteSource) throws(StructureError) -> String? {
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
        return "a TIFF whose tiles hold one color each"
    }
    return nil
}

private func heifFeature(_ source: ByteSource) -> String? {
    // A still picture is an item in `meta`, which a decoder may read beside a sequence: a track, as in a film.
    if (try? ISOBoxes.first("moov", in: source)) != nil { return "a sequence of pictures" }
    if (try? HEIFItems.turnsOrCrops(in: source)) == true { return "a picture that its container turns or crops" }
    return nil
}
