/// GIF: its options, and what it can hold.
package struct GIFOutput: OutputFormatDeclaration {
    package static let name = "gif"
    package static let sourceFormat: SourceFormat? = .gif
    package static let longestSide = 65_535
    /// Browsers play frames of less at 100 ms.
    package static let animation: AnimationLimits? = AnimationLimits(shortestFrame: 20, unit: 10)
    package static let holdsProfile = false
    package static let metadata: Set<MetadataBlock> = []

    package let effort: Int
    package let colors: Int
    package let dither: Double
    package let progressive: Bool

    package init(_ p: inout Parameters) {
        effort = p.optional("effort", 7, in: 1...10, "How long to look for good palettes.")
        colors = p.optional("colors", 256, in: 2...256, "The most colors of a palette: 2, 4, 8 and so on to 256.")
        p.check(colors, of: "colors", in: (1...8).map { 1 << $0 })
        dither = p.optional("dither", 1.0, in: 0...1, "How much dithering hides the missing colors.")
        progressive = p.optional("progressive", false, "Interlaces, so that a coarse picture shows first.")
    }

    package func depth(of drawn: BitDepth) -> BitDepth { .eight }
    package func memory(saving picture: PictureInfo) -> Int {
        15 * picture.size.area + paletteSearchBytes(pixels: picture.size.area)
            + (picture.frames > 1 ? picture.bytes : 0)
    }
    package var secondsPerMegapixel: Double { 5 }
}

extension OutputFormat {
    package static let gif = OutputFormat(GIFOutput.self)
}
