/// JPEG 2000, and what its decoder does.
package enum JPEG2000Source: SourceFormatDeclaration {
    package static let name = "jp2"
    package static let title = "JPEG 2000"
    package static let fileExtensions = ["jp2", "j2k", "jpf", "jpx", "j2c", "jpc"]
    package static let signatures = [
        [mark(0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A)], [mark(0xFF, 0x4F, 0xFF, 0x51)],
    ]
    package static let isOnRequest = true

    package static func isDecodedAsAWhole(_ source: SourceFacts) -> Bool { true }

    package static func memory(decoding source: SourceFacts, shrink: Int, to delivered: PixelSize) -> Int {
        // A picture that is one tile; one of many needs less.
        2 * source.pixelBytes
    }
}

extension SourceFormat {
    package static let jp2 = SourceFormat(JPEG2000Source.self)
}
