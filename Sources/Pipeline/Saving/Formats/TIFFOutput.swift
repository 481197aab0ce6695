/// TIFF: its options, and what it can hold.
package struct TIFFOutput: OutputFormatDeclaration {
    package static let name = "tiff"
    package static let otherNames = ["tif"]
    package static let fileExtension = "tif"
    package static let sourceFormat = SourceFormat.tiff
    package static let isShownByBrowsers = false
    package static let colorModels = Set(ColourModel.allCases)
    /// libvips would write a quarter of IPTC.
    package static let metadata: Set<MetadataBlock> = [.xmp, .photoshop]
    package static let keepsDescription = true

    /// How the pixels are packed.
    package enum Compression: String, ParameterWord {
        case none, lzw, deflate, zstd, jpeg
    }

    package let compression: Compression
    package let quality: Int

    package init(_ p: inout Parameters) {
        compression = p.optional("compression", .lzw, "How the pixels are packed; all but jpeg keep every pixel.")
        quality = p.optional("quality", 85, in: 1...100, "How good the picture is with 'compression: jpeg'.")
        if p.has("quality") && compression != .jpeg { p.problem(at: "quality", "'quality' needs 'compression: jpeg'") }
    }

    /// JPEG inside of TIFF has what JPEG has.
    package var holdsAlpha: Bool { compression != .jpeg }
    package func depth(of drawn: BitDepth) -> BitDepth { compression == .jpeg ? .eight : drawn }
    package func memory(saving picture: PictureInfo) -> Int { 0 }
    package var secondsPerMegapixel: Double { 1 }
}

extension OutputFormat {
    package static let tiff = OutputFormat(TIFFOutput.self)
}
