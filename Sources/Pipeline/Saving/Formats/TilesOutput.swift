/// Tiles of a picture at every size, for viewers that load what they show.
package struct TilesOutput: OutputFormatDeclaration {
    package static let name = "tiles"
    package static let fileExtension = "tiles"
    package static let sourceFormat: SourceFormat? = nil
    package static let mediaType = "application/zip"
    package static let isShownByBrowsers = false
    /// Each tile would have it.
    package static let holdsProfile = false
    package static let metadata: Set<MetadataBlock> = []

    /// The format of a tile.
    package enum TileFormat: String, ParameterWord {
        case jpeg, png, webp

        fileprivate var declaration: any OutputFormatDeclaration {
            switch self {
            case .jpeg: Parameters.usual(JPEGOutput.self)
            case .png: Parameters.usual(PNGOutput.self)
            case .webp: Parameters.usual(WebPOutput.self)
            }
        }

        /// The endings of tiles' names.
        static let extensions = Set(allCases.map { type(of: $0.declaration).fileExtension })
    }

    /// How the tiles are kept together.
    package enum Container: String, ParameterWord {
        case folder, zip
    }

    package let layout: TilePyramid.Layout
    private let container: Container
    package let side: Int
    package let overlap: Int
    private let tileFormat: TileFormat
    private let quality: Int
    /// The address of the folder.
    private let id: TextTemplate?
    /// The same with its fields filled in.
    package private(set) var address = ""

    package init(_ p: inout Parameters) {
        layout = p.optional(
            "layout", .deepzoom,
            "How the tiles are named: for OpenSeadragon and others, for IIIF viewers, or as maps are.")
        container = p.optional("container", .folder, "A folder with all tiles, or an archive of it in one file.")
        side = p.optional("tile", 256, in: 64...2048, "The side of a tile in pixels.")
        overlap = p.optional("overlap", 0, in: 0...16, "Pixels that a tile has of each neighbor; `deepzoom` only.")
        tileFormat = p.optional("tile-format", .jpeg, "The format of the tiles.")
        quality = p.optional("quality", 80, in: 1...100, "How good the tiles are; not for png.")
        id = p.optional(
            "id", "The address at which the folder will be, such as \"https://example.org/iiif/{stem}\"; `iiif` only.")
        if p.has("overlap") && layout != .deepzoom { p.problem(at: "overlap", "'overlap' needs 'layout: deepzoom'") }
        if p.has("quality") && tileFormat == .png {
            p.problem(at: "quality", "'quality' has no meaning with 'tile-format: png'; remove one of them")
        }
        if p.has("id") != (layout == .iiif), p.understood("layout", "id") {
            p.problem(
                at: "id",
                layout == .iiif
                    ? "'layout: iiif' needs 'id', the address at which the folder will be: viewers make the addresses of tiles of it"
                    : "'id' needs 'layout: iiif'")
        }
        if let id, !id.mayBeAddress {
            p.problem(
                inValueOf: "id", "expected an address such as https://example.org/iiif/{stem}, found '\(id.text)'")
        }
    }

    /// How a tile is saved.
    package var tile: any OutputFormatDeclaration {
        let declaration = tileFormat.declaration
        return (declaration as? any RatedOutput)?.rated(quality) ?? declaration
    }

    package func pyramid(of size: PixelSize) -> TilePyramid {
        TilePyramid(layout, of: size, side: side, overlap: overlap, format: type(of: tile).format)
    }

    package var isFolder: Bool { container == .folder }
    package var ownExtension: String { isFolder ? Self.fileExtension : container.rawValue }
    package var texts: [TextTemplate] { [id].compactMap(\.self) }
    package func filled(_ fields: TextFields, on size: PixelSize) -> TilesOutput {
        var filled = self
        filled.address = id?.stated(fields, on: size) { BytePath($0).percentEncoded }.text ?? ""
        return filled
    }

    /// More do not fit the directory of the archive.
    private static let mostTiles = 65_000

    package func refusal(of size: PixelSize) -> String? {
        let count = TilePyramid.count(of: size, side: side)
        guard count > Self.mostTiles else { return nil }
        return "would have \(count) tiles; there may be \(Self.mostTiles); take a larger 'tile'"
    }

    package var holdsAlpha: Bool { tile.holdsAlpha }
    package func depth(of drawn: BitDepth) -> BitDepth { .eight }
    package func takesWhole(_ picture: PictureInfo) -> Bool { true }
    /// Each next size while it is made, which has a quarter of the pixels, or half of those of a line; and a tile as it
    /// is saved.
    package func memory(saving picture: PictureInfo) -> Int {
        let (longest, size) = (side + 2 * overlap, picture.size)
        let area = PixelSize(min(longest, size.width), min(longest, size.height))
        return saturating(picture.bytes / 2, tile.memory(saving: picture.resized(to: area)))
    }
    package var secondsPerMegapixel: Double { 2 * tile.secondsPerMegapixel }

    package static func recognizes(_ file: ByteSource) -> Bool { ZIPDirectory.isArchive(file) }

    /// The size that the archive has all tiles of, and nothing else.
    package func size(in file: ByteSource, said: PixelSize) -> (width: Int, height: Int)? {
        // Before so many names are made.
        guard refusal(of: said) == nil, let entries = ZIPDirectory(of: file)?.entries,
            entries.map(\.name) == pyramid(of: said).names()
        else {
            return nil
        }
        return (said.width, said.height)
    }
}

extension OutputFormat {
    package static let tiles = OutputFormat(TilesOutput.self)
}
