// The declaration of an output format. The target Render adds the encoder.

/// A format that renditions are saved in: its facts, and as a value its own options, which its initialiser reads.
package protocol OutputFormatDeclaration: ParameterGroup {
    /// The word after `format:`, and in reports.
    static var name: String { get }
    /// Other words that are usual after `format:`.
    static var otherNames: [String] { get }
    /// `{ext}` in names.
    static var fileExtension: String { get }
    /// The format that its files are read as; nil if nothing here reads them.
    static var sourceFormat: SourceFormat? { get }
    static var mediaType: String { get }
    /// Whether a file begins as those of the format do.
    static func recognizes(_ file: ByteSource) -> Bool
    /// Width and height by the header of a file; nil if that does not say.
    /// - Parameter said: the size that the worker says it has.
    func size(in file: ByteSource, said: PixelSize) -> (width: Int, height: Int)?
    static var isShownByBrowsers: Bool { get }

    static var colorModels: Set<ColourModel> { get }
    /// The longest side in pixels that it can hold.
    static var longestSide: Int { get }
    /// nil if its files have one picture only.
    static var animation: AnimationLimits? { get }
    /// Whether its files can have a color profile.
    static var holdsProfile: Bool { get }
    /// Whether its files can have a gain map.
    static var holdsGainMap: Bool { get }
    /// The blocks of metadata that libvips writes into it.
    static var metadata: Set<MetadataBlock> { get }
    /// Whether its files can hold the text chunks of a PNG unchanged.
    static var keepsTexts: Bool { get }
    /// Whether its files can hold the `ImageDescription` tag of a TIFF.
    static var keepsDescription: Bool { get }
    /// Bytes of a block of metadata up to which libvips writes it.
    static func largest(_ block: MetadataBlock) -> Int

    /// Whether `quality` alone decides how good its pictures are.
    static var isRatedByQuality: Bool { get }
    /// nil if every libvips has its encoder.
    static var separateEncoder: SeparateEncoder? { get }

    /// Whether its files have an alpha channel with these options.
    var holdsAlpha: Bool { get }
    /// `{ext}` with these options.
    var ownExtension: String { get }
    /// Whether a folder is published, which the file is the archive of.
    var isFolder: Bool { get }
    /// The texts among its options.
    var texts: [TextTemplate] { get }
    /// The same with the fields in these filled in.
    func filled(_ fields: TextFields, on size: PixelSize) -> Self
    /// Why a picture of this size cannot be saved, as a sentence about it goes on; nil if it can.
    func refusal(of size: PixelSize) -> String?
    /// The depth in which a drawn picture is handed to the encoder.
    func depth(of drawn: BitDepth) -> BitDepth
    /// Whether the encoder's losses hide what a decode at reduced size loses.
    var hidesFineErrors: Bool { get }
    /// Whether the encoder wants a still in memory as a whole.
    func takesWhole(_ picture: PictureInfo) -> Bool
    /// Bytes that the encoder allocates at most, besides the picture. Measured with noise, which packs worst and has the
    /// most colors: encoders that hold what they will write, or the colors that they have met, need less for most
    /// pictures, and much less for flat ones. Decision 60 says how many times less.
    func memory(saving picture: PictureInfo) -> Int
    /// An upper bound, for a slow machine.
    var secondsPerMegapixel: Double { get }
}

extension OutputFormatDeclaration {
    package static var format: OutputFormat { OutputFormat(self) }

    package static var otherNames: [String] { [] }
    package static var mediaType: String { sourceFormat?.declaration.mediaType ?? "image/\(name)" }
    package static func recognizes(_ file: ByteSource) -> Bool {
        sourceFormat.map { guessFormat(file.read(0, 4096)) == .readable($0) } ?? false
    }
    package func size(in file: ByteSource, said: PixelSize) -> (width: Int, height: Int)? {
        Self.sourceFormat.flatMap { headerSize(of: $0, in: file) }
    }
    package var ownExtension: String { Self.fileExtension }
    package var isFolder: Bool { false }
    package var texts: [TextTemplate] { [] }
    package func filled(_ fields: TextFields, on size: PixelSize) -> Self { self }
    package func refusal(of size: PixelSize) -> String? { nil }
    package static var fileExtension: String { name }
    package static var isShownByBrowsers: Bool { true }
    package static var colorModels: Set<ColourModel> { [.grey, .rgb] }
    package static var longestSide: Int { maximumCoordinate }
    package static var animation: AnimationLimits? { nil }
    package static var holdsProfile: Bool { true }
    package static var holdsGainMap: Bool { false }
    /// libvips writes no more than a mebibyte of EXIF, to which it adds a little.
    package static func largest(_ block: MetadataBlock) -> Int { block == .exif ? 1_000_000 : .max }
    package static var keepsTexts: Bool { false }
    package static var keepsDescription: Bool { false }
    package static var isRatedByQuality: Bool { false }
    package static var separateEncoder: SeparateEncoder? { nil }

    package var holdsAlpha: Bool { true }
    package var hidesFineErrors: Bool { false }
    package func takesWhole(_ picture: PictureInfo) -> Bool { false }
}

/// How long a format can show a frame.
package struct AnimationLimits: Sendable {
    /// The fewest milliseconds that browsers keep to.
    package var shortestFrame = 0
    /// The milliseconds that it counts in.
    package var unit = 1
}

/// An encoder that is not part of libvips itself, and may be missing.
package struct SeparateEncoder: Sendable {
    /// libvips' module with it.
    package let module: CodecModule
    /// The advice if it is missing: a sentence without its full stop.
    package let remedy: String
}

/// Bytes that libvips' search for a palette holds at most: the colors that it has met, of which it rounds off the lowest
/// bits when they are too many.
func paletteSearchBytes(pixels: Int) -> Int { min(68 * pixels, 128 << 20) }

extension Parameters {
    /// Reports a number that the format has no bits for.
    mutating func check(_ number: Int, of key: String, in allowed: [Int]) {
        guard !allowed.contains(number) else { return }
        let list = allowed.map(String.init).joined(separator: ", ")
        problem(at: key, "'\(key)' takes one of \(list), found \(number)")
    }
}

/// Whether color is stored at half the resolution of brightness.
package enum ChromaSubsampling: String, ParameterWord {
    /// By quality: the encoder decides.
    case auto
    case on, off

    /// Whether color is stored as finely as brightness.
    package func isOff(atQuality quality: Int) -> Bool {
        switch self {
        case .auto: quality >= JPEGOutput.fineColorQuality
        case .on: false
        case .off: true
        }
    }
}
