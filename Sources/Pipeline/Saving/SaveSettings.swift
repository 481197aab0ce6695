// `save`: the format of a rendition and its options, checked per format.

/// What happens to the metadata of a source.
package enum MetadataPolicy: String, ParameterWord {
    /// Copyright, artist and licence stay; GPS and the rest go.
    case copyright
    case keep, strip
}

/// How a rendition is saved.
package struct SaveSettings: Sendable {
    /// The format with its own options.
    package enum Encoding: Sendable {
        case jpeg(JPEGOptions)
        case png(PNGOptions)
        case webp(WebPOptions)
        case avif(AVIFOptions)
        case tiff(TIFFOptions)
        case gif(GIFOptions)
    }

    package let encoding: Encoding
    /// What a format without alpha draws the picture on.
    package let background: Color
    package let metadata: MetadataPolicy

    package var format: OutputFormat {
        switch encoding {
        case .jpeg: .jpeg
        case .png: .png
        case .webp: .webp
        case .avif: .avif
        case .tiff: .tiff
        case .gif: .gif
        }
    }

    /// JPEG inside of TIFF has what JPEG has.
    private var isJPEG: Bool {
        switch encoding {
        case .jpeg: true
        case .tiff(let options): options.compression == .jpeg
        case .png, .webp, .avif, .gif: false
        }
    }

    package var supportsAlpha: Bool { !isJPEG }

    /// The depth in which a drawn picture is handed to the encoder: 12 bits of AVIF are made of 16.
    package func depth(of drawn: BitDepth) -> BitDepth {
        switch encoding {
        case .jpeg, .webp, .gif: .eight
        case .png(let options): options.paletteColors == nil ? drawn : .eight
        case .tiff: isJPEG ? .eight : drawn
        case .avif(let options): options.bitDepth.map { $0 > 8 ? .sixteen : .eight } ?? drawn
        }
    }

    /// The encoder's losses hide what a decode at reduced size loses.
    package var hidesFineErrors: Bool {
        switch encoding {
        case .jpeg(let options): options.quality <= 90
        case .webp(let options): !options.lossless && options.quality <= 90
        case .avif(let options): !options.lossless && options.quality <= 75
        case .png, .tiff, .gif: false
        }
    }
}

/// The options of one format, besides those that all formats share.
private protocol FormatOptions: ParameterGroup {
    static var format: OutputFormat { get }
    var encoding: SaveSettings.Encoding { get }
}

/// The options that all formats share, then the format's own: one mapping in the file.
private struct SaveGroup<Options: FormatOptions>: ParameterGroup {
    let settings: SaveSettings

    init(_ p: inout Parameters) {
        let _: SaveFormat = p.required("format", "The file format.")
        let options = Options(&p)
        let background = p.optional("background", Color.white, "What a format without alpha draws the picture on.")
        let metadata = p.optional(
            "metadata", MetadataPolicy.copyright, "Which metadata stays: copyright, artist and licence; all; or none.")
        if !background.isOpaque {
            p.problem(at: "background", "'background' of 'save' must be opaque: it replaces the transparency")
        }
        settings = SaveSettings(encoding: options.encoding, background: background, metadata: metadata)
    }
}

extension SaveSettings: ParameterValue {
    package static var expectation: String { "a mapping such as { format: jpeg, quality: 82 }" }
    package static var placeholder: SaveSettings {
        SaveSettings(encoding: .jpeg(JPEGOptions(quality: 80)), background: .white, metadata: .copyright)
    }
    package var written: String { "{ format: \(format.rawValue) }" }

    package static var schema: JSONValue {
        ["oneOf": .array(SaveFormat.allCases.map { schema(of: $0) })]
    }

    /// The parameters that `save` takes with one format.
    package static func descriptions(of format: SaveFormat) -> [ParameterDescription] {
        Parameters.describe(group(of: format))
    }

