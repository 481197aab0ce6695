/// PNG, and what its decoder does.
package enum PNGSource: SourceFormatDeclaration {
    package static let name = "png"
    package static let title = "PNG"
    package static let fileExtensions = ["png", "apng"]
    package static let signatures = [[mark(0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A)]]
    package static let structure: any FileStructure.Type = PNGChunks.self
    package static let unreadAnimation = "APNG"

    package static func isDecodedAsAWhole(_ source: SourceFacts) -> Bool {
        source.isInterlaced || isUnpackedAtOnce(source)
    }

    package static func isUnpackedAtOnce(_ source: SourceFacts) -> Bool {
        let isStoredAsDelivered = !source.isInterlaced && source.coded?.isExpanded != true
        return isStoredAsDelivered && source.pixelBytes <= PNGOutput.mostBytesWhole
    }

    /// The file, its pixels as they are packed, in one piece, and the rows with their filters. The result comes after the
    /// second of these.
    package static func memory(decoding source: SourceFacts, shrink: Int, to delivered: PixelSize) -> Int {
        let pixels = source.pixelBytes
        guard isUnpackedAtOnce(source) else { return source.isInterlaced ? pixels : 0 }
        let file = source.bytes == 0 ? pixels : min(source.bytes, 17 * pixels / 16)
        return file + max(0, file - pixels) + pixels + (128 << 10)
    }
}

extension SourceFormat {
    package static let png = SourceFormat(PNGSource.self)
}
