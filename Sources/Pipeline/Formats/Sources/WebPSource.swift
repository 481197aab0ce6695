/// WebP, and what its decoder does.
package enum WebPSource: SourceFormatDeclaration {
    package static let name = "webp"
    package static let title = "WebP"
    package static let signatures = [[mark("RIFF"), mark("WEBP", at: 8)]]
    package static let structure: any FileStructure.Type = WebPChunks.self
    package static let hasFrames = true
    package static let shrinkFactors = [1, 2, 4, 8]
    package static let deliversWhole = true

    package static func isDecodedAsAWhole(_ source: SourceFacts) -> Bool { true }

    /// The file, and RGBA and alpha as the decoder has them if there are no losses; besides, two frames, or what is made
    /// smaller afterwards.
    package static func memory(decoding source: SourceFacts, shrink: Int, to delivered: PixelSize) -> Int {
        saturating(source.bytes, (source.isAnimated ? 12 : shrink > 1 ? 10 : 5) * source.size.area)
    }
}

extension SourceFormat {
    package static let webp = SourceFormat(WebPSource.self)
}