    private static func schema(of format: SaveFormat) -> JSONValue {
        guard case .object(var schema) = group(of: format).mappingSchema(),
            case .object(var properties)? = schema["properties"]
        else { return .null }
        let words = format.words.map { JSONValue.string($0) }
        properties["format"] = words.count == 1 ? ["const": words[0]] : ["enum": .array(words)]
        schema["properties"] = .object(properties)
        return .object(schema)
    }

    private static func group(of format: SaveFormat) -> any ParameterGroup.Type {
        switch format {
        case .jpeg: SaveGroup<JPEGOptions>.self
        case .png: SaveGroup<PNGOptions>.self
        case .webp: SaveGroup<WebPOptions>.self
        case .avif: SaveGroup<AVIFOptions>.self
        case .tiff: SaveGroup<TIFFOptions>.self
        case .gif: SaveGroup<GIFOptions>.self
        case .same: SameFormatGroup.self
        }
    }

    /// Reads the settings for one format, which is not `same`; nil for what is not a mapping.
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> SaveSettings? {
        guard case .mapping(let entries) = node.content else { return nil }
        guard let written = entries.first(where: { $0.key == "format" })?.value else {
            // A misspelt key is one mistake, not two.
            if let entry = entries.first(where: { nearestWord(to: $0.key, among: ["format"]) != nil }) {
                log.problem(entry.keyPosition, "unknown key '\(entry.key)' in 'save'; did you mean 'format'?")
            } else {
                log.problem(node.position, "'save' needs 'format': \(SaveFormat.expectation)")
            }
            return nil
        }
        guard let format = SaveFormat.read(written, &log) else {
            // The other mistakes beside a format that is almost right are shown too.
            if let meant = written.text.flatMap({ nearestWord(to: $0, among: SaveFormat.allCases.map(\.rawValue)) }) {
                _ = read(node.replacing("format", with: meant), &log)
            }
            return nil
        }
        switch format {
        case .jpeg: return read(JPEGOptions.self, from: node, &log)
        case .png: return read(PNGOptions.self, from: node, &log)
        case .webp: return read(WebPOptions.self, from: node, &log)
        case .avif: return read(AVIFOptions.self, from: node, &log)
        case .tiff: return read(TIFFOptions.self, from: node, &log)
        case .gif: return read(GIFOptions.self, from: node, &log)
        case .same:
            _ = Parameters.read(SameFormatGroup.self, from: node, owner: "'save' with format 'same'", &log)
            return placeholder
        }
    }

    private static func read<Options: FormatOptions>(
        _ type: Options.Type, from node: YAMLNode, _ log: inout ReadingLog
    ) -> SaveSettings? {
        Parameters.read(
            SaveGroup<Options>.self, from: node, owner: "'save' with format '\(Options.format.rawValue)'", &log)?
            .settings
    }
}

/// When color is stored at half the resolution of brightness.
package enum ChromaSubsampling: String, ParameterWord {
    /// Up to the quality that the encoder thinks fit.
    case auto
    case on, off
}

package struct JPEGOptions: FormatOptions {
    static var format: OutputFormat { .jpeg }
    package let quality: Int
    package let progressive: Bool
    package let subsampling: ChromaSubsampling

    package init(_ p: inout Parameters) {
        quality = p.optional("quality", 80, in: 1...100, "How good the picture is; 75 to 85 suits photos.")
        progressive = p.optional("progressive", false, "Shows a coarse picture first while it loads.")
        subsampling = p.optional(
            "subsampling", .auto, "Stores color at half resolution: on, off, or auto (off from quality 90).")
    }

    init(quality: Int) {
        self.quality = quality
        progressive = false
        subsampling = .auto
    }

    var encoding: SaveSettings.Encoding { .jpeg(self) }
}

