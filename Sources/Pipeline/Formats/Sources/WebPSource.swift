/// WebP, and what its decoder does.
package enum WebPSource: SourceFormatDeclaration {
    package static let name = "webp"
    package static let title = "WebP"
    package static let signatures = [[mark("RIFF"), mark("WEBP", at: 8)]]
    package static let structure: any FileStructure.Type = WebPChunks.self
    package static let hasFrames = true
    package static let previewShrinkFactors = [1, 2, 4, 8]
    package static let deliversWhole = true

    package static func isDecodedAsAWhole(_ source: SourceFacts) -> Bool { true }

    /// Bytes of a file up to which libwebp itself decodes it, from memory.
    package static let mostBytesInMemory = 64 << 20

    package static func isUnpackedAtOnce(_ source: SourceFacts) -> Bool {
        source.page == nil && source.bytes <= mostBytesInMemory
    }

    package static func memory(decoding source: SourceFacts, shrink: Int, to delivered: PixelSize) -> Int {
        saturating(source.bytes, bytesForPixel(source, shrink: shrink) * source.size.area)
    }

    private static func bytesForPixel(_ source: SourceFacts, shrink: Int) -> Int {
        // By libvips: the frame that is drawn, the one before, and the part that has changed.
        guard !source.isAnimated, isUnpackedAtOnce(source), let coded = source.coded else {
            return source.isAnimated ? 12 : 13
        }
        // All pixels, of which means are made afterwards, unless these are made of the planes of colors.
        let whole = shrink > 1 ? source.bands : 0
        if coded.hasFullChroma { return 9 + whole }
        return source.hasAlpha ? 5 + whole : shrink > 1 ? 2 : 1
    }
}

extension SourceFormat {
    package static let webp = SourceFormat(WebPSource.self)
}
