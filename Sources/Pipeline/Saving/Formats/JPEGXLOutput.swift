/// JPEG XL: its options, and what it can hold.
package struct JPEGXLOutput: OutputFormatDeclaration {
    package static let name = "jxl"
    package static let sourceFormat = SourceFormat.jxl
    package static let isShownByBrowsers = false
    /// libvips 8.14 writes none.
    package static let metadata: Set<MetadataBlock> = []
    package static let isRatedByQuality = true
    package static let separateEncoder: SeparateEncoder? = SeparateEncoder(
        module: .jxl, remedy: "install a libvips that has its module for JPEG XL, as Debian's libvips42 does")

    package let quality: Int
    package let lossless: Bool
    package let effort: Int

    package init(_ p: inout Parameters) {
        quality = p.optional("quality", 75, in: 1...100, "How good the picture is; 70 to 85 suits photos.")
        lossless = p.optional("lossless", false, "Keeps every pixel as it is.")
        // libvips 8.14 takes no less than 3.
        effort = p.optional(
            "effort", 7, in: 3...9, "How long to try for a smaller file; 8 and 9 cost much time and memory.")
        p.refuseQuality(ofLossless: lossless)
    }

    package func depth(of drawn: BitDepth) -> BitDepth { drawn == .eight ? .eight : .sixteen }
    package var hidesFineErrors: Bool { !lossless && quality <= 75 }
    private var isThorough: Bool { effort >= 8 }

    package func memory(saving picture: PictureInfo) -> Int {
        // With losses, the encoder works on three colors in floating point, whatever the picture has. From effort 7 on it
        // looks for what repeats, of which drawings and plain areas have most.
        let bytes =
            switch (lossless, effort) {
            case (true, ...6): 40 * picture.bands
            case (true, 7): max(192, 40 * picture.bands)
            case (true, _): max(192, 72 * picture.bands)
            case (false, ...6): 68
            case (false, 7): 192
            case (false, _): 284
            }
        return (bytes + (picture.hasAlpha ? 28 : 0)) * picture.size.area
    }

    package var secondsPerMegapixel: Double {
        guard lossless else { return isThorough ? 40 : 8 }
        return effort == 9 ? 1200 : isThorough ? 120 : 60
    }
}

extension OutputFormat {
    package static let jxl = OutputFormat(JPEGXLOutput.self)
}
