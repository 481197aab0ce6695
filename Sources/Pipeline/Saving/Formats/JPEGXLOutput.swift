/// JPEG XL: its options, and what it can hold.
package struct JPEGXLOutput: RatedOutput {
    package static let name = "jxl"
    package static let sourceFormat: SourceFormat? = .jxl
    package static let isShownByBrowsers = false
    /// libvips 8.14 writes none.
    package static let metadata: Set<MetadataBlock> = []
    package static let separateEncoder: SeparateEncoder? = SeparateEncoder(
        module: .jxl, remedy: "install a libvips that has its module for JPEG XL, as Debian's libvips42 does")

    package var rating: Rating
    package let lossless: Bool
    package let effort: Int

    package init(_ p: inout Parameters) {
        rating = p.rating(75, advice: "70 to 85 suits photos", isRead: false)
        lossless = p.optional("lossless", false, "Keeps every pixel as it is.")
        // libvips 8.14 takes no less than 3, and 7 if it is not told.
        let given: Int? = p.optional(
            "effort", in: 3...9,
            "How long to try for a smaller file: 6 if it is not said, or 4 with `lossless`. From 7 on, or 5 with `lossless`, it costs much memory, and 8 and 9 much time too."
        )
        effort = given ?? (lossless ? 4 : 6)
        p.refuseRating(ofLossless: lossless)
    }

    package func depth(of drawn: BitDepth) -> BitDepth { drawn == .eight ? .eight : .sixteen }
    package var hidesFineErrors: Bool { !lossless && quality <= 75 }
    private var isThorough: Bool { effort >= 8 }

    package func memory(saving picture: PictureInfo) -> Int {
        // With losses, the encoder works on three colors in floating point, whatever the picture has. From some effort on
        // it keeps what repeats: least for photos, most for scans with many small marks.
        let keepsRepetitions = effort > (lossless ? 4 : 6)
        let bytes = keepsRepetitions ? 1300 : lossless ? 40 * picture.bands : 68
        // It works on blocks, also where the picture is narrow: 1×99999 pixels need 1,200 bytes for each row.
        let area = max(picture.size.width, Self.block) * max(picture.size.height, Self.block)
        return (bytes + (picture.hasAlpha ? 28 : 0)) * area
    }

    private static let block = 32

    package var secondsPerMegapixel: Double {
        guard lossless else { return isThorough ? 40 : 8 }
        return effort == 9 ? 1200 : isThorough ? 120 : 60
    }
}

extension OutputFormat {
    package static let jxl = OutputFormat(JPEGXLOutput.self)
}
