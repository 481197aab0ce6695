/// WebP: its options, and what it can hold.
package struct WebPOutput: RatedOutput {
    package static let name = "webp"
    package static let sourceFormat: SourceFormat? = .webp
    package static let longestSide = 16_383
    package static let animation: AnimationLimits? = AnimationLimits()
    package static let metadata: Set<MetadataBlock> = [.exif, .xmp]

    package var rating: Rating
    package let lossless: Bool
    package let effort: Int
    package let alphaQuality: Int

    package init(_ p: inout Parameters) {
        rating = p.rating(78, advice: "70 to 80 suits photos")
        lossless = p.optional("lossless", false, "Keeps every pixel as it is.")
        effort = p.optional("effort", 4, in: 0...6, "How long to try for a smaller file.")
        alphaQuality = p.optional("alpha-quality", 100, in: 0...100, "How exact the transparency is.")
        p.refuseRating(ofLossless: lossless)
    }

    package func depth(of drawn: BitDepth) -> BitDepth { .eight }
    package var hidesFineErrors: Bool { !lossless && quality <= 90 }

    package func memory(saving picture: PictureInfo) -> Int {
        (lossless ? 44 : picture.hasAlpha ? alphaBytes : colorBytes) * picture.size.area + picture.bytes
    }

    /// Bytes for a pixel. From effort 3 on, all that will be written is in memory before any of it is.
    private var colorBytes: Int { effort < 3 ? 14 : quality <= 80 ? 22 : 34 }
    /// The same with alpha, which is packed without losses beside the colors.
    private var alphaBytes: Int { effort < 3 ? 40 : effort < 5 ? 44 : 64 }

    package var secondsPerMegapixel: Double { lossless ? 20 : 5 }
}

extension OutputFormat {
    package static let webp = OutputFormat(WebPOutput.self)
}
