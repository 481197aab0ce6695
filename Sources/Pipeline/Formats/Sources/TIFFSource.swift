/// TIFF, and what its decoder does. `guessFormat` tells it from the camera formats that are built on it.
package enum TIFFSource: SourceFormatDeclaration {
    package static let name = "tiff"
    package static let title = "TIFF"
    package static let fileExtensions = ["tif", "tiff"]
    package static let structure: any FileStructure.Type = TIFFPages.self

    /// A file may be one strip.
    package static func memory(decoding source: SourceFacts, shrink: Int, to delivered: PixelSize) -> Int {
        source.pixelBytes
    }
}

extension SourceFormat {
    package static let tiff = SourceFormat(TIFFSource.self)
}
