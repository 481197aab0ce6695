// The declaration of a source format. The target Render adds the decoder.

/// A format that pictures are read from: how its files are recognized, who reads their structure, and what its decoder
/// does.
package protocol SourceFormatDeclaration: Sendable {
    /// The word in `allow`, reports and conditions.
    static var name: String { get }
    /// As it is called in sentences.
    static var title: String { get }
    static var mediaType: String { get }
    /// The extensions of such files' names, in small letters.
    static var fileExtensions: [String] { get }

    /// The marks that its files have: those of one list, all of them.
    static var signatures: [[Signature.Mark]] { get }
    /// Its marks are looked for among those of documents, after those of all pictures.
    static var isDocument: Bool { get }
    /// The brands of ISO media files that are of this format.
    static var brands: [String] { get }
    /// The outermost element of its markup.
    static var rootElement: String? { get }
    /// Our own reader of its files.
    static var structure: any FileStructure.Type { get }

    /// Its library is not meant for files from strangers, so it is read only if the user allows it, by workers that
    /// read nothing else.
    static var isOnRequest: Bool { get }
    /// libvips' module with the decoder; nil if it is in libvips itself.
    static var module: CodecModule? { get }
    /// The package of Debian 13, Ubuntu 24.04 and newer with the decoder, which may be missing beside libvips; nil if
    /// there is none of that name.
    static var decoderPackage: String? { get }

    /// It has shapes instead of pixels, and is drawn in any size, by workers that can read fonts.
    static var isVector: Bool { get }
    /// Its pictures can have transparency.
    static var canHaveAlpha: Bool { get }
    /// Several pictures in a file are frames that follow each other in time, not pages.
    static var hasFrames: Bool { get }
    /// The name of animations of which the decoder gives one picture only.
    static var unreadAnimation: String { get }
    /// The word for the picture that the decoder gives, such as `first`.
    static var deliveredFrame: String { get }
    /// The longest side in pixels that the decoder reads, whatever the limits are.
    static var longestSide: Int { get }
    /// The factors by which the decoder can shrink a still, in rising order.
    static func shrinkFactors(of source: SourceFacts) -> [Int]
    /// The same for a preview in its files.
    static var previewShrinkFactors: [Int] { get }
    /// Whether all that was decoded is in memory at one time, with all frames, besides what the decoder holds.
    static var deliversWhole: Bool { get }
    /// Whether the decoder has the whole picture in memory before it delivers the first row.
    static func isDecodedAsAWhole(_ source: SourceFacts) -> Bool
    /// Whether a decoder of this program delivers all pixels at once, and holds nothing afterwards. Decoders of libvips
    /// hold what they need until the last row was read.
    static func isUnpackedAtOnce(_ source: SourceFacts) -> Bool
    /// Bytes of the file that are held from its header to the last rendition.
    static func memory(keeping source: SourceFacts) -> Int
    /// Bytes that the decoder itself holds at most while it works, besides what it has delivered: a bound, measured with
    /// noise, which packs worst.
    /// - Parameters:
    ///   - shrink: it delivers one pixel for so many along a side.
    ///   - delivered: the size of what it delivers.
    static func memory(decoding source: SourceFacts, shrink: Int, to delivered: PixelSize) -> Int
}

extension SourceFormatDeclaration {
    package static var mediaType: String { "image/\(name)" }
    package static var fileExtensions: [String] { [name] }
    package static var signatures: [[Signature.Mark]] { [] }
    package static var isDocument: Bool { false }
    package static var brands: [String] { [] }
    package static var rootElement: String? { nil }
    package static var structure: any FileStructure.Type { UnreadStructure.self }
    package static var isOnRequest: Bool { false }
    package static var module: CodecModule? { nil }
    package static var decoderPackage: String? { nil }
    package static var isVector: Bool { false }
    package static var canHaveAlpha: Bool { true }
    package static var hasFrames: Bool { false }
    package static var unreadAnimation: String { "\(name.uppercased()) sequences" }
    package static var deliveredFrame: String { "first" }
    package static var longestSide: Int { maximumCoordinate }
    package static func shrinkFactors(of source: SourceFacts) -> [Int] { previewShrinkFactors }
    package static var previewShrinkFactors: [Int] { [1] }
    package static var deliversWhole: Bool { false }
    package static func isDecodedAsAWhole(_ source: SourceFacts) -> Bool { false }
    package static func isUnpackedAtOnce(_ source: SourceFacts) -> Bool { false }
    package static func memory(keeping source: SourceFacts) -> Int { 0 }
}