package struct PNGOptions: FormatOptions {
    static var format: OutputFormat { .png }
    package let compression: Int
    package let progressive: Bool
    /// The most colors of a palette; nil for true color.
    package let paletteColors: Int?
    package let dither: Double

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
    }

    /// Bytes of pixels up to which a picture is packed and unpacked as a whole, in memory, instead of row by row.
    package static let mostBytesWhole = 64 << 20

    /// Whether a picture is packed as a whole.
    /// - Parameter bytes: of its pixels, uncompressed.
    package func takesWhole(bytes: Int) -> Bool { paletteColors == nil && !progressive && bytes <= Self.mostBytesWhole }

    var encoding: SaveSettings.Encoding { .png(self) }
}

extension Parameters {
    /// Numbers that a format has bits for.
    fileprivate mutating func check(_ number: Int, of key: String, in allowed: [Int]) {
        guard !allowed.contains(number) else { return }
        let list = allowed.map(String.init).joined(separator: ", ")
        problem(at: key, "'\(key)' takes one of \(list), found \(number)")
    }
}

package struct WebPOptions: FormatOptions {
    static var format: OutputFormat { .webp }
    package let quality: Int
    package let lossless: Bool
    package let effort: Int
    package let alphaQuality: Int

    package init(_ p: inout Parameters) {
        quality = p.optional("quality", 78, in: 1...100, "How good the picture is; 70 to 80 suits photos.")
        lossless = p.optional("lossless", false, "Keeps every pixel as it is.")
        effort = p.optional("effort", 4, in: 0...6, "How long to try for a smaller file.")
        alphaQuality = p.optional("alpha-quality", 100, in: 0...100, "How exact the transparency is.")
        if lossless && p.has("quality") {
            p.problem(at: "quality", "'quality' has no meaning with 'lossless: true'; remove one of them")
        }
    }

    var encoding: SaveSettings.Encoding { .webp(self) }
}

package struct AVIFOptions: FormatOptions {
    static var format: OutputFormat { .avif }
    package let quality: Int
    package let lossless: Bool
    package let effort: Int
    package let subsampling: ChromaSubsampling
    /// nil for that which is nearest to the picture's.
    package let bitDepth: Int?

    package init(_ p: inout Parameters) {
        quality = p.optional("quality", 50, in: 1...100, "How good the picture is; 45 to 60 suits photos.")
        lossless = p.optional("lossless", false, "Keeps every pixel to within the rounding of one color conversion.")
        effort = p.optional("effort", 4, in: 0...9, "How long to try for a smaller file; each step costs much time.")
        subsampling = p.optional(
            "subsampling", .auto, "Stores color at half resolution: on, off, or auto (off from quality 90).")
        bitDepth = p.optional(
            "bit-depth", in: 8...12, "Bits of a channel: 8 or 12; default: 12 for a picture of more than 8, else 8.")
        // Encoders of 10 bits end the process in libheif 1.15 with libaom 3.6.
        if let bitDepth { p.check(bitDepth, of: "bit-depth", in: [8, 12]) }
        if lossless && p.has("quality") {
            p.problem(at: "quality", "'quality' has no meaning with 'lossless: true'; remove one of them")
        }
    }

    var encoding: SaveSettings.Encoding { .avif(self) }
}

/// How TIFF compresses.
package enum TIFFCompression: String, ParameterWord {
    case none, lzw, deflate, zstd, jpeg
}

package struct TIFFOptions: FormatOptions {
    static var format: OutputFormat { .tiff }
    package let compression: TIFFCompression
    package let quality: Int

    package init(_ p: inout Parameters) {
        compression = p.optional("compression", .lzw, "How the pixels are packed; all but jpeg keep every pixel.")
        quality = p.optional("quality", 85, in: 1...100, "How good the picture is with 'compression: jpeg'.")
        if p.has("quality") && compression != .jpeg { p.problem(at: "quality", "'quality' needs 'compression: jpeg'") }
    }

    var encoding: SaveSettings.Encoding { .tiff(self) }
}

package struct GIFOptions: FormatOptions {
    static var format: OutputFormat { .gif }
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

    var encoding: SaveSettings.Encoding { .gif(self) }
}
