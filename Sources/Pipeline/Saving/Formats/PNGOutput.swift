/// PNG: its options, and what it can hold.
package struct PNGOutput: OutputFormatDeclaration {
    package static let name = "png"
    package static let sourceFormat: SourceFormat? = .png
    package static let metadata: Set<MetadataBlock> = [.exif, .xmp]
    package static let keepsTexts = true

    package let compression: Int
    package let progressive: Bool
    /// The most colors of a palette; nil for true color.
    package let paletteColors: Int?
    package let dither: Double
    /// nil for that of the picture.
    package let bitDepth: Int?

    package init(_ p: inout Parameters) {
        compression = p.optional("compression", 6, in: 0...9, "How hard to compress; slower above 6 for little gain.")
        progressive = p.optional(
            "progressive", false, "Interlaces, so that a coarse picture shows first; larger files.")
        let palette = p.optional("palette", false, "Reduces to a palette: much smaller for drawings and icons.")
        let colors = p.optional("colors", 256, in: 2...256, "The most colors of the palette: 2, 4, 16 or 256.")
        p.check(colors, of: "colors", in: [2, 4, 16, 256])
        dither = p.optional("dither", 1.0, in: 0...1, "How much dithering hides the missing colors of the palette.")
        for key in ["colors", "dither"] where p.has(key) && !palette {
            p.problem(at: key, "'\(key)' needs 'palette: true'")
        }
        paletteColors = palette ? colors : nil
        bitDepth = p.optional("bit-depth", in: 8...16, "Bits of a channel: 8 or 16; default: those of the picture.")
        if let bitDepth {
            p.check(bitDepth, of: "bit-depth", in: [8, 16])
            if palette, bitDepth > 8 { p.problem(at: "bit-depth", "a palette has 8 bits; remove one of the two") }
        }
    }

    /// Bytes of pixels up to which a picture is packed and unpacked as a whole, in memory, instead of row by row.
    package static let mostBytesWhole = 64 << 20

    /// Whether a picture is packed as a whole.
    /// - Parameter bytes: of its pixels, uncompressed.
    package func takesWhole(bytes: Int) -> Bool { paletteColors == nil && !progressive && bytes <= Self.mostBytesWhole }

    package func depth(of drawn: BitDepth) -> BitDepth {
        if paletteColors != nil { return .eight }
        return bitDepth.map { $0 > 8 ? .sixteen : .eight } ?? drawn
    }

    package func takesWhole(_ picture: PictureInfo) -> Bool { takesWhole(bytes: picture.bytes) }

    package func memory(saving picture: PictureInfo) -> Int {
        // The rows as they are packed, and two results, which are no larger.
        if takesWhole(picture) { return 3 * picture.bytes }
        let pixels = picture.size.area
        if paletteColors != nil { return 12 * pixels + paletteSearchBytes(pixels: pixels) }
        return progressive ? picture.bytes : 0
    }

    package var secondsPerMegapixel: Double { 4 }
}

extension OutputFormat {
    package static let png = OutputFormat(PNGOutput.self)
}
