/// GIF, and what its decoder does.
package enum GIFSource: SourceFormatDeclaration {
    package static let name = "gif"
    package static let title = "GIF"
    package static let signatures = [[mark("GIF87a")], [mark("GIF89a")]]
    package static let structure: any FileStructure.Type = GIFBlocks.self
    package static let hasFrames = true

    /// The file, and two frames.
    package static func memory(decoding source: SourceFacts, shrink: Int, to delivered: PixelSize) -> Int {
        saturating(source.bytes, 4 * 2 * (source.size.area / (shrink * shrink)))
    }
}

extension SourceFormat {
    package static let gif = SourceFormat(GIFSource.self)
}
