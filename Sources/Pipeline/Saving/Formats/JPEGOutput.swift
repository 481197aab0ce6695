/// JPEG: its options, and what it can hold.
package struct JPEGOutput: RatedOutput {
    package static let name = "jpeg"
    package static let otherNames = ["jpg"]
    package static let fileExtension = "jpg"
    package static let sourceFormat: SourceFormat? = .jpeg
    package static let colorModels: Set<ColourModel> = [.grey, .rgb, .cmyk]
    /// The format counts up to 65,535, libjpeg a little less.
    package static let longestSide = 65_500
    package static let metadata: Set<MetadataBlock> = [.exif, .xmp, .iptc]
    /// One segment, without the words that announce the block; of XMP libvips leaves more room.
    package static func largest(_ block: MetadataBlock) -> Int { block == .xmp ? 60_000 : 65_000 }
    /// The quality from which color is as fine as brightness, unless `subsampling` says otherwise.
    package static let fineColorQuality = 90

    package var rating: Rating
    package let progressive: Bool
    package let subsampling: ChromaSubsampling

    package init(_ p: inout Parameters) {
        rating = p.rating(80, advice: "75 to 85 suits photos")
        progressive = p.optional("progressive", false, "Shows a coarse picture first while it loads.")
        subsampling = p.optional(
            "subsampling", .auto,
            "Stores color at half resolution: on, off, or auto (off from quality \(Self.fineColorQuality)).")
    }

    package static let holdsGainMap = true
    package var holdsAlpha: Bool { false }
    package func depth(of drawn: BitDepth) -> BitDepth { .eight }
    package var hidesFineErrors: Bool { quality <= 90 }
    package func memory(saving picture: PictureInfo) -> Int {
        guard progressive else { return 0 }
        // The coefficients of the whole picture, 16 bits each.
        let halvesColor = picture.colour == .rgb && !subsampling.isOff(atQuality: quality)
        return (halvesColor ? 3 : 2 * picture.colour.bands) * picture.size.area
    }
    package var secondsPerMegapixel: Double { 0.5 }
}

extension OutputFormat {
    package static let jpeg = OutputFormat(JPEGOutput.self)
}
