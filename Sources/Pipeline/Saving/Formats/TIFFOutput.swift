/// TIFF: its options, and what it can hold.
package struct TIFFOutput: OutputFormatDeclaration {
    package static let name = "tiff"
    package static let otherNames = ["tif"]
    package static let fileExtension = "tif"
    package static let sourceFormat: SourceFormat? = .tiff
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
    /// The side of its square tiles in pixels; nil for strips.
    package let tile: Int?
    /// The picture again, half as wide and high each time, down to one tile.
    package let isPyramid: Bool

    private static let usualTile = 256
    private static let zstdBytes = 30 << 20

    package init(_ p: inout Parameters) {
        compression = p.optional("compression", .lzw, "How the pixels are packed; all but jpeg keep every pixel.")
        quality = p.optional("quality", 85, in: 1...100, "How good the picture is with 'compression: jpeg'.")
        if p.has("quality") && compression != .jpeg { p.problem(at: "quality", "'quality' needs 'compression: jpeg'") }
        isPyramid = p.optional(
            "pyramid", false, "Adds the picture at half its size, a quarter and so on, as servers of IIIF read it.")
        let given: Int? = p.optional(
            "tile", in: 16...2048,
            "The side of square tiles in pixels, a multiple of 16. Default: \(Self.usualTile) in a pyramid, else none.")
        tile = given ?? (isPyramid ? Self.usualTile : nil)
        if let given, !given.isMultiple(of: 16) {
            p.problem(at: "tile", "'tile' takes a multiple of 16, found \(given)")
        }
    }

    /// JPEG inside of TIFF has what JPEG has.
    package var holdsAlpha: Bool { compression != .jpeg }
    package func depth(of drawn: BitDepth) -> BitDepth { compression == .jpeg ? .eight : drawn }
    package func refusal(of size: PixelSize) -> String? {
        guard compression == .jpeg, tile == nil, size.width > JPEGOutput.longestSide else { return nil }
        return
            "would be \(size) pixels; tiff with 'compression: jpeg' holds up to \(JPEGOutput.longestSide) across; add 'tile: \(Self.usualTile)'"
    }
    /// Two rows of tiles of each size of a pyramid, and the smaller sizes as they will be written.
    package func memory(saving picture: PictureInfo) -> Int {
        guard let tile else { return 0 }
        let row = picture.size.width * picture.pixels.bytes * (tile + 2)
        if !isPyramid { return 2 * row }
        let longest = max(picture.size.width, picture.size.height)
        let sizes = (0...).first { longest >> $0 <= tile } ?? 0
        // Each size has an encoder of its own.
        let encoders = compression == .zstd ? (sizes + 1) * Self.zstdBytes : 0
        return saturating(saturating(4 * row, picture.bytes / 2), encoders)
    }
    package var secondsPerMegapixel: Double { 1 }
}

extension OutputFormat {
    package static let tiff = OutputFormat(TIFFOutput.self)
}
