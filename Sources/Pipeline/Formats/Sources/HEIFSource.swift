// Pictures in HEIF, which libheif reads, whatever they are coded with.

package protocol HEIFSource: SourceFormatDeclaration {}

extension HEIFSource {
    package static var structure: any FileStructure.Type { HEIFStructure.self }
    package static var module: CodecModule? { .heif }
    /// libvips' limit; its option `unlimited`, which strangers' files do not get, takes it off.
    package static var longestSide: Int { AVIFOutput.longestSide }

    package static func isDecodedAsAWhole(_ source: SourceFacts) -> Bool { true }

    /// The decoder's planes, and the same as RGB: as wide samples, and as many in a pixel, as its header says.
    package static func memory(decoding source: SourceFacts, shrink: Int, to delivered: PixelSize) -> Int {
        (source.coded?.depth ?? source.depth).bytes
            * (source.coded?.hasFullChroma == false && !source.hasAlpha ? 10 : 13)
            * max(source.size.area, source.coded?.size.area ?? 0)
    }
}
