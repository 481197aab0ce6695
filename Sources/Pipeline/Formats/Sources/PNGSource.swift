/// PNG, and what its decoder does.
package enum PNGSource: SourceFormatDeclaration {
    package static let name = "png"
    package static let title = "PNG"
    package static let fileExtensions = ["png", "apng"]
    package static let signatures = [[mark(0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A)]]
    package static let structure: any FileStructure.Type = PNGChunks.self
    package static let unreadAnimation = "APNG"

    package static func isDecodedAsAWhole(_ source: SourceFacts) -> Bool {
        source.isInterlaced || source.pixelBytes <= PNGOutput.mostBytesWhole
    }

    /// The file, its pixels as they are packed and unpacked, and the result.
    package static func memory(decoding source: SourceFacts, shrink: Int, to delivered: PixelSize) -> Int {
        if source.isInterlaced { return source.pixelBytes }
        return isDecodedAsAWhole(source) ? 13 * source.pixelBytes / 4 + (128 << 10) : 0
    }
}

extension SourceFormat {
    package static let png = SourceFormat(PNGSource.self)
}
