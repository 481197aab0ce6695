/// JPEG, and what its decoder does.
package enum JPEGSource: SourceFormatDeclaration {
    package static let name = "jpeg"
    package static let title = "JPEG"
    package static let fileExtensions = ["jpg", "jpeg", "jpe", "jfif"]
    package static let signatures = [[mark(0xFF, 0xD8, 0xFF)]]
    package static let canHaveAlpha = false
    package static let structure: any FileStructure.Type = JPEGMarkers.self
    /// libjpeg counts a little less far than the format does.
    package static let longestSide = JPEGOutput.longestSide
    package static let previewShrinkFactors = [1, 2, 4, 8]

    package static func isDecodedAsAWhole(_ source: SourceFacts) -> Bool { source.isInterlaced }

    /// The coefficients of the whole picture, 16 bits each, whatever the size of the result: one and a half for a pixel
    /// of 4:2:0.
    package static func memory(decoding source: SourceFacts, shrink: Int, to delivered: PixelSize) -> Int {
        guard source.isInterlaced else { return 0 }
        return (source.coded?.hasFullChroma == false ? 3 : 2 * source.bands) * source.size.area
    }
}

extension SourceFormat {
    package static let jpeg = SourceFormat(JPEGSource.self)
}
