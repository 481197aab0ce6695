// Raw files by their structure, as far as they resemble formats that are read here: TIFFs, most of them, ISO media, or
// Fujifilm's own. LibRaw itself makes black of what is not there.
// RAF: https://libopenraw.freedesktop.org/formats/raf/

enum RawStructure: FileStructure {
    static func walk(_ source: ByteSource) throws(StructureError) {
        if source.read(4, 8) == Array("ftypcrx ".utf8) { return try HEIFStructure.walk(source) }
        if source.read(0, 15) == Array("FUJIFILMCCD-RAW".utf8) { return try walkFujifilm(source) }
        // Panasonic's strips are in another field.
        guard source.read(0, 4) != Array("IIU\0".utf8) else { throw .malformed }
        let tiff = asTIFF(source)
        guard source.read(2, 2) != tiff.read(2, 2) || CameraRaw.name(of: source) != nil else { throw .malformed }
        try TIFFPages.walk(tiff, needsPixels: false)
    }

    static func statements(of page: Int, in source: ByteSource) throws(StructureError) -> Statements {
        try TIFFPages.statements(of: 1, in: asTIFF(source))
    }

    /// The file as a TIFF: Olympus and Panasonic have another number where a TIFF has 42.
    static func asTIFF(_ source: ByteSource) -> ByteSource {
        let start = source.read(0, 4)
        guard ["IIRO", "IIRS", "IIU\0"].contains(where: { start == Array($0.utf8) }) || start == Array("MMOR".utf8)
        else {
            return source
        }
        let isLittle = start[0] == UInt8(ascii: "I")
        let mark: [UInt8] = isLittle ? [0x49, 0x49, 42, 0] : [0x4D, 0x4D, 0, 42]
        return ByteSource(count: source.count) { offset, count in
            var bytes = source.read(offset, count)
            for place in mark.indices where bytes.indices.contains(place - offset) {
                bytes[place - offset] = mark[place]
            }
            return bytes
        }
    }

    /// The preview, what belongs to the sensor's data, and these: of each the offset and the length.
    private static func walkFujifilm(_ source: ByteSource) throws(StructureError) {
        var reader = ForwardReader(source, in: 84..<max(84, min(108, source.count)))
        for _ in 0..<3 {
            let (offset, count) = (try reader.integer(bytes: 4), try reader.integer(bytes: 4))
            guard offset + count <= source.count else { throw .endsEarly }
        }
    }
}
