/// AVIF: its options, and what it can hold.
package struct AVIFOutput: RatedOutput {
    package static let name = "avif"
    package static let sourceFormat: SourceFormat? = .avif
    package static let longestSide = 16_384
    package static let metadata: Set<MetadataBlock> = [.exif, .xmp]
    package static let separateEncoder: SeparateEncoder? = SeparateEncoder(
        module: .heif, remedy: "install the package libheif-plugin-aomenc")

    package var rating: Rating
    package let lossless: Bool
    package let effort: Int
    package let subsampling: ChromaSubsampling
    /// nil for that which is nearest to the picture's.
    package let bitDepth: Int?

    package init(_ p: inout Parameters) {
        rating = p.rating(50, advice: "45 to 60 suits photos")
        lossless = p.optional("lossless", false, "Keeps every pixel to within the rounding of one color conversion.")
        effort = p.optional("effort", 4, in: 0...9, "How long to try for a smaller file; each step costs much time.")
        subsampling = p.optional(
            "subsampling", .auto,
            "Stores color at half resolution: on, off, or auto (off from quality \(JPEGOutput.fineColorQuality)).")
        bitDepth = p.optional(
            "bit-depth", in: 8...12, "Bits of a channel: 8 or 12; default: 12 for a picture of more than 8, else 8.")
        // Encoders of 10 bits end the process in libheif 1.15 with libaom 3.6.
        if let bitDepth { p.check(bitDepth, of: "bit-depth", in: [8, 12]) }
        p.refuseRating(ofLossless: lossless)
    }

    /// 12 bits are made of 16.
    package func depth(of drawn: BitDepth) -> BitDepth { bitDepth.map { $0 > 8 ? .sixteen : .eight } ?? drawn }
    package var hidesFineErrors: Bool { !lossless && quality <= 75 }

    package func memory(saving picture: PictureInfo) -> Int {
        // The picture, its planes, the encoder's copies of them, and the result.
        let planes = hasFullChroma ? (effort < 3 ? 54 : 68) : effort < 3 ? (quality < 80 ? 25 : 30) : 44
        let bytes = (planes + (picture.hasAlpha ? 14 : 0)) * picture.size.area
        return picture.depth == .eight ? bytes : bytes / 4 * 7
    }

    private var hasFullChroma: Bool { lossless || subsampling.isOff(atQuality: quality) }

    package var secondsPerMegapixel: Double { 5 * Double(effort + 1) }
}

extension OutputFormat {
    package static let avif = OutputFormat(AVIFOutput.self)
}
